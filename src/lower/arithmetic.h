// What each opcode computes on host types: the meaning of the lower IR, which the bytecode runs and
// the builder folds constants with.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "lower/program.h"
#include "rondo/dtype.h"

namespace rondo::lower {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
/// What an op computes in: halves in float, rounded once.
template <class T>
using Computed = std::conditional_t<is_half<T>, float, T>;
template <class T>
inline constexpr bool is_pred_type = std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_integer_type = std::is_integral_v<T> && !is_pred_type<T>;
template <class T>
inline constexpr bool is_float_type = std::is_floating_point_v<T> || is_half<T>;

/// Calls f.template operator()<T>() with the host type of values of `type`; pointers as addresses.
template <class F>
decltype(auto) for_type(Type type, F&& f) {
  switch (type) {
    case Type::kPred:
      return f.template operator()<bool>();
    case Type::kS8:
      return f.template operator()<std::int8_t>();
    case Type::kS16:
      return f.template operator()<std::int16_t>();
    case Type::kS32:
      return f.template operator()<std::int32_t>();
    case Type::kS64:
      return f.template operator()<std::int64_t>();
    case Type::kU8:
      return f.template operator()<std::uint8_t>();
    case Type::kU16:
      return f.template operator()<std::uint16_t>();
    case Type::kU32:
      return f.template operator()<std::uint32_t>();
    case Type::kF16:
      return f.template operator()<float16>();
    case Type::kBF16:
      return f.template operator()<bfloat16>();
    case Type::kF32:
      return f.template operator()<float>();
    case Type::kF64:
      return f.template operator()<double>();
    case Type::kU64:
    case Type::kPointer:
      break;
  }
  return f.template operator()<std::uint64_t>();
}

/// An unsigned type in which arithmetic on T wraps: at least as wide as unsigned.
template <class T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

/// Truncates; saturates; NaN gives 0.
template <class To, class From>
To saturating(From x) {
  constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
  constexpr From past = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
  if (!(x > low)) return x <= low ? std::numeric_limits<To>::min() : To(0);
  return x < past ? static_cast<To>(x) : std::numeric_limits<To>::max();
}

template <class To, class From>
To converted(From x) {
  if constexpr (is_pred_type<To>) {
    return static_cast<Computed<From>>(x) != 0;
  } else if constexpr (is_half<From>) {
    return converted<To>(static_cast<float>(x));
  } else if constexpr (is_half<To>) {
    if constexpr (is_integer_type<From>)
      return To(x);
    else
      return To(static_cast<std::conditional_t<is_pred_type<From>, float, From>>(x));
  } else if constexpr (std::is_floating_point_v<From> && is_integer_type<To>) {
    return saturating<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <Opcode code, class T>
inline constexpr bool has_unary =
    code == Opcode::kNegate || code == Opcode::kAbs                   ? !is_pred_type<T>
    : code == Opcode::kNot                                            ? std::is_integral_v<T>
    : code == Opcode::kPopcount || code == Opcode::kCountLeadingZeros ? is_integer_type<T>
                                                                      : is_float_type<T>;

template <Opcode code, class T>
T unary(T given) {
  using C = Computed<T>;
  const C x = static_cast<C>(given);
  if constexpr (code == Opcode::kNegate) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x));
    else
      return T(-x);
  } else if constexpr (code == Opcode::kAbs) {
    if constexpr (std::is_unsigned_v<T>)
      return x;
    else if constexpr (std::is_integral_v<T>)
      return x < 0 ? unary<Opcode::kNegate, T>(given) : x;
    else
      return T(std::abs(x));
  } else if constexpr (code == Opcode::kNot) {
    if constexpr (is_pred_type<T>)
      return !x;
    else
      return static_cast<T>(~x);
  } else if constexpr (code == Opcode::kSqrt) {
    return T(std::sqrt(x));
  } else if constexpr (code == Opcode::kFloor) {
    return T(std::floor(x));
  } else if constexpr (code == Opcode::kCeil) {
    return T(std::ceil(x));
  } else if constexpr (code == Opcode::kRoundEven) {
    return T(std::nearbyint(x));  // the rounding mode is never changed
  } else if constexpr (code == Opcode::kTruncate) {
    return T(std::trunc(x));
  } else if constexpr (code == Opcode::kPopcount) {
    return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  } else {
    static_assert(code == Opcode::kCountLeadingZeros);
    return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(x)));
  }
}

template <Opcode code, class T>
inline constexpr bool has_binary =
    code == Opcode::kAnd || code == Opcode::kOr || code == Opcode::kXor ? std::is_integral_v<T>
    : code == Opcode::kShiftLeft || code == Opcode::kShiftRightLogical ||
            code == Opcode::kShiftRightArithmetic || code == Opcode::kRotateLeft
        ? is_integer_type<T>
    : code == Opcode::kMin || code == Opcode::kMax || code == Opcode::kAdd ||
            code == Opcode::kMultiply
        ? true
        : !is_pred_type<T>;

