// Scalar peephole optimizations: comparisons at their use, and clamps of indices as one comparison.
#pragma once

#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code {

/// - A comparison is made right before each selection, test or branch that uses it in the same
///   straight-line code: the processor's flags then pass it on, in no register.
/// - A test or branch on `p and q` leaves if one of them is false (short-circuit); on `p or q` it
///   tests q only if p is false. A selection by one of them is two selections.
/// - An index, widened and clamped from below and above, is one step (MachineCode: kMin).
void fold_scalars(MachineCode& code, const Target& target);

}  // namespace rondo::native_code
