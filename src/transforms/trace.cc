#include "control_flow/carry.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "ir/region.h"
#include "ops/support.h"
#include "rondo/transforms.h"

namespace rondo::detail {

namespace {

/// The line of the first op in a region that uses a capture; if none does, the line that created
/// the capture.
SourceLocation line_of_use(const ir::OpenRegion& region, const Tensor& capture) {
  for (const ir::Node* node : region.body) {
    for (const Tensor& operand : node->operands) {
      if (operand.same_as(capture)) return node->location();
    }
  }
  return capture.node()->location();
}

}  // namespace

Function trace(std::string name, const RegionCallable& callable, std::span<const TensorType> types,
               std::vector<std::string> names, SourceLocation call) {
  const std::string what = "the traced function '" + name + "'";
  control_flow::RegionTrace traced(std::move(name), what, types, names, callable, call);
  control_flow::check_not_empty(what, traced.out(), call);
  ir::OpenRegion region = traced.finish();
  // Captured lazy tensors are evaluated now and become constants. A value that depends on a
  // parameter of another trace cannot be: the error names the line that uses it.
  for (const Tensor& capture : region.captures) {
    if (!capture.node()->traced) continue;
    const SourceLocation at = line_of_use(region, capture);
    if (!ir::is_parameter(capture.node())) ir::evaluate({&capture, 1}, at, what);
    const auto& home = *capture.node()->attrs<ir::ParameterAttributes>().region;
    throw TraceError(
        fmt::format("mixed traces: {} uses '{}' of {}{}, which is being traced "
                    "around it{}\n  Pass the tensor in as an argument.",
                    what, capture.node()->attrs<ir::ParameterAttributes>().name, home.what,
                    ir::in_brackets(home.at), at.line == 0 ? "" : "\n  at " + at.str()),
        at);
  }
  return ir::close_over_values(std::move(region), {}, what);
}

std::vector<Tensor> call_function(const Function& function, std::vector<Tensor> arguments,
                                  SourceLocation at) {
  const std::vector<Tensor>& parameters = function.parameters();
  const std::vector<std::string> names = function.param_names();
  if (arguments.size() != parameters.size()) {
    ir::fail(function.name(),
             fmt::format("it gets {} arguments, and has {} parameters: {}\n  Pass one for each.",
                         arguments.size(), parameters.size(), fmt::join(names, ", ")),
             at);
  }
  for (std::size_t i = 0; i < arguments.size(); i++) {
    ir::checked(arguments[i], function.name().c_str(), at);
    const TensorType& type = parameters[i].type();
    arguments[i] = ops::adopt_dtype(arguments[i], type.dtype, at);
    if (arguments[i].type() == type) continue;
    ir::fail(function.name(),
             fmt::format("the argument '{}' is {}, and must be {}\n  Convert or reshape it.",
                         names[i], arguments[i].type().str(), type.str()),
             at);
  }
  return ir::Replay::inline_call(function, arguments);
}

}  // namespace rondo::detail
