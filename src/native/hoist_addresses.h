// Hoists the loop-invariant part of addresses out of loops.
#pragma once

#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code {

/// The sum of several terms of an address that are invariant in the innermost loop becomes a
/// pointer before that loop, or before enclosing loops in which they are invariant too: for
/// instance a row of a matrix whose elements a loop visits. Terms that an instruction's addressing
/// mode can add stay.
void hoist_addresses(MachineCode& code, const Target& target);

}  // namespace rondo::native_code
