// Index-set splitting: runs lanes in which no index reaches its clamps apart from the others.
#pragma once

#include <optional>

#include "lower/program.h"

namespace rondo::lower {

/// A program whose lanes have been split; none if nothing is to split.
///
/// An index such as min(max(lane - shift, 0), last) is lane - shift in all lanes but the first and
/// last ones. Which these are is computed before the loop. The lanes between them run first, with
/// addresses that are sums of the lane and uniform values, so that vectors are loaded from memory
/// in one piece in place of an element for each lane; the others run as they are. Conversions and
/// sums of narrow integers that may wrap are bounds like clamps. Lanes with loops or branches in
/// them, reductions, and lanes that run in order stay as they are.
std::optional<Program> with_lanes_split(const Program& program);

}  // namespace rondo::lower
