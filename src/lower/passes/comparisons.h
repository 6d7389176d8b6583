// Comparisons whose result is known.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Replaces comparisons that hold, or do not hold, for all numbers in the ranges of their operands,
/// and those of a value with itself, by constants; of a float with itself there is left whether it
/// is a NaN. Linear in the program.
void decide_comparisons(Program& program);

}  // namespace rondo::lower
