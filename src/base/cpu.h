// What this processor can do, for kernels that are compiled for more than one and for native code.
#pragma once

#include <string_view>

namespace rondo {

/// Sets of instructions that kernels and native code are written for, beyond those of every
/// processor that the library is built for, or of one architecture. Those of others are false.
struct Cpu {
  bool avx2 = false;    // with FMA, BMI1, BMI2, LZCNT, POPCNT and F16C
  bool avx512 = false;  // F, BW, CD, DQ and VL, and what avx2 says
  /// Zen 4: to store the lanes of an AVX-512 vector that a mask picks takes a hundred cycles.
  bool has_slow_compress = false;
  bool neon = false;  // of 64-bit ARM, whose processors all have it
};

/// What this processor and operating system offer. The environment variable RONDO_ISA (`none`,
/// `avx2`, `avx512`) takes from it, so that one machine can test the code for others; it cannot add
/// to it.
const Cpu& cpu() noexcept;

/// `cpu` without the sets beyond the one that `name` names; `cpu` if it names none.
Cpu limited(Cpu cpu, std::string_view name) noexcept;

}  // namespace rondo
