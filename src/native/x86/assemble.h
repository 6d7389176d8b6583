// Encodes machine code with allocated registers for an x86-64 processor.
#pragma once

#include "native/allocate.h"
#include "native/live_ranges.h"
#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code::x86 {

/// In a library that was built with Xbyak.
Assembled assemble(const MachineCode& code, const LiveRanges& ranges, const Allocation& allocation,
                   const Target& target);

}  // namespace rondo::native_code::x86
