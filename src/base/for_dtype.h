// From a dtype to its host type.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <utility>

#include "rondo/dtype.h"
#include "rondo/error.h"

namespace rondo {

/// Calls `f.template operator()<T>()` with the host type of the dtype (pred is bool):
/// `for_dtype(t, [&]<class T>() { ... })`. For code that computes: not of a small dtype.
template <class F>
constexpr decltype(auto) for_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kPred:
      return f.template operator()<bool>();
    case DType::kS8:
      return f.template operator()<std::int8_t>();
    case DType::kS16:
      return f.template operator()<std::int16_t>();
    case DType::kS32:
      return f.template operator()<std::int32_t>();
    case DType::kS64:
      return f.template operator()<std::int64_t>();
    case DType::kU8:
      return f.template operator()<std::uint8_t>();
    case DType::kU16:
      return f.template operator()<std::uint16_t>();
    case DType::kU32:
      return f.template operator()<std::uint32_t>();
    case DType::kU64:
      return f.template operator()<std::uint64_t>();
    case DType::kF16:
      return f.template operator()<float16>();
    case DType::kBF16:
      return f.template operator()<bfloat16>();
    case DType::kF32:
      return f.template operator()<float>();
    case DType::kF64:
      return f.template operator()<double>();
    case DType::kC64:
      return f.template operator()<std::complex<float>>();
    case DType::kC128:
      return f.template operator()<std::complex<double>>();
    default:
      break;
  }
  throw InternalError("nothing computes in the dtype of number " +
                      std::to_string(static_cast<int>(dtype)));
}

/// The unsigned integers of 1, 2, 4 or 8 bytes.
constexpr DType unsigned_dtype(std::int64_t bytes) {
  return bytes == 1   ? DType::kU8
         : bytes == 2 ? DType::kU16
         : bytes == 4 ? DType::kU32
                      : DType::kU64;
}

/// The least and the greatest number of an integer dtype.
struct IntegerLimits {
  std::int64_t least;
  std::uint64_t greatest;
};
constexpr IntegerLimits integer_limits(DType dtype) {
  const auto bits = static_cast<int>(bit_width(dtype));
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
  if (is_unsigned_integer(dtype)) return {0, all};
  return {-static_cast<std::int64_t>(all / 2) - 1, all / 2};
}

/// The same for every dtype: for code that reads or writes elements.
template <class F>
constexpr decltype(auto) for_any_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kS2:
      return f.template operator()<SmallNumber<DType::kS2>>();
    case DType::kU2:
      return f.template operator()<SmallNumber<DType::kU2>>();
    case DType::kS4:
      return f.template operator()<SmallNumber<DType::kS4>>();
    case DType::kU4:
      return f.template operator()<SmallNumber<DType::kU4>>();
    case DType::kF4E2M1FN:
      return f.template operator()<SmallNumber<DType::kF4E2M1FN>>();
    case DType::kF8E3M4:
      return f.template operator()<SmallNumber<DType::kF8E3M4>>();
    case DType::kF8E4M3:
      return f.template operator()<SmallNumber<DType::kF8E4M3>>();
    case DType::kF8E4M3FN:
      return f.template operator()<SmallNumber<DType::kF8E4M3FN>>();
    case DType::kF8E4M3B11FNUZ:
      return f.template operator()<SmallNumber<DType::kF8E4M3B11FNUZ>>();
    case DType::kF8E4M3FNUZ:
      return f.template operator()<SmallNumber<DType::kF8E4M3FNUZ>>();
    case DType::kF8E5M2:
      return f.template operator()<SmallNumber<DType::kF8E5M2>>();
    case DType::kF8E5M2FNUZ:
      return f.template operator()<SmallNumber<DType::kF8E5M2FNUZ>>();
    default:
      return for_dtype(dtype, f);
  }
}

}  // namespace rondo
