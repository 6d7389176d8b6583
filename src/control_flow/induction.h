// The counters of loops.
#pragma once

#include <optional>

#include "ir/layout.h"

namespace rondo::control_flow {

/// The counter of a while: an integer that it carries, adds a constant to in each trip, and
/// compares with a constant or an invariant. Nothing where there is none, or where it may wrap
/// before the loop ends.
std::optional<ir::Induction> while_induction(const ir::Node& node);

}  // namespace rondo::control_flow
