#include "interpreter/reshapes.h"

#include "ir/function_data.h"
#include "ir/loop_nest.h"

namespace rondo::interpreter {

namespace {

using ir::Node;

/// Whether it reads elements of operand 0 at other positions: a slice.
bool is_read(const Node* node) { return ir::has_loops<ir::AccessMap>(*node); }
/// Whether it is operand 0 with a part replaced by operand 1.
bool is_update(const Node* node) {
  return node->op->structure.updates && ir::has_loops<ir::InsertionMap>(*node);
}
/// Whether it is operand 0 in another shape.
bool is_reshape(const Node* node) {
  return ir::has_loops<ir::SameBytes>(*node) && node->type().dtype == node->operand_type(0).dtype;
}

}  // namespace

Reshapes::Reshapes(const Function& function) {
  absl::flat_hash_map<const Node*, int> uses;  // of reads and reshapes
  const auto count = [&](const Tensor& tensor) {
    const auto found = uses.find(tensor.node());
    if (found != uses.end()) found->second++;
  };
  for (const Node* node : function.body()) {
    for (const Tensor& operand : node->operands) count(operand);
    if (is_read(node) || is_reshape(node)) uses.emplace(node, 0);
  }
  if (uses.empty()) return;
  for (const Tensor& result : function.outputs()) count(result);
  const auto used_once = [&](const Node* node) {
    const auto found = uses.find(node);
    return found != uses.end() && found->second == 1;
  };
  for (const Node* node : function.body()) {
    if (is_reshape(node)) {
      const Node* read = node->operands[0].node();
      if (!used_once(read) || !is_read(read)) continue;
      behind_.emplace(read, node);
      left_out_.insert(node);
    } else if (is_update(node)) {
      const Node* reshape = node->operands[1].node();
      if (!used_once(reshape) || !is_reshape(reshape) || is_left_out(reshape)) continue;
      before_.insert(reshape);
      left_out_.insert(reshape);
    }
  }
}

}  // namespace rondo::interpreter
