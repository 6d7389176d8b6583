// Removes from loops and conditionals what they need not carry.
#pragma once

#include "passes/rewrite.h"

namespace rondo::passes {

/// For each construct in the function itself (not within its regions):
/// - dead carries are removed: those that neither the condition nor the next value of a live carry
///   needs and whose last value is unused; and unused xs, ys, arguments and invariants;
/// - a carry that the body returns unchanged becomes an invariant, and its last value its initial
///   one; likewise a carry that starts as a constant and stays it;
/// - operands passed twice are passed once; small constants move into the regions;
/// - a y that equals its x is replaced by the array itself; a result that all branches of a
///   conditional return alike is replaced by that value.
///
/// Nothing is removed that a tap, print or progress depends on.
Function prune_function(const Function& function);

/// The same at any depth for executors that compute the elements of an iota where they are used:
/// arrays whose elements follow from their indices move into the regions as well. For others each
/// trip would make them again.
Function copy_indices(const Function& function);

}  // namespace rondo::passes
