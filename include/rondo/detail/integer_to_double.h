// Integers as doubles that round like them.
#pragma once

#include <cstdint>

namespace rondo::detail {

/// The integer as a double. If it has more than 53 bits, a value that rounds to fewer bits exactly
/// like the integer: the bits that do not fit are replaced by a sticky last bit.
template <class T>
constexpr double integer_to_double(T value) noexcept {
  if constexpr (sizeof(T) < 8) {
    return static_cast<double>(value);
  } else {
    const bool negative = value < T{0};
    const auto bits = static_cast<std::uint64_t>(value);
    std::uint64_t magnitude = negative ? 0 - bits : bits;
    if (magnitude >> 53 != 0) {
      magnitude = (magnitude & ~std::uint64_t{0x7ff}) | ((magnitude & 0x7ff) != 0 ? 0x800 : 0);
    }
    return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  }
}

}  // namespace rondo::detail
