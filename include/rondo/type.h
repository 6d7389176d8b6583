// The type of a tensor: element type and dimensions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>

#include "rondo/dtype.h"
#include "rondo/export.h"
#include "rondo/shape.h"

namespace rondo {

/// The type of a tensor: the dtype of its elements and its dimensions. Types are equal if both are.
/// A default-constructed one is f32[].
struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;

  /// XLA's notation: `f32[2,3]`, `pred[]`.
  RONDO_API std::string str() const;
  std::int64_t rank() const noexcept { return shape.rank(); }
  std::int64_t elements() const noexcept { return shape.elements(); }
  /// The size of a dense array; the largest std::int64_t if that would overflow.
  std::int64_t bytes() const noexcept {
    std::int64_t bytes = 0;
    return __builtin_mul_overflow(shape.elements(), byte_width(dtype), &bytes) ? INT64_MAX : bytes;
  }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// Prints a type, a shape or a dtype in XLA's notation: `f32[2,3]`, `[2,3]`, `f32`.
RONDO_API std::ostream& operator<<(std::ostream& out, const TensorType& type);
RONDO_API std::ostream& operator<<(std::ostream& out, const Shape& shape);
RONDO_API std::ostream& operator<<(std::ostream& out, DType dtype);

// A type for each dtype: `f32({2, 3})`; no dimensions give a scalar.
/// A type of truth values, stored as bytes 0 and 1.
inline TensorType pred(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kPred, dims};
}
/// A type of signed integers of 8 bits: -128 to 127.
inline TensorType s8(std::initializer_list<std::int64_t> dims = {}) { return {DType::kS8, dims}; }
/// A type of signed integers of 16 bits: -32768 to 32767.
inline TensorType s16(std::initializer_list<std::int64_t> dims = {}) { return {DType::kS16, dims}; }
/// A type of signed integers of 32 bits: -2^31 to 2^31 - 1.
inline TensorType s32(std::initializer_list<std::int64_t> dims = {}) { return {DType::kS32, dims}; }
/// A type of signed integers of 64 bits: -2^63 to 2^63 - 1.
inline TensorType s64(std::initializer_list<std::int64_t> dims = {}) { return {DType::kS64, dims}; }
/// A type of unsigned integers of 8 bits: 0 to 255.
inline TensorType u8(std::initializer_list<std::int64_t> dims = {}) { return {DType::kU8, dims}; }
/// A type of unsigned integers of 16 bits: 0 to 65535.
inline TensorType u16(std::initializer_list<std::int64_t> dims = {}) { return {DType::kU16, dims}; }
/// A type of unsigned integers of 32 bits: 0 to 2^32 - 1.
inline TensorType u32(std::initializer_list<std::int64_t> dims = {}) { return {DType::kU32, dims}; }
/// A type of unsigned integers of 64 bits: 0 to 2^64 - 1.
inline TensorType u64(std::initializer_list<std::int64_t> dims = {}) { return {DType::kU64, dims}; }
/// A type of IEEE 754 binary16 floats: 11 significant bits, up to 65504.
inline TensorType f16(std::initializer_list<std::int64_t> dims = {}) { return {DType::kF16, dims}; }
/// A type of bfloat16 floats: 8 significant bits, the range of f32.
inline TensorType bf16(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kBF16, dims};
}
/// A type of IEEE 754 binary32 floats: 24 significant bits, up to 3.4e38.
inline TensorType f32(std::initializer_list<std::int64_t> dims = {}) { return {DType::kF32, dims}; }
/// A type of IEEE 754 binary64 floats: 53 significant bits, up to 1.8e308.
inline TensorType f64(std::initializer_list<std::int64_t> dims = {}) { return {DType::kF64, dims}; }
/// A type of complex numbers whose parts are f32.
inline TensorType c64(std::initializer_list<std::int64_t> dims = {}) { return {DType::kC64, dims}; }
/// A type of complex numbers whose parts are f64.
inline TensorType c128(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kC128, dims};
}
/// A type of signed integers of 2 bits: -2 to 1. One is in each byte (see is_small).
inline TensorType s2(std::initializer_list<std::int64_t> dims = {}) { return {DType::kS2, dims}; }
/// A type of unsigned integers of 2 bits: 0 to 3. One is in each byte.
inline TensorType u2(std::initializer_list<std::int64_t> dims = {}) { return {DType::kU2, dims}; }
/// A type of signed integers of 4 bits: -8 to 7. One is in each byte.
inline TensorType s4(std::initializer_list<std::int64_t> dims = {}) { return {DType::kS4, dims}; }
/// A type of unsigned integers of 4 bits: 0 to 15. One is in each byte.
inline TensorType u4(std::initializer_list<std::int64_t> dims = {}) { return {DType::kU4, dims}; }
/// A type of floats of 4 bits, 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, without infinity and
/// NaN (OCP Microscaling Formats 1.0). One is in each byte.
inline TensorType f4e2m1fn(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF4E2M1FN, dims};
}
/// A type of floats of 8 bits, 3 of them for the exponent and 4 for the mantissa: up to 15.5, with
/// infinity and NaN.
inline TensorType f8e3m4(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF8E3M4, dims};
}
/// A type of floats of 8 bits with 4 for the exponent and 3 for the mantissa: up to 240, with
/// infinity and NaN.
inline TensorType f8e4m3(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF8E4M3, dims};
}
/// A type of floats of 8 bits with 4 for the exponent and 3 for the mantissa: up to 448, with NaN
/// but no infinity (Micikevicius et al., FP8 Formats for Deep Learning, 2022).
inline TensorType f8e4m3fn(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF8E4M3FN, dims};
}
/// A type of floats of 8 bits with 4 for the exponent, of bias 11, and 3 for the mantissa: up to
/// 30, with one NaN, no infinity and no negative zero.
inline TensorType f8e4m3b11fnuz(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF8E4M3B11FNUZ, dims};
}
/// A type of floats of 8 bits with 4 for the exponent, of bias 8, and 3 for the mantissa: up to
/// 240, with one NaN, no infinity and no negative zero.
inline TensorType f8e4m3fnuz(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF8E4M3FNUZ, dims};
}
/// A type of floats of 8 bits with 5 for the exponent and 2 for the mantissa: up to 57344, with
/// infinity and NaN (Micikevicius et al., 2022).
inline TensorType f8e5m2(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF8E5M2, dims};
}
/// A type of floats of 8 bits with 5 for the exponent, of bias 16, and 2 for the mantissa: up to
/// 57344, with one NaN, no infinity and no negative zero.
inline TensorType f8e5m2fnuz(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF8E5M2FNUZ, dims};
}

}  // namespace rondo