/// A pred adds up by or, multiplies by and.
template <Opcode code, class T>
T binary(T given_a, T given_b) {
  using C = Computed<T>;
  const C a = static_cast<C>(given_a), b = static_cast<C>(given_b);
  if constexpr (code == Opcode::kAdd || code == Opcode::kSubtract || code == Opcode::kMultiply) {
    if constexpr (is_pred_type<T>) {
      return code == Opcode::kAdd ? (a | b) != 0 : (a & b) != 0;
    } else if constexpr (std::is_integral_v<T>) {
      const auto wide_a = static_cast<Wrapping<T>>(a), wide_b = static_cast<Wrapping<T>>(b);
      return static_cast<T>(code == Opcode::kAdd        ? wide_a + wide_b
                            : code == Opcode::kSubtract ? wide_a - wide_b
                                                        : wide_a * wide_b);
    } else {
      return T(code == Opcode::kAdd ? a + b : code == Opcode::kSubtract ? a - b : a * b);
    }
  } else if constexpr (code == Opcode::kDivide || code == Opcode::kRemainder) {
    constexpr bool divides = code == Opcode::kDivide;
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return divides ? static_cast<T>(-1) : a;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return divides ? unary<Opcode::kNegate, T>(a) : T(0);
      }
      return static_cast<T>(divides ? a / b : a % b);
    } else {
      return T(divides ? a / b : std::fmod(a, b));
    }
  } else if constexpr (code == Opcode::kMin || code == Opcode::kMax) {
    constexpr bool max = code == Opcode::kMax;
    if constexpr (std::is_floating_point_v<C>) {
      // In steps that compilers vectorize, the first one as processors have it. Numbers that are
      // equal differ in the sign of 0 at most; a sum with a NaN is a quiet NaN.
      using Bits = std::conditional_t<sizeof(C) == 4, std::uint32_t, std::uint64_t>;
      const Bits of_a = std::bit_cast<Bits>(a), of_b = std::bit_cast<Bits>(b);
      C best = (max ? a > b : a < b) ? a : b;
      best = a == b ? std::bit_cast<C>(max ? of_a & of_b : of_a | of_b) : best;
      return T(std::isunordered(a, b) ? a + b : best);
    } else {
      return (a < b) == max ? b : a;
    }
  } else if constexpr (code == Opcode::kAnd) {
    return static_cast<T>(a & b);
  } else if constexpr (code == Opcode::kOr) {
    return static_cast<T>(a | b);
  } else if constexpr (code == Opcode::kXor) {
    return static_cast<T>(a ^ b);
  } else {
    constexpr unsigned width = sizeof(T) * 8;
    const auto by = static_cast<std::make_unsigned_t<T>>(b);
    if constexpr (code == Opcode::kShiftLeft) {
      return by < width ? static_cast<T>(static_cast<Wrapping<T>>(a) << by) : T(0);
    } else if constexpr (code == Opcode::kShiftRightLogical) {
      return by < width ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) >> by) : T(0);
    } else if constexpr (code == Opcode::kShiftRightArithmetic) {
      return static_cast<T>(static_cast<std::make_signed_t<T>>(a) >>
                            (by < width ? static_cast<unsigned>(by) : width - 1));
    } else {
      static_assert(code == Opcode::kRotateLeft);
      return static_cast<T>(
          std::rotl(static_cast<std::make_unsigned_t<T>>(a), static_cast<int>(by % width)));
    }
  }
}

template <Opcode code, class T>
bool compared(T given_a, T given_b) {
  using C = Computed<T>;
  const C a = static_cast<C>(given_a), b = static_cast<C>(given_b);
  if constexpr (code == Opcode::kEqual) return a == b;
  if constexpr (code == Opcode::kNotEqual) return a != b;
  if constexpr (code == Opcode::kLess) return a < b;
  if constexpr (code == Opcode::kLessEqual) return a <= b;
  if constexpr (code == Opcode::kGreater) return a > b;
  return a >= b;
}

template <Opcode code, class T>
T fused(T given_a, T given_b, T given_c) {
  using C = Computed<T>;
  const C a = static_cast<C>(given_a), b = static_cast<C>(given_b), c = static_cast<C>(given_c);
  if constexpr (code == Opcode::kFma) return T(std::fma(a, b, c));
  if constexpr (code == Opcode::kFnma) return T(std::fma(-a, b, c));
  return T(std::fma(a, b, -c));
}

/// Calls f.template operator()<code>() if the opcode is one of `codes`; whether it is.
template <Opcode... codes, class F>
bool for_one_of(Opcode code, F&& f) {
  return ((code == codes && (f.template operator()<codes>(), true)) || ...);
}

/// The opcodes of one operand (but conversions).
template <class F>
bool for_unary(Opcode code, F&& f) {
  return for_one_of<Opcode::kNegate, Opcode::kAbs, Opcode::kNot, Opcode::kSqrt, Opcode::kFloor,
                    Opcode::kCeil, Opcode::kRoundEven, Opcode::kTruncate, Opcode::kPopcount,
                    Opcode::kCountLeadingZeros>(code, f);
}

/// Those of two operands whose result has their type.
template <class F>
bool for_binary(Opcode code, F&& f) {
  return for_one_of<Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply, Opcode::kDivide,
                    Opcode::kRemainder, Opcode::kMin, Opcode::kMax, Opcode::kAnd, Opcode::kOr,
                    Opcode::kXor, Opcode::kShiftLeft, Opcode::kShiftRightLogical,
                    Opcode::kShiftRightArithmetic, Opcode::kRotateLeft>(code, f);
}

template <class F>
bool for_compare(Opcode code, F&& f) {
  return for_one_of<Opcode::kEqual, Opcode::kNotEqual, Opcode::kLess, Opcode::kLessEqual,
                    Opcode::kGreater, Opcode::kGreaterEqual>(code, f);
}

/// Products that are added or subtracted and rounded once.
template <class F>
bool for_fused(Opcode code, F&& f) {
  return for_one_of<Opcode::kFma, Opcode::kFnma, Opcode::kFms>(code, f);
}

/// A value of T in a register: its bytes, the rest zero.
template <class T>
std::uint64_t to_bits(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

}  // namespace rondo::lower
