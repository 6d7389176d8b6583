// Comparisons and arithmetic that heed a mask themselves, in place of an op that combines.
#pragma once

#include "native/machine_code.h"

namespace rondo::native_code {

/// Of a target that has FusedForms::under_mask: `m and (a < b)` is one comparison under the mask m,
/// and `m ? a + b : c` one addition that keeps c elsewhere. Both hold in lanes only.
void fold_masks(MachineCode& code);

}  // namespace rondo::native_code
