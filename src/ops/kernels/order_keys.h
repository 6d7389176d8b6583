// Unsigned integers in the order of a dtype's values.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "ops/combiners.h"
#include "ops/sort.h"

namespace rondo::ops {

template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
template <class Bits>
inline constexpr Bits kSignOf = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));

/// All ones if the sign is set, else 0.
template <class Bits>
Bits spread_sign(Bits bits) {
  return static_cast<Bits>(static_cast<std::make_signed_t<Bits>>(bits) >> (8 * sizeof(Bits) - 1));
}

/// An unsigned integer that orders as x does. Without branches, so that loops vectorize.
template <class Key, class T>
Key key_of(T x, KnownOrder order) {
  if constexpr (std::is_same_v<T, bool>) {
    return x != order.descending;
  } else {
    using Bits = BitsOf<T>;
    constexpr Bits kSign = kSignOf<Bits>;
    Bits bits = std::bit_cast<Bits>(x);
    if constexpr (std::is_floating_point_v<T> || lower::is_half<T>) {
      bool nan;
      if constexpr (lower::is_half<T>)
        nan = std::isnan(static_cast<float>(x));
      else
        nan = x != x;
      const bool ordered = !order.total;
      bits = ordered && bits == kSign ? Bits{0} : bits;          // -0
      bits = ordered && nan ? static_cast<Bits>(~kSign) : bits;  // the greatest of all
      bits = static_cast<Bits>(bits ^ (spread_sign(bits) | kSign));
    } else if constexpr (std::is_signed_v<T>) {
      bits = static_cast<Bits>(bits ^ kSign);
    }
    return order.descending ? static_cast<Bits>(~bits) : bits;
  }
}

}  // namespace rondo::ops
