// The order in which the nodes of a function run.
#pragma once

#include <vector>

#include "ir/node.h"

namespace rondo::ir {

/// The body in program order, but for nodes that read an array of which another one makes the next
/// state (an update of a part, a loop whose carry it is, a branch that writes it): they run before
/// it where they can, so that it may write in place. Observers (tap, print, progress), loops and
/// conditionals stay where they are.
std::vector<const ir::Node*> reads_before_writes(const Function& function);

}  // namespace rondo::ir
