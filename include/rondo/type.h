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

RONDO_API std::ostream& operator<<(std::ostream& out, const TensorType& type);
RONDO_API std::ostream& operator<<(std::ostream& out, const Shape& shape);
RONDO_API std::ostream& operator<<(std::ostream& out, DType dtype);

// A type for each dtype: `f32({2, 3})`; no dimensions give a scalar.
inline TensorType pred(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kPred, dims};
}
inline TensorType s8(std::initializer_list<std::int64_t> dims = {}) { return {DType::kS8, dims}; }
inline TensorType s16(std::initializer_list<std::int64_t> dims = {}) { return {DType::kS16, dims}; }
inline TensorType s32(std::initializer_list<std::int64_t> dims = {}) { return {DType::kS32, dims}; }
inline TensorType s64(std::initializer_list<std::int64_t> dims = {}) { return {DType::kS64, dims}; }
inline TensorType u8(std::initializer_list<std::int64_t> dims = {}) { return {DType::kU8, dims}; }
inline TensorType u16(std::initializer_list<std::int64_t> dims = {}) { return {DType::kU16, dims}; }
inline TensorType u32(std::initializer_list<std::int64_t> dims = {}) { return {DType::kU32, dims}; }
inline TensorType u64(std::initializer_list<std::int64_t> dims = {}) { return {DType::kU64, dims}; }
inline TensorType f16(std::initializer_list<std::int64_t> dims = {}) { return {DType::kF16, dims}; }
inline TensorType bf16(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kBF16, dims};
}
inline TensorType f32(std::initializer_list<std::int64_t> dims = {}) { return {DType::kF32, dims}; }
inline TensorType f64(std::initializer_list<std::int64_t> dims = {}) { return {DType::kF64, dims}; }
inline TensorType c64(std::initializer_list<std::int64_t> dims = {}) { return {DType::kC64, dims}; }
inline TensorType c128(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kC128, dims};
}
inline TensorType s2(std::initializer_list<std::int64_t> dims = {}) { return {DType::kS2, dims}; }
inline TensorType u2(std::initializer_list<std::int64_t> dims = {}) { return {DType::kU2, dims}; }
inline TensorType s4(std::initializer_list<std::int64_t> dims = {}) { return {DType::kS4, dims}; }
inline TensorType u4(std::initializer_list<std::int64_t> dims = {}) { return {DType::kU4, dims}; }
inline TensorType f4e2m1fn(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF4E2M1FN, dims};
}
inline TensorType f8e3m4(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF8E3M4, dims};
}
inline TensorType f8e4m3(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF8E4M3, dims};
}
inline TensorType f8e4m3fn(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF8E4M3FN, dims};
}
inline TensorType f8e4m3b11fnuz(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF8E4M3B11FNUZ, dims};
}
inline TensorType f8e4m3fnuz(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF8E4M3FNUZ, dims};
}
inline TensorType f8e5m2(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF8E5M2, dims};
}
inline TensorType f8e5m2fnuz(std::initializer_list<std::int64_t> dims = {}) {
  return {DType::kF8E5M2FNUZ, dims};
}

}  // namespace rondo
