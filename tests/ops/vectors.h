// Vectors for the tests of elementwise ops.
#pragma once

#include <complex>
#include <limits>
#include <vector>

#include "support/expect.h"

namespace rondo::testing {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A lazy vector.
template <class T>
Tensor vec(const std::vector<T>& values) {
  return Literal::from(values);
}
template <class T>
Tensor vec(std::initializer_list<T> values) {
  return vec(std::vector<T>(values));
}
/// The same from numbers of another type: halves from floats, preds from ints.
template <class T, class From>
Tensor vec_of(const std::vector<From>& values) {
  std::vector<T> converted;
  for (const From& value : values) converted.push_back(T(value));
  return vec(converted);
}

/// Elements of a vector, exactly.
template <class T>
void expect_vec(const Tensor& got, const std::vector<T>& want) {
  expect_values(got, {static_cast<std::int64_t>(want.size())}, want);
}
/// Elements of a vector with the signs of zeros (NaN equals NaN).
template <class T>
void expect_signed(const Tensor& got, const std::vector<T>& want) {
  expect_vec(got, want);
  const Literal value = got.eval();
  for (std::size_t i = 0; i < want.size(); i++) {
    if (want[i] == 0) {
      EXPECT_EQ(std::signbit(value.data<T>()[i]), std::signbit(want[i])) << "sign of element " << i;
    }
  }
}

/// Parts of complex numbers within rtol each.
template <class T>
void expect_complex(const Tensor& got, const std::vector<std::complex<T>>& want, double rtol = 0) {
  const std::int64_t n = static_cast<std::int64_t>(want.size());
  std::vector<T> re, im;
  for (const auto& z : want) re.push_back(z.real()), im.push_back(z.imag());
  ASSERT_EQ(got.type(), (TensorType{dtype_of<std::complex<T>>, {n}}));
  expect_close(real(got), {n}, re, rtol);
  expect_close(imag(got), {n}, im, rtol);
}

}  // namespace rondo::testing
