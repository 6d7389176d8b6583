// The counters of loops.
#pragma once

#include <optional>

#include "ir/layout.h"

namespace rondo::control_flow {

/// The counter of a while: an integer carry to which each trip adds a constant, and which is
/// compared with a constant or an invariant. Nullopt if there is none, or if it may wrap before the
/// loop ends.
std::optional<ir::Induction> while_induction(const ir::Node& node);

}  // namespace rondo::control_flow
