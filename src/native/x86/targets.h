// The x86-64 processors that have native code.
#pragma once

#include "base/cpu.h"
#include "native/target.h"

namespace rondo::native_code::x86 {

/// Vectors of 32 bytes, with FMA, BMI1, BMI2, LZCNT, POPCNT and F16C.
const Target& avx2();
/// Vectors of 64 bytes and masks: F, BW, CD, DQ and VL, and the features above.
const Target& avx512();

/// The most capable one that the processor supports; null if there is none, or no assembler.
const Target* best_target(const Cpu& cpu) noexcept;

}  // namespace rondo::native_code::x86
