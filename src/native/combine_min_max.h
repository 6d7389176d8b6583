// Combines selects of the lesser or greater of two floats into min and max instructions.
#pragma once

#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code {

/// - Where FusedForms::extremes says so, `a < b ? a : b` and its like, of scalars and of lanes,
/// become kMin and kMax with
///   kSelects: of zeros, and where one is NaN, they give b, as the selection does.
/// - Unused values are neither computed nor passed on by branches.
void combine_min_max(MachineCode& code, const Target& target);

}  // namespace rondo::native_code
