// Numbers by which a quotient by a constant becomes a product: Granlund and Montgomery, "Division
// by invariant integers using multiplication" (1994).
#pragma once

#include <bit>
#include <cstdint>

namespace rondo::native_code {

/// floor(2^64 * dividend / divisor) of dividend < divisor.
inline std::uint64_t scaled_quotient(std::uint64_t dividend, std::uint64_t divisor) {
  std::uint64_t quotient = 0;
  for (int bit = 0; bit < 64; bit++) {
    const bool carries = dividend >> 63 != 0;
    dividend <<= 1;
    const bool fits = carries || dividend >= divisor;
    if (fits) dividend -= divisor;
    quotient = quotient << 1 | (fits ? 1u : 0u);
  }
  return quotient;
}

/// The least l with 2^l >= x.
inline int log2_above(std::uint64_t x) { return static_cast<int>(std::bit_width(x - 1)); }

}  // namespace rondo::native_code
