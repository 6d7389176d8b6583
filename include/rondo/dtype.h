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

/// The element types, in the order in which XLA lists them.
// clang-format off
enum class DType : std::uint8_t {
  kPred, kS8, kS16, kS32, kS64, kU8, kU16, kU32, kU64, kF16, kBF16, kF32, kF64, kC64, kC128
};
// clang-format on

inline constexpr int kDTypeCount = 15;

namespace detail {
inline constexpr unsigned char kByteWidths[kDTypeCount] = {1, 1, 2, 4, 8, 1, 2, 4,
                                                           8, 2, 2, 4, 8, 8, 16};
}  // namespace detail

/// XLA's name: `pred`, `s32`, `bf16`, ...; `invalid` for a value outside the enumeration.
RONDO_API std::string_view dtype_name(DType dtype) noexcept;
/// Bytes per element; 0 for a value outside the enumeration.
constexpr std::int64_t byte_width(DType dtype) noexcept {
  return static_cast<int>(dtype) < kDTypeCount ? detail::kByteWidths[static_cast<int>(dtype)] : 0;
}

constexpr bool is_pred(DType t) noexcept { return t == DType::kPred; }
constexpr bool is_signed_integer(DType t) noexcept { return t >= DType::kS8 && t <= DType::kS64; }
constexpr bool is_unsigned_integer(DType t) noexcept { return t >= DType::kU8 && t <= DType::kU64; }
constexpr bool is_integer(DType t) noexcept { return t >= DType::kS8 && t <= DType::kU64; }
constexpr bool is_floating(DType t) noexcept { return t >= DType::kF16 && t <= DType::kF64; }
constexpr bool is_complex(DType t) noexcept { return t >= DType::kC64; }

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
    return -1;
  }
}

}  // namespace detail

/// A host type that is the element of a dtype: every arithmetic type by its width and sign,
/// std::complex of float and double, float16, bfloat16.
template <class T>
concept HostScalar = detail::dtype_index<std::remove_cv_t<T>>()
>= 0;

/// The dtype of a host type: `dtype_of<std::size_t>` is kU64.
template <HostScalar T>
inline constexpr DType dtype_of = static_cast<DType>(detail::dtype_index<std::remove_cv_t<T>>());

}  // namespace rondo
