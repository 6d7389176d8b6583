#include "solvers/krylov.h"

#include <algorithm>
#include <cmath>

namespace rondo::solvers {

KrylovLimits limits_for(const Tensor& b, KrylovLimits limits) {
  if (limits.tolerance == 0) limits.tolerance = std::pow(unit_of(b.dtype()), 0.75);
  if (limits.max_iterations == 0)
    limits.max_iterations = std::min<std::int64_t>(10 * b.dim(0), 10'000);
  limits.restart = std::min(limits.restart, b.dim(0));
  return limits;
}

}  // namespace rondo::solvers
