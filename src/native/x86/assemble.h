// Machine code whose values have their registers, as the bytes of an x86-64 processor.
#pragma once

#include "native/allocate.h"
#include "native/live_ranges.h"
#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code::x86 {

/// Of a library that was built with Xbyak.
Assembled assemble(const MachineCode& code, const LiveRanges& ranges, const Allocation& allocation,
                   const Target& target);

}  // namespace rondo::native_code::x86
