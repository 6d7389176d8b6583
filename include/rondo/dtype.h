// Element types, and the host types that hold them.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "rondo/detail/integer_to_double.h"
#include "rondo/export.h"

namespace rondo {

/// The element types, in the order in which XLA lists them; then the small ones, see is_small.
// clang-format off
enum class DType : std::uint8_t {
  kPred, kS8, kS16, kS32, kS64, kU8, kU16, kU32, kU64, kF16, kBF16, kF32, kF64, kC64, kC128,
  kS2, kU2, kS4, kU4, kF4E2M1FN, kF8E3M4, kF8E4M3, kF8E4M3FN, kF8E4M3B11FNUZ, kF8E4M3FNUZ, kF8E5M2,
  kF8E5M2FNUZ
};
// clang-format on

/// The number of dtypes; their values are 0 to kDTypeCount - 1.
inline constexpr int kDTypeCount = 27;

namespace detail {
inline constexpr unsigned char kByteWidths[kDTypeCount] = {
    1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
}  // namespace detail

/// XLA's name: `pred`, `s32`, `bf16`, ...; `invalid` for a value outside the enumeration.
RONDO_API std::string_view dtype_name(DType dtype) noexcept;
/// Bytes per element; 0 for a value outside the enumeration.
constexpr std::int64_t byte_width(DType dtype) noexcept {
  return static_cast<int>(dtype) < kDTypeCount ? detail::kByteWidths[static_cast<int>(dtype)] : 0;
}

/// Whether the dtype is kPred.
constexpr bool is_pred(DType t) noexcept { return t == DType::kPred; }
/// Integers of 2 and 4 bits, floats of 4 and 8. They store numbers, one in a byte, and an integer
/// as the byte that has its value. What computes with them does so in f32, s8 or u8 and rounds or
/// wraps the result.
constexpr bool is_small(DType t) noexcept { return t >= DType::kS2; }
/// Whether the dtype is one of s2, s4 and s8 to s64.
constexpr bool is_signed_integer(DType t) noexcept {
  return (t >= DType::kS8 && t <= DType::kS64) || t == DType::kS2 || t == DType::kS4;
}
/// Whether the dtype is one of u2, u4 and u8 to u64. pred is not.
constexpr bool is_unsigned_integer(DType t) noexcept {
  return (t >= DType::kU8 && t <= DType::kU64) || t == DType::kU2 || t == DType::kU4;
}
/// Whether the dtype is a signed or an unsigned integer. pred is not.
constexpr bool is_integer(DType t) noexcept {
  return (t >= DType::kS8 && t <= DType::kU64) || (t >= DType::kS2 && t <= DType::kU4);
}
/// Whether the dtype is a real float: f16, bf16, f32, f64, or one of 4 or 8 bits. Complex dtypes
/// are not.
constexpr bool is_floating(DType t) noexcept {
  return (t >= DType::kF16 && t <= DType::kF64) || t >= DType::kF4E2M1FN;
}
/// Whether the dtype is c64 or c128.
constexpr bool is_complex(DType t) noexcept { return t == DType::kC64 || t == DType::kC128; }

/// The bits of a number: fewer than those of its bytes for integers of 2 and 4 bits and f4.
constexpr std::int64_t bit_width(DType t) noexcept {
  return t == DType::kS2 || t == DType::kU2                            ? 2
         : t == DType::kS4 || t == DType::kU4 || t == DType::kF4E2M1FN ? 4
                                                                       : 8 * byte_width(t);
}

/// IEEE 754 binary16. Conversions round to nearest even, once; a NaN keeps its sign and the upper
/// bits of its payload and becomes quiet. The conversion to float is exact.
struct float16 {
  std::uint16_t bits = 0;
  float16() = default;
  RONDO_API explicit float16(float value) noexcept;
  RONDO_API explicit float16(double value) noexcept;
  template <class T>
  requires std::is_integral_v<T>
  explicit float16(T value) noexcept : float16(detail::integer_to_double(value)) {}
  RONDO_API operator float() const noexcept;
  static constexpr float16 from_bits(std::uint16_t bits) noexcept {
    float16 x;
    x.bits = bits;
    return x;
  }
};

/// The upper half of an IEEE 754 binary32. Conversions are like those of float16.
struct bfloat16 {
  std::uint16_t bits = 0;
  bfloat16() = default;
  RONDO_API explicit bfloat16(float value) noexcept;
  RONDO_API explicit bfloat16(double value) noexcept;
  template <class T>
  requires std::is_integral_v<T>
  explicit bfloat16(T value) noexcept : bfloat16(detail::integer_to_double(value)) {}
  operator float() const noexcept {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
  }
  static constexpr bfloat16 from_bits(std::uint16_t bits) noexcept {
    bfloat16 x;
    x.bits = bits;
    return x;
  }
};

namespace detail {

// The byte of a small dtype: of the number, rounded to nearest even (a float) or toward zero and to
// the closest one that there is (an integer); of the low bits of an integer; and the number.
RONDO_API std::uint8_t rounded_small(DType dtype, double value) noexcept;
RONDO_API std::uint8_t wrapped_small(DType dtype, std::uint64_t value) noexcept;
RONDO_API float small_value(DType dtype, std::uint8_t bits) noexcept;

}  // namespace detail

/// An element of a small dtype. Conversions from floats round to nearest even. What is too great
/// becomes infinity where the format has one, else NaN; f4, which has neither, takes the greatest
/// number. FNUZ formats have one NaN and no negative zero, FN ones no infinity. Integers wrap; an
/// integer of a float is the one toward zero, the closest if that is out of range, and 0 of NaN.
/// (Micikevicius et al., FP8 Formats for Deep Learning, 2022; OCP Microscaling Formats 1.0.)
template <DType kType>
struct SmallNumber {
  static constexpr DType kDType = kType;
  std::uint8_t bits = 0;
  SmallNumber() = default;
  explicit SmallNumber(float value) noexcept : bits(detail::rounded_small(kType, value)) {}
  explicit SmallNumber(double value) noexcept : bits(detail::rounded_small(kType, value)) {}
  template <class T>
  requires std::is_integral_v<T>
  explicit SmallNumber(T value) noexcept {
    if constexpr (is_integer(kType))
      bits = detail::wrapped_small(kType, static_cast<std::uint64_t>(value));
    else
      bits = detail::rounded_small(kType, static_cast<double>(value));
  }
  operator std::conditional_t<is_integer(kType), int, float>() const noexcept {
    if constexpr (is_unsigned_integer(kType))
      return bits;
    else if constexpr (is_integer(kType))
      return static_cast<std::int8_t>(bits);
    else
      return detail::small_value(kType, bits);
  }
  static constexpr SmallNumber from_bits(std::uint8_t bits) noexcept {
    SmallNumber x;
    x.bits = bits;
    return x;
  }
  friend bool operator==(SmallNumber a, SmallNumber b) noexcept {
    return detail::small_value(kType, a.bits) == detail::small_value(kType, b.bits);
  }
};

/// An element of s2: -2 to 1.
using int2 = SmallNumber<DType::kS2>;
/// An element of u2: 0 to 3.
using uint2 = SmallNumber<DType::kU2>;
/// An element of s4: -8 to 7.
using int4 = SmallNumber<DType::kS4>;
/// An element of u4: 0 to 15.
using uint4 = SmallNumber<DType::kU4>;
/// An element of f4e2m1fn: 0 and 0.5 to 6 in magnitude.
using float4_e2m1fn = SmallNumber<DType::kF4E2M1FN>;
/// An element of f8e3m4: 2^-6 to 15.5 in magnitude, or 0.
using float8_e3m4 = SmallNumber<DType::kF8E3M4>;
/// An element of f8e4m3: 2^-9 to 240 in magnitude, or 0.
using float8_e4m3 = SmallNumber<DType::kF8E4M3>;
/// An element of f8e4m3fn: 2^-9 to 448 in magnitude, or 0.
using float8_e4m3fn = SmallNumber<DType::kF8E4M3FN>;
/// An element of f8e4m3b11fnuz: 2^-13 to 30 in magnitude, or 0.
using float8_e4m3b11fnuz = SmallNumber<DType::kF8E4M3B11FNUZ>;
/// An element of f8e4m3fnuz: 2^-10 to 240 in magnitude, or 0.
using float8_e4m3fnuz = SmallNumber<DType::kF8E4M3FNUZ>;
/// An element of f8e5m2: 2^-16 to 57344 in magnitude, or 0.
using float8_e5m2 = SmallNumber<DType::kF8E5M2>;
/// An element of f8e5m2fnuz: 2^-17 to 57344 in magnitude, or 0.
using float8_e5m2fnuz = SmallNumber<DType::kF8E5M2FNUZ>;

namespace detail {

template <class T>
inline constexpr int kSmallIndex = -1;
template <DType kType>
inline constexpr int kSmallIndex<SmallNumber<kType>> = static_cast<int>(kType);

template <class T>
constexpr int dtype_index() {
  if constexpr (std::is_same_v<T, bool>)
    return static_cast<int>(DType::kPred);
  else if constexpr (std::is_same_v<T, float16>)
    return static_cast<int>(DType::kF16);
  else if constexpr (std::is_same_v<T, bfloat16>)
    return static_cast<int>(DType::kBF16);
  else if constexpr (std::is_same_v<T, float>)
    return static_cast<int>(DType::kF32);
  else if constexpr (std::is_same_v<T, double>)
    return static_cast<int>(DType::kF64);
  else if constexpr (std::is_same_v<T, long double>)
    return static_cast<int>(DType::kF64);
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return static_cast<int>(DType::kC64);
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return static_cast<int>(DType::kC128);
  else if constexpr (std::is_integral_v<T>) {
    constexpr int width = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    const auto first = std::is_signed_v<T> ? DType::kS8 : DType::kU8;
    return sizeof(T) <= 8 ? static_cast<int>(first) + width : -1;
  } else {
    return kSmallIndex<T>;
  }
}

}  // namespace detail

/// A host type that is the element of a dtype: every arithmetic type by its width and sign,
/// std::complex of float and double, float16, bfloat16, SmallNumber.
template <class T>
concept HostScalar = detail::dtype_index<std::remove_cv_t<T>>()
>= 0;

/// The dtype of a host type: `dtype_of<std::size_t>` is kU64.
template <HostScalar T>
inline constexpr DType dtype_of = static_cast<DType>(detail::dtype_index<std::remove_cv_t<T>>());

}  // namespace rondo
