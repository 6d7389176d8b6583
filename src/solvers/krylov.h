// Iterative solutions of linear systems, on vectors.
#pragma once

#include <cstdint>
#include <vector>

#include "rondo/tensor.h"
#include "solvers/vectors.h"

namespace rondo::solvers {

struct KrylovLimits {
  double tolerance = 0;  // of |b - A x| / |b|
  std::int64_t max_iterations = 0;
  std::int64_t restart = 30;  // of GMRES
};
/// With 0 replaced by the defaults for this vector, which the options' docstrings give.
KrylovLimits limits_for(const Tensor& b, KrylovLimits limits);

/// x of A x = b, the norm of the residual, the number of products, and whether that converged. The
/// derivative is that of the solution.
std::vector<Tensor> solved_by_conjugate_gradient(const VectorFunction& matvec, const Tensor& b,
                                                 const KrylovLimits& limits, SourceLocation at);
std::vector<Tensor> solved_by_gmres(const VectorFunction& matvec, const Tensor& b,
                                    const KrylovLimits& limits, SourceLocation at);

}  // namespace rondo::solvers
