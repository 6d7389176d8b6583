#include "ops/elementwise_region.h"

#include "ir/function_data.h"
#include "ops/support.h"

namespace rondo::ops {

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
