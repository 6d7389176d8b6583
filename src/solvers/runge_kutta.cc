// Explicit methods. J. R. Dormand, P. J. Prince: A family of embedded Runge-Kutta formulae, 1980;
// the interpolant is that of E. Hairer and G. Wanner's code DOPRI5, after L. F. Shampine: Some
// practical Runge-Kutta formulas, 1986.
#include <array>

#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"
#include "solvers/ode.h"

namespace rondo::solvers {

Tensor dense_coefficients(const Tensor& y, const Tensor& end, const Tensor& slope,
                          const Tensor& end_slope, const Tensor& h, const Tensor& bend) {
  const Tensor moved = end - y, from_start = h * slope - moved;
  return stack({y, moved, from_start, moved - h * end_slope - from_start,
                bend.empty() ? zeros(y.type()) : bend},
               0);
}

Tensor between(const Tensor& dense, const Tensor& theta) {
  const Tensor rest = 1 - theta;
  return dense[0] + theta * (dense[1] + rest * (dense[2] + theta * (dense[3] + rest * dense[4])));
}

namespace {

/// The sum of weights[i] k[i], without those that are 0.
template <std::size_t kWeights>
Tensor weighted(const std::array<double, kWeights>& weights, const std::array<Tensor, 7>& k) {
  Tensor sum;
  for (std::size_t i = 0; i < kWeights; i++) {
    if (weights[i] == 0) continue;
    const Tensor term = weights[i] * k[i];
    sum = sum.empty() ? term : sum + term;
  }
  return sum;
}

}  // namespace

OdeStep dormand_prince(const SlopeFunction& f, const Tensor& y, const Tensor& slope,
                       const Tensor& s, const Tensor& h) {
  std::array<Tensor, 7> k{slope};
  k[1] = f(y + h * weighted(std::array{1.0 / 5}, k), s + h * (1.0 / 5));
  k[2] = f(y + h * weighted(std::array{3.0 / 40, 9.0 / 40}, k), s + h * (3.0 / 10));
  k[3] = f(y + h * weighted(std::array{44.0 / 45, -56.0 / 15, 32.0 / 9}, k), s + h * (4.0 / 5));
  k[4] =
      f(y + h * weighted(std::array{19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
                         k),
        s + h * (8.0 / 9));
  k[5] = f(y + h * weighted(std::array{9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176,
                                       -5103.0 / 18656},
                            k),
           s + h);
  const Tensor end = y + h * weighted(std::array{35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192,
                                                 -2187.0 / 6784, 11.0 / 84},
                                      k);
  k[6] = f(end, s + h);
  const Tensor error = h * weighted(std::array{71.0 / 57600, 0.0, -71.0 / 16695, 71.0 / 1920,
                                               -17253.0 / 339200, 22.0 / 525, -1.0 / 40},
                                    k);
  const Tensor bend =
      h * weighted(std::array{-12715105075.0 / 11282082432, 0.0, 87487479700.0 / 32700410799,
                              -10690763975.0 / 1880347072, 701980252875.0 / 199316789632,
                              -1453857185.0 / 822651844, 69997945.0 / 29380423},
                   k);
  return {end, k[6], error, dense_coefficients(y, end, slope, k[6], h, bend)};
}

OdeStep runge_kutta4(const SlopeFunction& f, const Tensor& y, const Tensor& slope, const Tensor& s,
                     const Tensor& h) {
  const Tensor half = h / 2, middle = s + half;
  const Tensor second = f(y + half * slope, middle), third = f(y + half * second, middle);
  const Tensor fourth = f(y + h * third, s + h);
  const Tensor end = y + h / 6 * (slope + 2 * second + 2 * third + fourth);
  const Tensor end_slope = f(end, s + h);
  return {end, end_slope, {}, dense_coefficients(y, end, slope, end_slope, h, {})};
}

}  // namespace rondo::solvers
