// Values at which ops are likely to be wrong, in every dtype.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "base/for_dtype.h"
#include "xla/check.h"

namespace rondo::testing {

/// Numbers up to 100, zeros of both signs, infinities, NaN, and the ends of the normal range. No
/// denormals, which XLA flushes.
inline std::vector<double> edge_reals(DType dtype) {
  const double inf = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values = {0.0,   -0.0,  1.0,  -1.0,         0.5,   -0.5,  1.5,  2.5,   -2.5,
                                0.1,   -0.75, 3.75, -3.75,        10.25, -20.0, 88.0, 100.0, 1e-3,
                                -1e-3, 0.25,  -7.0, 0.9990234375, inf,   -inf,  nan};
  const double least = dtype == DType::kF16                            ? 0x1p-14
                       : dtype == DType::kF64 || dtype == DType::kC128 ? 0x1p-1022
                                                                       : 0x1p-126;
  const double most = dtype == DType::kF16    ? 65504
                      : dtype == DType::kBF16 ? 0x1.fep127
                      : dtype == DType::kF64
                          ? std::numeric_limits<double>::max()
                          : static_cast<double>(std::numeric_limits<float>::max());
  for (const double value : {least, most}) values.insert(values.end(), {value, -value});
  return values;
}

/// A vector of edge values of the dtype.
inline Literal edge_values(DType dtype) {
  return for_dtype(dtype, [&]<class T>() -> Literal {
    if constexpr (std::is_same_v<T, bool>) {
      return Literal::from({false, true}, {2});
    } else if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      std::vector<T> values = {0,
                               1,
                               2,
                               3,
                               5,
                               7,
                               8,
                               31,
                               100,
                               Limits::max(),
                               Limits::max() / 2,
                               Limits::min(),
                               T(Limits::min() + 1)};
      if constexpr (std::is_signed_v<T>)
        values.insert(values.end(), {T(-1), T(-2), T(-3), T(-8), T(-100)});
      return Literal::from(values);
    } else if constexpr (is_complex(dtype_of<T>)) {
      using Part = typename T::value_type;
      const std::vector<Part> parts = {Part(0), Part(1), Part(-1), Part(0.5), Part(-2.5), Part(4)};
      std::vector<T> values;
      for (const Part re : parts) {
        for (const Part im : parts) values.emplace_back(re, im);
      }
      return Literal::from(values);
    } else {
      std::vector<T> values;
      for (const double value : edge_reals(dtype)) values.push_back(static_cast<T>(value));
      return Literal::from(values);
    }
  });
}

/// All pairs of edge values, as two vectors.
inline std::pair<Literal, Literal> edge_pairs(DType dtype) {
  const Tensor values(edge_values(dtype));
  const std::int64_t n = values.dim(0);
  const Tensor first = reshape(broadcast_to(expand_dims(values, 1), {n, n}), {n * n});
  const Tensor second = reshape(broadcast_to(values, {n, n}), {n * n});
  return {first.eval(), second.eval()};
}

inline const std::vector<DType> kFloats = {DType::kF16, DType::kBF16, DType::kF32, DType::kF64};
inline const std::vector<DType> kComplexes = {DType::kC64, DType::kC128};
inline const std::vector<DType> kIntegers = {DType::kS8, DType::kS16, DType::kS32, DType::kS64,
                                             DType::kU8, DType::kU16, DType::kU32, DType::kU64};
inline const std::vector<DType> kPredOnly = {DType::kPred};

inline std::vector<DType> operator+(std::vector<DType> a, const std::vector<DType>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
inline const std::vector<DType> kNumbers = kIntegers + kFloats + kComplexes;
inline const std::vector<DType> kOrdered = kPredOnly + kIntegers + kFloats;

}  // namespace rondo::testing
