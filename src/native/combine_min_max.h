// Selections of the lesser or the greater of two floats as the instructions that do just that.
#pragma once

#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code {

/// - Where FusedForms::extremes says so, `a < b ? a : b` and its like, of scalars and of lanes,
/// become kMin and kMax with
///   kSelects: of zeros, and where one is NaN, they give b, as the selection does.
/// - What nobody reads is not computed, nor handed on by branches.
void combine_min_max(MachineCode& code, const Target& target);

}  // namespace rondo::native_code
