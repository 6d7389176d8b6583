// The part of an address that does not change in a loop, once before it.
#pragma once

#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code {

/// What several terms of an address add up to that the innermost loop leaves as they are becomes a
/// pointer before that loop, or before those around it that leave them too: a row of a matrix whose
/// elements a loop goes through. What an instruction can add up by itself stays.
void hoist_addresses(MachineCode& code, const Target& target);

}  // namespace rondo::native_code
