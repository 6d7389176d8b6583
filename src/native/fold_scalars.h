// Scalar code: comparisons where their result is used, and clamps of indices as one comparison.
#pragma once

#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code {

/// - A comparison is made right before each selection, test or branch that asks for it in the same
///   stretch of code: the processor's flags then hand it on, and no register does.
/// - A test or branch on `p and q` leaves where one of them does not hold; on `p or q` it asks for
///   q only where p does not hold. A selection by one of them is two selections.
/// - An index, widened and clamped from below and above, is one step (MachineCode: kMin).
void fold_scalars(MachineCode& code, const Target& target);

}  // namespace rondo::native_code
