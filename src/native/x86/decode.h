// Machine code as text: a decoder of exactly the instructions that Emitter writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "native/target.h"

namespace rondo::native_code::x86 {

/// The first instruction of `code`, in Intel's syntax: "vaddps zmm1{k1}{z}, zmm2, [rax+rcx*4+0x8]"
/// with the size in memory. `offset` is its place in the code, to which jumps are relative. Reads
/// nothing after the code.
Decoded decode(std::span<const std::uint8_t> code, std::size_t offset);

}  // namespace rondo::native_code::x86
