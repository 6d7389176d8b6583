// Which instructions the native back end may write.
#pragma once

#include <cstdint>
#include <string_view>

namespace rondo::native_code {

enum class Isa : std::uint8_t {
  kNone,    // no native code: another machine, or an x86-64 without AVX2, FMA, BMI2 and F16C
  kAvx2,    // with FMA, BMI1, BMI2, LZCNT, POPCNT and F16C
  kAvx512,  // with F, BW, CD, DQ and VL
};

std::string_view isa_name(Isa isa) noexcept;

/// The set that `text` names, if it is below `isa`; otherwise `isa`.
Isa limited_isa(Isa isa, std::string_view text) noexcept;

/// What this processor and operating system offer; kNone where the library was built without an
/// assembler. The environment variable RONDO_ISA (`none`, `avx2`, `avx512`) lowers it, so that one
/// machine can test the code for others; it cannot raise it.
Isa available_isa() noexcept;

}  // namespace rondo::native_code
