// Loops and conditionals that carry no more than they need.
#pragma once

#include "passes/rewrite.h"

namespace rondo::passes {

/// For each construct in the function itself (not within its regions):
/// - dead carries go: those that neither the condition nor the next value of a live carry needs,
/// and
///   whose last value is not used; and xs, ys, arguments and invariants that nothing uses;
/// - a carry that the body returns untouched becomes an invariant, and what it ends as is what it
///   began with; likewise one that begins as a constant and stays it;
/// - what enters twice enters once; small constants move into the regions;
/// - a y that is its x is the array itself; what all branches of a conditional return alike is that
///   value.
///
/// Nothing goes that a tap, print or progress depends on.
Function prune_function(const Function& function);

}  // namespace rondo::passes
