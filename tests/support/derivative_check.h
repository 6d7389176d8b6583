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

/// Maps arguments to results.
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

/// The precision: step and tolerances, whatever the dtype.
struct DerivativeCheck {
  int order = 2;
  double step = 1e-6;
  double rtol = 1e-6;  // of the largest number in the compared array
  double atol = 1e-8;
  std::uint64_t seed = 1;  // of the directions
};

/// The errors in the derivatives of f at these arguments, forward and reverse, "" if there are
/// none: rondo::check_grads on vectors of tensors, which does not throw if derivatives differ.
std::string derivative_error(const TensorsFunction& f, const std::vector<Literal>& at,
                             const DerivativeCheck& check = {});

}  // namespace rondo::testing
