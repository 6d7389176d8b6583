// Sums of addresses that several accesses have in common.
#pragma once

#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code {

/// For targets whose accesses do not have all addresses (Target::fits_access): in straight-line
/// code, the sum of a base and its terms is computed once for all accesses that differ from it by a
/// constant, if at least two of them would compute it.
void share_addresses(MachineCode& code, const Target& target);

}  // namespace rondo::native_code
