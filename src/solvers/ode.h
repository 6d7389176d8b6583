// The methods of odeint, on vectors.
#pragma once

#include <functional>
#include <memory>

#include "rondo/tensor.h"
#include "solvers/vectors.h"

namespace rondo::solvers {

/// dy/ds for a vector and the distance s from the first time, which is positive.
using SlopeFunction = std::function<Tensor(const Tensor& y, const Tensor& s)>;

/// One step from s to s + h. `dense` [5, n] holds the coefficients of the solution between, for
/// between(); `error` estimates that of y, and is empty for a method with fixed steps.
struct OdeStep {
  Tensor y, slope, error, dense;
};

/// How an adaptive method changes its step by the size e of its error, relative to the tolerance:
/// by 0.9 e^-exponent last^memory, where `last` is the size before.
struct OdeControl {
  double exponent = 0, memory = 0;
};

/// `slope` is dy/ds at y, s.
using OdeMethod = std::function<OdeStep(const SlopeFunction& f, const Tensor& y,
                                        const Tensor& slope, const Tensor& s, const Tensor& h)>;

OdeStep dormand_prince(const SlopeFunction& f, const Tensor& y, const Tensor& slope,
                       const Tensor& s, const Tensor& h);
OdeStep runge_kutta4(const SlopeFunction& f, const Tensor& y, const Tensor& slope, const Tensor& s,
                     const Tensor& h);
OdeStep rosenbrock(const SlopeFunction& f, const Tensor& y, const Tensor& slope, const Tensor& s,
                   const Tensor& h);

/// The coefficients of a polynomial of degree 4 with the values and slopes of both ends; `bend` is
/// what it has beside the cubic one, empty for 0.
Tensor dense_coefficients(const Tensor& y, const Tensor& end, const Tensor& slope,
                          const Tensor& end_slope, const Tensor& h, const Tensor& bend);
/// The polynomial at the part `theta` of the step, from 0 to 1.
Tensor between(const Tensor& dense, const Tensor& theta);

}  // namespace rondo::solvers
