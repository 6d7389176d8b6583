// Folds masks into comparisons and arithmetic, in place of a separate combining op.
#pragma once

#include "native/machine_code.h"

namespace rondo::native_code {

/// For a target that has FusedForms::under_mask: `m and (a < b)` is one comparison under the mask
/// m, and `m ? a + b : c` one addition that keeps c elsewhere. Both apply to lanes only.
void fold_masks(MachineCode& code);

}  // namespace rondo::native_code
