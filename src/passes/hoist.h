// Loop-invariant code motion.
#pragma once

#include "passes/rewrite.h"

namespace rondo::passes {

/// Threshold: Larger results are hoisted only if their operands are as large: computing them again
/// is cheap, keeping them alive during the loop costs memory. Not measured.
inline constexpr std::int64_t kHoistedBytes = std::int64_t{1} << 20;

/// Moves nodes that depend only on invariants and constants out of the loops of the function (their
/// bodies and conditions), into the function; their results become invariants. Observers stay, and
/// so does what contains a loop of unknown trip count, which might never end, unless it is certain
/// to run at least once (a condition, a loop of known trip count). Constants stay where they are
/// used.
Function hoist_function(const Function& function);

/// The function after hoisting everything that has no index checked at run time.
struct Hoisted {
  Function function;
  bool withheld = false;  // hoist_function would hoist more
};
/// The same for a program that may be run with RunOptions::check_bounds: an index out of range is
/// an error only if the program uses it, so what takes an index stays in a loop that may make no
/// trip.
Hoisted hoist_unchecked(const Function& function);

}  // namespace rondo::passes
