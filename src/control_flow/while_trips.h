// Counting the trips of a while before it runs.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/node.h"

namespace rondo::control_flow {

/// The trip count of a while that compares a carry with a constant, adds a constant to it in each
/// trip, and begins with a constant. Nothing where it never ends, or only after the counter has
/// wrapped.
std::optional<std::int64_t> count_while_trips(const ir::Node& node);

}  // namespace rondo::control_flow
