// Code that does the same in every trip, once before the loop.
#pragma once

#include "passes/rewrite.h"

namespace rondo::passes {

/// Threshold: Larger results leave a loop only if their operands are as large: computing them again
/// is cheap, keeping them alive during the loop costs memory. Not measured.
inline constexpr std::int64_t kHoistedBytes = std::int64_t{1} << 20;

/// Moves nodes that depend on invariants and constants only out of the loops (their bodies and
/// conditions) that stand in the function, into the function; their results become
/// invariants. What is seen from outside stays, and so does what contains a loop of an unknown
/// number of trips, which might never end, unless it stands where it runs once at least (a
/// condition, a loop of a known number of trips). Constants stay where they are used.
Function hoist_function(const Function& function);

/// The function with what leaves its loops and has no index that is checked where it runs.
struct Hoisted {
  Function function;
  bool withheld = false;  // hoist_function would take out more
};
/// The same for a program that may be run with RunOptions::check_bounds: an index is out of range
/// only where the program uses it, so that what takes one stays in a loop that may make no trip.
Hoisted hoist_unchecked(const Function& function);

}  // namespace rondo::passes
