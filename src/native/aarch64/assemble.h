// Encodes machine code with allocated registers for a 64-bit ARM processor, and decodes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "native/allocate.h"
#include "native/live_ranges.h"
#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code::aarch64 {

/// In a library that was built with VIXL.
Assembled assemble(const MachineCode& code, const LiveRanges& ranges, const Allocation& allocation,
                   const Target& target);

/// Target::fits_access and Target::takes_constant.
bool fits_access(const MachineAddress& address, int bytes);
bool takes_constant(const Instruction& reader, int operand, const UnitInfo& constant);

/// The first instruction of `code`, as Arm's manuals write it, by VIXL's disassembler. `offset` is
/// its place in the code, to which jumps are relative. Reads nothing after the code.
Decoded decode(std::span<const std::uint8_t> code, std::size_t offset);

}  // namespace rondo::native_code::aarch64
