// Arrays that a loop carries and updates at fixed places, and whose next value is written to a
// second buffer.
#pragma once

#include <vector>

#include "ir/node.h"

namespace rondo::executor {

/// For each carry of a loop the first of the updates that make its next value, if that is better
/// written to a second buffer than in place: a part, as the inner elements of a stencil, is
/// computed from other elements of the array. In place it would be computed separately and moved in
/// each trip. Both buffers begin as the first value, of which no trip changes the rest. Null for
/// others.
///
/// Linear in the body, but for parts that are computed from the same values.
std::vector<const ir::Node*> first_buffered_updates(const ir::Node& loop);

}  // namespace rondo::executor
