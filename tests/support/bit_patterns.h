// Numbers for tests of bits: edges and bit patterns, the same on every machine.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "rondo/dtype.h"
#include "rondo/literal.h"

namespace rondo::testing {

template <class T>
inline constexpr bool kHasParts = is_complex(dtype_of<T>);
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// Both zeros, denormal numbers, infinities, NaN, the ends of integers, shifts by the width or
/// more, and where functions change their way.
template <class T>
std::vector<T> edge_values() {
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    return {Limits::min(),
            T(Limits::min() + 1),
            T(Limits::max() - 1),
            Limits::max(),
            T(-1),
            T(-2),
            T(0),
            T(1),
            T(2),
            T(3),
            T(7),
            T(8),
            T(sizeof(T) * 8 - 1),
            T(sizeof(T) * 8),
            T(sizeof(T) * 8 + 1)};
  } else {
    std::vector<T> all;
    for (const double x :
         {0.0,          1.0,          0.25,      0.5,     0.55,    0.875,  1.5,   2.0,
          2.5,          3.0,          5.0,       20.0,    88.7,    89.5,   104.0, 127.0,
          128.0,        255.5,        709.7,     710.5,   745.5,   1e4,    1e8,   2e9,
          2147483648.0, 4294967296.0, 9.3e18,    1.9e19,  1e30,    3.4e38, 1e300, 0x1p-126,
          0x1p-149,     0x1p-1022,    0x1p-1074, 0x1p-24, 0x1p-14, 1e-8,   1e-20, double{INFINITY},
          double{NAN}}) {
      all.push_back(T(x));
      all.push_back(T(-x));
    }
    return all;
  }
}

/// Edges, then bit patterns that are as good as random, of floats every second one of a size that
/// programs have.
template <class T>
std::vector<T> bit_patterns(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> all;
  if constexpr (kHasParts<T>) {
    const auto parts = bit_patterns<typename T::value_type>(2 * count, seed);
    for (std::size_t i = 0; i < count; i++) all.push_back({parts[i], parts[2 * count - 1 - i]});
  } else {
    const std::vector<T> special = edge_values<T>();
    // In another order for each seed, so that those of two operands meet in pairs.
    for (std::size_t i = 0; i < special.size() * special.size() && i < count; i++)
      all.push_back(special[seed % 2 ? i % special.size() : i / special.size()]);
    while (all.size() < count) {
      if constexpr (std::is_same_v<T, bool>) {
        all.push_back(random() & 1);
      } else {
        all.push_back(std::bit_cast<T>(static_cast<BitsOf<T>>(random())));
        if constexpr (!std::is_integral_v<T>)
          all.push_back(T(static_cast<double>(random()) * 0x1p-60 - 8));
      }
    }
    all.resize(count);
  }
  return all;
}

/// The same as an array of one axis.
template <class T>
Literal literal_of_bit_patterns(std::size_t count, std::uint64_t seed) {
  const std::vector<T> given = bit_patterns<T>(count, seed);
  Literal column = Literal::zeros({dtype_of<T>, {static_cast<std::int64_t>(count)}});
  for (std::size_t i = 0; i < count; i++) column.mutable_data<T>()[i] = given[i];
  return column;
}

}  // namespace rondo::testing
