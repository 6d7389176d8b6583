// Reshapes that cost nothing: those of a row that was just read, or that is about to be written.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/node.h"

namespace rondo::interpreter {

/// Finds the reshapes of a function that need no instruction. `x[i]` is a slice and a reshape that
/// drops its axis, `update(x, i, row)` a reshape that adds one and an update: half of what a scan
/// does with its xs and ys. It goes for all that the records call reads and updates. Kernels know
/// places in memory and the types of their nodes, so that it does not matter to them under which of
/// two shapes an array is kept.
class Reshapes {
 public:
  explicit Reshapes(const Function& function);

  /// The node that a kernel gives the result of: the reshape behind a read, else the node itself.
  const ir::Node* result_of(const ir::Node* node) const {
    const auto behind = behind_.find(node);
    return behind == behind_.end() ? node : behind->second;
  }
  /// What an instruction takes as this operand: the reshape's own operand, where it is left out.
  const Tensor& operand(const Tensor& given) const {
    return before_.contains(given.node()) ? given.node()->operands[0] : given;
  }
  bool is_left_out(const ir::Node* node) const { return left_out_.contains(node); }

 private:
  absl::flat_hash_map<const ir::Node*, const ir::Node*> behind_;  // a read, its reshape
  absl::flat_hash_set<const ir::Node*> before_;                   // of the update of an update
  absl::flat_hash_set<const ir::Node*> left_out_;                 // all of them
};

}  // namespace rondo::interpreter
