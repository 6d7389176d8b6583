// Shared by the tests against real XLA.
#pragma once

#include <cstdint>
#include <vector>

#include "rondo/rondo.h"
#include "support/xla.h"

namespace rondo::testing {

inline constexpr Tolerance kDoubles{.rtol = 1e-11, .atol = 1e-13};

inline constexpr DType kAllDTypes[] = {DType::kPred, DType::kS8,  DType::kS16,  DType::kS32,
                                       DType::kS64,  DType::kU8,  DType::kU16,  DType::kU32,
                                       DType::kU64,  DType::kF16, DType::kBF16, DType::kF32,
                                       DType::kF64,  DType::kC64, DType::kC128};

/// 0, 1, 2, ... in any dtype; false, true, false, ... in pred.
inline Literal counting(const TensorType& type) {
  Tensor numbers = reshape(arange(type.elements(), DType::kS32), type.shape.vector());
  if (type.dtype == DType::kPred) numbers = numbers % 2;
  return convert(numbers, type.dtype).eval();
}

/// The program that `f` records for arguments of these types gives the same results on all
/// executors.
template <class F, class... Literals>
void check(F&& f, const Literals&... arguments) {
  expect_same_as_xla(trace(f, arguments...), {arguments...});
}

template <class T>
Literal row(std::initializer_list<T> values) {
  return Literal::from(values, {static_cast<std::int64_t>(values.size())});
}

}  // namespace rondo::testing
