// What a branch costs the lanes that need not run it.
#pragma once

#include "ir/node.h"

namespace rondo::executor {

/// Whether a loop that stands for a branch (stands_for_branch) computes so much for a lane that
/// blocks of lanes of which none takes it had better ask for that and leave it out.
bool is_dear_branch(const ir::Node& loop);

/// Whether loops stand in a region, at any depth.
bool has_loops(const Function& region);

}  // namespace rondo::executor
