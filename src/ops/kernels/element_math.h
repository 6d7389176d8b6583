// Arithmetic on one element, with the semantics that ir/record.h declares. Functors, so that a
// reduction or another executor can build its own loops from them.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ops/kernels/complex_math.h"

namespace rondo::ops::math {

template <class T>
inline constexpr bool is_bool = std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_complex_number =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// An unsigned type at least as wide as T, of the rank of int or more: arithmetic in it wraps where
/// that of T would be undefined.
template <class T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

/// Sums; of preds their or.
struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (is_bool<T>)
      return a | b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    else
      return a + b;
  }
};

struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
    else
      return a - b;
  }
};

/// Products; of preds their and.
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (is_bool<T>)
      return a & b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    else if constexpr (is_complex_number<T>)
      // As XLA and NumPy have it. C++ looks again where both parts are NaN, for infinities.
      return T(a.real() * b.real() - a.imag() * b.imag(),
               a.real() * b.imag() + a.imag() * b.real());
    else
      return a * b;
  }
};

struct Negate {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return Subtract()(T(0), x);
    else
      return -x;
  }
};

/// Integers truncate; x / 0 is all ones, and the least integer by -1 is itself.
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return static_cast<T>(-1);
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return Negate()(a);
      }
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};

/// With the sign of a; an integer by 0 stays.
struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return a;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
      }
      return static_cast<T>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};

struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      const T of_equals = std::signbit(a) ? b : a;
      return a > b ? a : a < b ? b : a == b ? of_equals : a + b;  // a + b is NaN, and a quiet one
    } else {
      return a < b ? b : a;
    }
  }
};

struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      const T of_equals = std::signbit(a) ? a : b;
      return a < b ? a : a > b ? b : a == b ? of_equals : a + b;
    } else {
      return b < a ? b : a;
    }
  }
};

struct Clamp {
  template <class T>
  T operator()(T lo, T x, T hi) const {
    return Minimum()(Maximum()(lo, x), hi);
  }
};

struct Abs {
  template <class T>
  auto operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x < 0 ? Negate()(x) : x;
    else if constexpr (is_complex_number<T>)
      return complex_abs(x);
    else
      return std::abs(x);
  }
};

struct Sign {
  template <class T>
  T operator()(T x) const {
    if constexpr (is_complex_number<T>) {
      return complex_sign(x);
    } else {
      return x > 0 ? T(1) : x < 0 ? T(-1) : x;
    }
  }
};

/// Integer powers by squaring. They wrap; negative exponents give what truncation leaves of 1 /
/// x^-y.
template <class T>
T integer_power(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y < 0) return x == 1 ? T(1) : x == -1 ? (y & 1 ? T(-1) : T(1)) : T(0);
  }
  Wrapping<T> square = static_cast<Wrapping<T>>(x), power = 1;
  for (auto left = static_cast<std::make_unsigned_t<T>>(y); left != 0;
       left = static_cast<decltype(left)>(left >> 1)) {
    if (left & 1) power *= square;
    square *= square;
  }
  return static_cast<T>(power);
}

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  T operator()(T x) const {
    if constexpr (is_bool<T>)
      return !x;
    else
      return static_cast<T>(~x);
  }
};

struct ShiftLeft {
  template <class T>
  T operator()(T x, T amount) const {
    const auto by = static_cast<std::make_unsigned_t<T>>(amount);
    return by < sizeof(T) * 8 ? static_cast<T>(static_cast<Wrapping<T>>(x) << by) : T(0);
  }
};
struct ShiftRightLogical {
  template <class T>
  T operator()(T x, T amount) const {
    const auto by = static_cast<std::make_unsigned_t<T>>(amount);
    return by < sizeof(T) * 8 ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) >> by)
                              : T(0);
  }
};
struct ShiftRightArithmetic {
  template <class T>
  T operator()(T x, T amount) const {
    const auto by = static_cast<std::make_unsigned_t<T>>(amount);
    const int last = static_cast<int>(sizeof(T) * 8) - 1;
    return static_cast<T>(static_cast<std::make_signed_t<T>>(x) >>
                          (by < sizeof(T) * 8 ? static_cast<int>(by) : last));
  }
};

struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a != b;
  }
};
struct Less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct LessOrEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct GreaterOrEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};

}  // namespace rondo::ops::math
