#include "control_flow/signature.h"

#include "fmt/format.h"

namespace rondo::control_flow {

void check_region_parameters(const ir::InferContext& context, const Function& region,
                             std::size_t first_operand, std::size_t first_parameter) {
  const auto& params = region.parameters();
  const std::size_t operands = context.operands.size() - first_operand;
  if (params.size() != operands + first_parameter) {
    context.fail(fmt::format(
        "region '{}' has {} parameters for {} operands\n  Give it one for each operand, in order.",
        region.name(), params.size(), operands));
  }
  for (std::size_t i = 0; i < operands; i++) {
    const TensorType& parameter = params[first_parameter + i].type();
    const TensorType& operand = context.type(first_operand + i);
    if (parameter == operand) continue;
    context.fail(fmt::format(
        "parameter {} of region '{}' is {}, its operand {}\n  Give both the same shape and dtype.",
        first_parameter + i, region.name(), parameter.str(), operand.str()));
  }
}

ir::InferredTypes carried_types(const ir::InferContext& context, std::span<const Tensor> next,
                                std::size_t first_operand, std::size_t carries) {
  if (next.size() != carries) {
    context.fail(
        fmt::format("the body returns {} values for {} carries\n  Return the next value of "
                    "each carry, in order.",
                    next.size(), carries));
  }
  ir::InferredTypes types;
  for (std::size_t i = 0; i < carries; i++) {
    const TensorType& type = context.type(first_operand + i);
    if (next[i].type() != type) {
      context.fail(
          fmt::format("carry {}: {} goes in, {} comes out\n  Return each carry with the "
                      "shape and dtype that it came in with.",
                      i, type.str(), next[i].type().str()));
    }
    types.push_back(type);
  }
  return types;
}

ir::InferredTypes indexed_loop_types(const ir::InferContext& context, std::size_t carries) {
  if (context.regions.size() != 1 || context.operands.size() < carries + 2)
    context.fail(
        "needs a body, two bounds and the carry\n  Give one region, and the bounds before the "
        "inits of the carry.");
  const TensorType& index = context.type(0);
  if (index.rank() != 0 || !is_integer(index.dtype) || context.type(1) != index) {
    context.fail(
        fmt::format("the bounds must be integer scalars of one dtype, they are {} and {}\n  "
                    "Convert them to one: rondo::convert(x, DType::kS32).",
                    index.str(), context.type(1).str()));
  }
  // The index parameter has the dtype of the bounds, so it is checked against the upper bound.
  check_region_parameters(context, context.regions[0], 1);
  return carried_types(context, context.regions[0].outputs(), 2, carries);
}

ir::InferredTypes branch_types(const ir::InferContext& context) {
  if (is_pred(context.type(0).dtype) && context.regions.size() != 2) {
    context.fail(fmt::format(
        "a pred selects one of two branches, there are {}\n  Give two, or select by an s32.",
        context.regions.size()));
  }
  const std::vector<TensorType> results = context.regions[0].results();
  for (const Function& region : context.regions) {
    check_region_parameters(context, region, 1);
    if (region.results() == results) continue;
    context.fail(
        fmt::format("branch '{}' returns other types than the first\n  Return values of "
                    "the same shapes and dtypes from each branch.",
                    region.name()));
  }
  return {results.begin(), results.end()};
}

}  // namespace rondo::control_flow
