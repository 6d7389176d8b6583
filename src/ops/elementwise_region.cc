#include "ops/elementwise_region.h"

#include <string>
#include <vector>

#include "ir/function_data.h"

namespace rondo::ops {

namespace {

std::string types_text(std::span<const TensorType> types) {
  std::string out = "(";
  for (const TensorType& type : types)
    out += fmt::format("{}{}", out.size() > 1 ? ", " : "", type.str());
  return out + ")";
}

std::vector<TensorType> types_of_values(std::span<const Tensor> values) {
  std::vector<TensorType> types;
  for (const Tensor& value : values) types.push_back(value.type());
  return types;
}

}  // namespace

void check_combiner(const InferContext& context, std::size_t count) {
  if (context.regions.size() != 1)
    context.fail(
        fmt::format("{} regions; it takes one, the combiner\n  Give one function that combines.",
                    context.regions.size()));
  const Function& region = context.regions[0];
  std::vector<TensorType> scalars;
  for (std::size_t i = 0; i < count; i++) scalars.push_back({context.type(i).dtype, {}});
  std::vector<TensorType> both = scalars;
  both.insert(both.end(), scalars.begin(), scalars.end());
  const std::vector<TensorType> takes = types_of_values(region.parameters());
  const std::vector<TensorType> returns = types_of_values(region.outputs());
  if (takes == both && returns == scalars) return;
  context.fail(fmt::format(
      "the combiner takes {} and returns {}; for elements of {} it must take accumulators and "
      "elements and return accumulators, each {}\n  Use convert and reshape.",
      types_text(takes), types_text(returns),
      types_text(types_of_values(context.operands.first(count))), types_text(scalars)));
}

const ir::Node* first_not_elementwise(const Function& region) {
  for (const ir::Node* node : region.body()) {
    if (!ir::is_constant(node) && !node->op->structure.elementwise) return node;
  }
  return nullptr;
}

std::vector<Tensor> call_elementwise(const Function& region, std::span<const Tensor> arguments,
                                     const Shape& shape) {
  if (shape.rank() == 0) return ir::Replay::inline_call(region, arguments);
  ir::Replay replay;
  for (std::size_t i = 0; i < arguments.size(); i++)
    replay.bind(region.parameters()[i], arguments[i]);
  for (const ir::Node* node : region.body()) {
    const Tensor result = Tensor::of(node, 0);
    if (ir::is_constant(node)) {
      replay.bind(result, broadcast(result, shape, node->location()));
    } else {
      replay.bind_results(
          node, ir::make(*node->op, replay.operands_of(node), node->attributes, node->location()));
    }
  }
  std::vector<Tensor> results;
  for (const Tensor& output : region.outputs()) results.push_back(replay(output));
  return results;
}

}  // namespace rondo::ops
