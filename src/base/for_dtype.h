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
/// `for_dtype(t, [&]<class T>() { ... })`.
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
  }
  throw InternalError("there is no dtype of number " + std::to_string(static_cast<int>(dtype)));
}

}  // namespace rondo
