// Constants in registers.
#pragma once

#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code {

/// For targets whose instructions do not take all constants as operands (Target::takes_constant):
/// of the others, those that loops read are moved to registers before the outermost loop around
/// that makes no calls, over which registers would be saved. Where registers are too few they are
/// read from the stack, which takes no longer than to load them anew.
void hoist_constants(MachineCode& code, const Target& target);

}  // namespace rondo::native_code
