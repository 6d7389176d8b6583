// The 64-bit ARM processors (AArch64) that have native code.
#pragma once

#include "base/cpu.h"
#include "native/target.h"

namespace rondo::native_code::aarch64 {

/// ARMv8.0-A: vectors of 16 bytes (Advanced SIMD), and no extension.
const Target& neon();

/// Null if the processor is another one, or there is no assembler.
const Target* best_target(const Cpu& cpu) noexcept;

}  // namespace rondo::native_code::aarch64
