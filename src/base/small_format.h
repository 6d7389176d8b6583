// The formats of small dtypes.
#pragma once

#include <cstdint>

#include "rondo/dtype.h"

namespace rondo {

/// What the bits of a small float mean: a sign (the upper bit), the exponent, the mantissa.
/// Numbers of exponent 0 are subnormal.
struct SmallFormat {
  enum class Specials : std::uint8_t {
    kInfinity,  // the greatest exponent: infinity and NaNs, as in IEEE 754
    kNan,       // all bits but the sign: NaN (FN)
    kOneNan,    // the sign alone: the only NaN; zero has no sign (FNUZ)
    kNone,      // all are finite numbers
  };
  int exponent_bits, mantissa_bits, bias;
  Specials specials;

  constexpr int sign_bit() const { return exponent_bits + mantissa_bits; }
  constexpr int all_ones() const { return (1 << sign_bit()) - 1; }
  constexpr int infinity() const { return ((1 << exponent_bits) - 1) << mantissa_bits; }
  constexpr bool has_one_nan() const { return specials == Specials::kOneNan; }
  /// The bits of the greatest finite number; the lower bits are those of all smaller ones in order.
  constexpr int greatest_finite() const {
    return specials == Specials::kInfinity ? infinity() - 1
           : specials == Specials::kNan    ? all_ones() - 1
                                           : all_ones();
  }
  /// Of a number that rounds beyond it, without the sign (which the one NaN does not get).
  constexpr int overflow() const {
    return specials == Specials::kInfinity ? infinity()
           : specials == Specials::kOneNan ? 1 << sign_bit()
                                           : all_ones();
  }
  /// Of NaN, likewise. f4 has none; XLA gives it a zero of the other sign.
  constexpr int nan() const {
    return specials == Specials::kInfinity ? infinity() | 1 << (mantissa_bits - 1)
           : specials == Specials::kNan    ? all_ones()
                                           : 1 << sign_bit();
  }
};

constexpr SmallFormat small_format(DType dtype) {
  using Specials = SmallFormat::Specials;
  switch (dtype) {
    case DType::kF4E2M1FN:
      return {2, 1, 1, Specials::kNone};
    case DType::kF8E3M4:
      return {3, 4, 3, Specials::kInfinity};
    case DType::kF8E4M3:
      return {4, 3, 7, Specials::kInfinity};
    case DType::kF8E4M3FN:
      return {4, 3, 7, Specials::kNan};
    case DType::kF8E4M3B11FNUZ:
      return {4, 3, 11, Specials::kOneNan};
    case DType::kF8E4M3FNUZ:
      return {4, 3, 8, Specials::kOneNan};
    case DType::kF8E5M2FNUZ:
      return {5, 2, 16, Specials::kOneNan};
    default:
      return {5, 2, 15, Specials::kInfinity};
  }
}

/// The dtype of the bytes of a small one: s8 or u8.
constexpr DType storage_dtype(DType dtype) {
  return !is_small(dtype) ? dtype : is_signed_integer(dtype) ? DType::kS8 : DType::kU8;
}
/// The dtype in which what a small one has is computed, which has all its numbers.
constexpr DType computing_dtype(DType dtype) {
  return is_small(dtype) && is_floating(dtype) ? DType::kF32 : storage_dtype(dtype);
}

}  // namespace rondo
