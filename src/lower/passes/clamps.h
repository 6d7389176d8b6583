// Removes minima, maxima, remainders and conversions of integers that change nothing, or simplifies
// them, and sides of branches that are never taken.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Removes each minimum and maximum of integers that always equals one of its operands: clamps of
/// indices computed from the index of a counted loop. The ranges of values follow from constants,
/// the bounds of loops, a while's counter, and arithmetic on them. A remainder of a value less than
/// the divisor is removed too, and that of one less than twice the divisor becomes a subtraction. A
/// value that was narrowed without a change is not widened again. Of a branch whose predicate is
/// decided by ranges one side remains, unless the other one has loops or branches. Linear in the
/// program.
void remove_clamps(Program& program);

}  // namespace rondo::lower
