// The methods of minimize, on vectors. Each returns x, the number of iterations, and whether the
// gradient is within the tolerance.
#pragma once

#include <vector>

#include "rondo/solvers/minimize.h"
#include "solvers/vectors.h"

namespace rondo::solvers {

/// The options with 0 replaced by the defaults of the dtype.
struct Descent {
  const SolverCall& call;
  const VectorFunction& f;
  MinimizeOptions options;

  /// pred[]: whether the method may stop here.
  Tensor is_flat(const Tensor& gradient) const {
    return largest(gradient) <= options.gradient_tolerance;
  }
};

std::vector<Tensor> lbfgs(const Descent& descent);
std::vector<Tensor> adam(const Descent& descent);
std::vector<Tensor> gradient_descent(const Descent& descent);

}  // namespace rondo::solvers
