// Rodas3, a stiffly accurate Rosenbrock method of four stages: A. Sandu, J. G. Verwer, J. G. Blom,
// E. J. Spee, G. R. Carmichael, F. A. Potra: Benchmarking stiff ODE solvers for atmospheric
// chemistry problems II, 1997. In the form without products with the Jacobian J,
//
//     (1 / (h g) - J) u_i = f(y + sum a_ij u_j, s + h a_i) + sum c_ij / h u_j + h g_i df/ds
#include <tuple>

#include "rondo/gradients.h"
#include "rondo/ops/arrays.h"
#include "rondo/ops/linear_algebra.h"
#include "rondo/ops/shape.h"
#include "solvers/ode.h"

namespace rondo::solvers {

OdeStep rosenbrock(const SlopeFunction& f, const Tensor& y, const Tensor& slope, const Tensor& s,
                   const Tensor& h) {
  const Tensor jacobian = jacfwd([&](const Tensor& x) { return f(x, s); })(y);
  const Tensor by_time = h * jvp([&](const Tensor& time) { return f(y, time); }, std::tuple(s),
                                 std::tuple(full(s.type(), 1)))
                                 .second;
  const Lu factors = lu(2 / h * eye(y.dim(0), y.dtype()) - jacobian);
  const Tensor first = lu_solve(factors, slope + 0.5 * by_time);
  const Tensor second = lu_solve(factors, slope + 4 / h * first + 1.5 * by_time);
  const Tensor before = y + 2 * first, difference = first - second;
  const Tensor third = lu_solve(factors, f(before, s + h) + difference / h);
  const Tensor last = before + third;
  const Tensor fourth = lu_solve(factors, f(last, s + h) + (difference - 8.0 / 3 * third) / h);
  const Tensor end = last + fourth, end_slope = f(end, s + h);
  return {end, end_slope, fourth, dense_coefficients(y, end, slope, end_slope, h, {})};
}

}  // namespace rondo::solvers
