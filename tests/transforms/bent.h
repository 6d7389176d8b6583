// Programs in which the derivatives of linear ops are visible.
#pragma once

#include <complex>
#include <random>
#include <utility>
#include <vector>

#include "rondo/rondo.h"
#include "support/derivative_check.h"

namespace rondo::testing {

/// y * y for each result y of op(sin(x)): a linear op then has second derivatives too.
inline TensorsFunction bent(TensorsFunction op) {
  return [op = std::move(op)](const std::vector<Tensor>& x) {
    std::vector<Tensor> sines;
    for (const Tensor& array : x) sines.push_back(sin(array));
    std::vector<Tensor> results = op(sines);
    for (Tensor& y : results) y = y * y;
    return results;
  };
}

/// Numbers in [-1, 1), or with both parts in it, the same for the same seed.
inline Literal random_array(const TensorType& type, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> distribution(-1, 1);
  const auto count = static_cast<std::size_t>(type.elements());
  if (is_complex(type.dtype)) {
    std::vector<std::complex<double>> values(count);
    for (auto& value : values) value = {distribution(engine), distribution(engine)};
    return Literal::from(values, type.shape);
  }
  std::vector<double> values(count);
  for (double& value : values) value = distribution(engine);
  return Literal::from(values, type.shape);
}

/// sum(x * {1, 10, 100, ...}), whose gradient shows the positions of elements.
inline Tensor weighed(const Tensor& x) {
  return sum(x * slice(constant({1.0, 10.0, 100.0, 1000.0, 10000.0}), {0}, {x.shape()[0]}));
}

}  // namespace rondo::testing
