// The methods of odeint, on vectors.
#pragma once

#include <functional>

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

/// `slope` is dy/ds at y, s.
using OdeStepFunction = OdeStep (*)(const SlopeFunction& f, const Tensor& y, const Tensor& slope,
                                    const Tensor& s, const Tensor& h);

/// What is known of a method.
struct OdeMethod {
  OdeStepFunction step;
  /// The error of a step of length h is as h^order; 0 for a method with fixed steps.
  double order = 0;
  /// The power of the size of the error before in the length of the next step.
  double memory = 0;
  bool is_adaptive() const { return order > 0; }
};

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
