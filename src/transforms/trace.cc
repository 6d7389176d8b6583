#include "control_flow/carry.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "ir/region.h"
#include "rondo/transforms.h"

namespace rondo::detail {

namespace {

/// The line of the first op in a region that uses a capture; where no op does, the line that made
/// it.
SourceLocation line_of_use(const ir::OpenRegion& region, const Tensor& capture) {
  for (const ir::Node* node : region.body) {
    for (const Tensor& operand : node->operands) {
      if (operand.same_as(capture)) return node->location();
    }
  }
  return capture.node()->location();
}

/// The values of the captures. Where one has none, since it escaped from another trace, the error
/// names the line that uses it.
std::vector<Literal> values_of_captures(const ir::OpenRegion& region, const std::string& what) {
  try {
    return ir::evaluate(region.captures, {}, what);
  } catch (const TraceError&) {
    for (const Tensor& capture : region.captures) {
      if (ir::depends_on_trace({&capture, 1}))
        ir::evaluate({&capture, 1}, line_of_use(region, capture), what);
    }
    throw;
  }
}

}  // namespace

Function trace(std::string name, const RegionCallable& callable, std::span<const TensorType> types,
               std::vector<std::string> names, SourceLocation at) {
  return trace_and_tell(std::move(name), callable, types, std::move(names), at, nullptr);
}

Function trace_and_tell(std::string name, const RegionCallable& callable,
                        std::span<const TensorType> types, std::vector<std::string> names,
                        SourceLocation call, std::vector<Tensor>* captures) {
  const std::string what = "the traced function '" + name + "'";
  control_flow::RegionTrace traced(std::move(name), what, types, names, callable, call);
  control_flow::check_not_empty(what, traced.out(), call);
  ir::OpenRegion region = traced.finish();
  if (captures) *captures = region.captures;
  if (region.captures.empty()) return ir::close_region(std::move(region), {});
  // Lazy tensors from outside are computed now and become constants. What depends on a parameter of
  // another trace cannot be.
  for (const Tensor& capture : region.captures) {
    if (ir::is_parameter(capture.node())) {
      const auto& home = *capture.node()->attrs<ir::ParameterAttributes>().region;
      const SourceLocation at = line_of_use(region, capture);
      throw TraceError(
          fmt::format("mixed traces: {} uses '{}' of {}{}, which is being traced "
                      "around it{}\n  Pass the tensor in as an argument.",
                      what, capture.node()->attrs<ir::ParameterAttributes>().name, home.what,
                      ir::in_brackets(home.at), at.line == 0 ? "" : "\n  at " + at.str()),
          at);
    }
  }
  const std::vector<Literal> values = values_of_captures(region, what);
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
