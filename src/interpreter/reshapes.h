// Reshapes that need no instruction: those of a row that was just read, or that is about to be
// written.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/node.h"

namespace rondo::interpreter {

/// Finds the reshapes of a function that need no instruction. `x[i]` is a slice and a reshape that
/// drops its axis, `update(x, i, row)` a reshape that adds one and an update: half of what a scan
/// does with its xs and ys. It applies to all ops whose records call them reads and updates.
/// Kernels use addresses and the types of their nodes, so it does not matter to them in which of
/// two shapes an array is stored.
class Reshapes {
 public:
  explicit Reshapes(const Function& function);

  /// The node whose result a kernel computes: the reshape that follows a read, else the node
  /// itself.
  const ir::Node* result_of(const ir::Node* node) const {
    const auto behind = behind_.find(node);
    return behind == behind_.end() ? node : behind->second;
  }
  /// The operand that an instruction uses: the reshape's own operand if the reshape is left out.
  const Tensor& operand(const Tensor& given) const {
    return before_.contains(given.node()) ? given.node()->operands[0] : given;
  }
  bool is_left_out(const ir::Node* node) const { return left_out_.contains(node); }

 private:
  absl::flat_hash_map<const ir::Node*, const ir::Node*> behind_;  // maps a read to its reshape
  absl::flat_hash_set<const ir::Node*> before_;    // reshapes of the operand that an update writes
  absl::flat_hash_set<const ir::Node*> left_out_;  // all of them
};

}  // namespace rondo::interpreter
