// Loops whose lanes stop one by one, as a loop for each lane.
#pragma once

#include <optional>

#include "rondo/function.h"

namespace rondo::executor {

/// The function in ops that executors have, and with the loops of its body whose lanes can run by
/// themselves: all that their regions compute is of one element, or of one element for each lane
/// and made of elements of the same lane; and of what is the same for all lanes nobody asks for the
/// last value. Nothing where there is no such loop.
std::optional<Function> with_lane_loops(const Function& function);

}  // namespace rondo::executor
