// Minima, maxima, remainders and conversions of integers that change nothing, or little.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Takes out each minimum and maximum of integers one operand of which it always is: the clamps of
/// indices that follow from the index of a counted loop. What values lie between follows from
/// constants, the bounds of loops and a while's counter, and arithmetic on them. A remainder of
/// what is less than the divisor is taken out too, and one of what is less than twice that
/// subtracts. What a conversion made narrower without a change is not made wider again. Linear in
/// the program.
void remove_clamps(Program& program);

}  // namespace rondo::lower
