// The x86-64 processors that there is native code for.
#pragma once

#include "base/cpu.h"
#include "native/target.h"

namespace rondo::native_code::x86 {

/// Vectors of 32 bytes, with FMA, BMI1, BMI2, LZCNT, POPCNT and F16C.
const Target& avx2();
/// Vectors of 64 bytes and masks: F, BW, CD, DQ and VL, with what AVX2 has.
const Target& avx512();

/// The one with most that the processor has; null if it has none, or there is no assembler.
const Target* best_target(const Cpu& cpu) noexcept;

}  // namespace rondo::native_code::x86
