// Hoists loop-invariant arithmetic on indices out of loops.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Moves arithmetic on 64-bit integers, and conversions to them, out of the loops in which its
/// operands are invariant: clamped starts of slices, which the lowering writes at their use. Ops in
/// lanes stay. Linear in the program.
void hoist_indices(Program& program);

}  // namespace rondo::lower
