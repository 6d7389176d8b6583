// Lanes that do not want to go on, in a loop that goes on while any lane does.
#pragma once

#include "ir/node.h"

namespace rondo::executor {

/// Whether such a lane keeps what the loop carries. `reduction` is that over all lanes in the
/// loop's condition; all values are single elements or of one element for each lane.
bool inactive_lanes_are_fixed(const ir::Node& loop, const ir::Node& reduction);

}  // namespace rondo::executor
