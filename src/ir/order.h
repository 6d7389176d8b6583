// The order in which the nodes of a function run, which resolves anti-dependences.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/node.h"

namespace rondo::ir {

/// The body in program order, except for nodes that read an array which another node overwrites
/// with its next state (an update of a part, a loop that carries it, a branch that writes it): they
/// run before that node if possible, so that it may write in place (write after read). Observers
/// (tap, print, progress), loops and conditionals are not moved.
std::vector<const ir::Node*> reads_before_writes(const Function& function);

/// The operands that a node may overwrite with its results: the array that it updates a part of,
/// the carry of a loop, the arguments of a branch that a region overwrites. Small arrays are left
/// out: to copy them costs no more than any other op.
std::vector<std::size_t> written_operands(const Node* node);

}  // namespace rondo::ir
