// Shared by the tests of the elementwise ops' derivatives.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "rondo/gradients.h"
#include "rondo/rondo.h"
#include "support/derivative_check.h"

// A function as a callable on tensors.
#define RONDO_UNARY(f) [](const Tensor& x) { return f(x); }
#define RONDO_BINARY(f) [](const Tensor& x, const Tensor& y) { return f(x, y); }

namespace rondo::testing {

/// A function of n tensors and points for each, where it is smooth.
template <class T>
struct Row {
  std::string name;
  TensorsFunction f;
  std::vector<std::vector<T>> operands;

  std::vector<Literal> at() const {
    std::vector<Literal> all;
    for (const std::vector<T>& operand : operands) all.push_back(Literal::from(operand));
    return all;
  }
};

template <class T, class F>
Row<T> unary(std::string name, F f, std::vector<T> x) {
  return {std::move(name), of_tensors<1>(f), {std::move(x)}};
}
template <class T, class F>
Row<T> binary(std::string name, F f, std::vector<T> x, std::vector<T> y) {
  return {std::move(name), of_tensors<2>(f), {std::move(x), std::move(y)}};
}
template <class T, class F>
Row<T> ternary(std::string name, F f, std::vector<T> x, std::vector<T> y, std::vector<T> z) {
  return {std::move(name), of_tensors<3>(f), {std::move(x), std::move(y), std::move(z)}};
}

using Scalar1 = Tensor (*)(const Tensor&);
using Scalar2 = Tensor (*)(const Tensor&, const Tensor&);

inline void expect_number(double got, double want, double rtol = 1e-12) {
  if (std::isnan(want))
    EXPECT_TRUE(std::isnan(got)) << got;
  else if (std::isinf(want) || want == 0)
    EXPECT_EQ(got, want);
  else
    EXPECT_LE(std::abs(got - want), rtol * std::abs(want)) << got << " is not " << want;
}
inline double number(const Tensor& x) { return x.eval().item<double>(); }

}  // namespace rondo::testing
