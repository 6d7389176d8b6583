#include "interpreter/reshapes.h"

#include "ir/function_data.h"
#include "ops/broadcast.h"
#include "ops/dynamic_slice.h"
#include "ops/slice.h"

namespace rondo::interpreter {

namespace {

using ir::Node;

bool is_slice(const Node* node) {
  return node->op == &ops::kDynamicSlice || node->op == &ops::kSlice;
}

}  // namespace

Reshapes::Reshapes(const Function& function) {
  absl::flat_hash_map<const Node*, int> uses;  // of slices and reshapes
  const auto count = [&](const Tensor& tensor) {
    const auto found = uses.find(tensor.node());
    if (found != uses.end()) found->second++;
  };
  for (const Node* node : function.body()) {
    for (const Tensor& operand : node->operands) count(operand);
    if (is_slice(node) || node->op == &ops::kReshape) uses.emplace(node, 0);
  }
  if (uses.empty()) return;
  for (const Tensor& result : function.outputs()) count(result);
  const auto used_once = [&](const Node* node) {
    const auto found = uses.find(node);
    return found != uses.end() && found->second == 1;
  };
  for (const Node* node : function.body()) {
    if (node->op == &ops::kReshape) {
      const Node* slice = node->operands[0].node();
      if (!used_once(slice) || !is_slice(slice)) continue;
      behind_.emplace(slice, node);
      left_out_.insert(node);
    } else if (node->op == &ops::kDynamicUpdateSlice) {
      const Node* reshape = node->operands[1].node();
      if (!used_once(reshape) || reshape->op != &ops::kReshape || is_left_out(reshape)) continue;
      before_.insert(reshape);
      left_out_.insert(reshape);
    }
  }
}

}  // namespace rondo::interpreter
