// Arithmetic on indices that gives the same in every trip of a loop, once before it.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Moves arithmetic on 64-bit integers, and conversions to them, out of the loops whose trips do
/// not change its operands: clamped starts of slices, which the lowering writes where it uses them.
/// What stands in lanes stays. Linear in the program.
void hoist_indices(Program& program);

}  // namespace rondo::lower
