// Shows that inactive lanes, in a loop that continues while any lane is active, are at a fixed
// point of its body.
#pragma once

#include "ir/node.h"

namespace rondo::executor {

/// Whether such a lane keeps what the loop carries. `reduction` is the one over all lanes in the
/// loop's condition; every value is one element, or has one for each lane.
bool inactive_lanes_are_fixed(const ir::Node& loop, const ir::Node& reduction);

}  // namespace rondo::executor
