// The order in which the nodes of a function run, which resolves anti-dependences.
#pragma once

#include <vector>

#include "ir/node.h"

namespace rondo::ir {

/// The body in program order, except for nodes that read an array which another node overwrites
/// with its next state (an update of a part, a loop that carries it, a branch that writes it): they
/// run before that node if possible, so that it may write in place (write after read). Observers
/// (tap, print, progress), loops and conditionals are not moved.
std::vector<const ir::Node*> reads_before_writes(const Function& function);

}  // namespace rondo::ir
