#include "control_flow/carry.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "ir/region.h"
#include "rondo/transforms.h"

namespace rondo::detail {

Function trace(std::string name, const RegionCallable& callable, std::span<const TensorType> types,
               std::vector<std::string> names) {
  const std::string what = "the traced function '" + name + "'";
  control_flow::RegionTrace traced(std::move(name), what, types, names, callable, {});
  ir::OpenRegion region = traced.finish();
  if (region.captures.empty()) return ir::close_region(std::move(region), {});
  // Lazy tensors from outside are computed now and become constants. What depends on a parameter of
  // another trace cannot be.
  for (const Tensor& capture : region.captures) {
    if (ir::is_parameter(capture.node())) {
      const auto& home = *capture.node()->attrs<ir::ParameterAttributes>().region;
      throw TraceError(fmt::format("mixed traces: {} uses '{}' of {} ({}), which is being traced "
                                   "around it\n  Pass the tensor in as an argument.",
                                   what, capture.node()->attrs<ir::ParameterAttributes>().name,
                                   home.what, home.at.str()),
                       home.at);
    }
  }
  const std::vector<Literal> values = ir::evaluate(region.captures, {}, what);
  ir::Replay replay;
  Function::Data data{region.name, region.params, {}, {}, region.result_names};
  for (std::size_t i = 0; i < values.size(); i++) {
    const Tensor constant = ir::make_constant(values[i], region.captures[i].node()->location());
    replay.bind(region.captures[i], constant);
    data.body.push_back(constant.node());
  }
  for (const ir::Node* node : region.body) {
    replay.copy(node);
    data.body.push_back(replay(Tensor::of(node)).node());
  }
  for (const Tensor& result : region.results) data.results.push_back(replay(result));
  return FunctionAccess::make(std::move(data));
}

}  // namespace rondo::detail
