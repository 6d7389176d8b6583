// Derivatives of any order against finite differences.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "rondo/literal.h"
#include "rondo/tensor.h"

namespace rondo::testing {

/// Arguments to results.
using TensorsFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// A callable on n tensors that returns one, as a TensorsFunction.
template <std::size_t n, class F>
TensorsFunction of_tensors(F f) {
  return [f](const std::vector<Tensor>& x) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return std::vector<Tensor>{f(x[i]...)};
    }
    (std::make_index_sequence<n>());
  };
}

struct DerivativeCheck {
  int order = 2;
  double step = 1e-6;
  // Against the largest number in the compared array and in the function's results.
  double rtol = 1e-6;
  double atol = 1e-8;
  std::uint64_t seed = 1;  // of the directions
};

/// What is wrong with the derivatives of f at these arguments, "" if nothing is. Floats must be f64
/// and complex numbers c128; integers and preds are held fixed.
///
/// Compares the tangent along a random direction with the central difference, the pullback of a
/// random cotangent with the tangent (both give the same scalar), and then, up to the order asked
/// for, does the same with the tangent and with the pullback as functions of the arguments: forward
/// over forward, reverse over forward, forward over reverse, reverse over reverse.
std::string derivative_error(const TensorsFunction& f, const std::vector<Literal>& at,
                             const DerivativeCheck& check = {});

}  // namespace rondo::testing
