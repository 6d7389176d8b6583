// Minima of functions of trees.
//
// Trees hold floats of one dtype. The derivative of a minimum x with respect to everything that the
// function captures is that of the equation it solves, gradient = 0: dx/dp = -H^-1 d(gradient)/dp
// with the Hessian H, which must be regular there. It is exact to any order, in both modes, does
// not depend on the iteration, nor on the start, and is computed at the x that was found, converged
// or not. With more than 64 numbers H is not made: its products serve conjugate gradients. Under
// vmap each lane stops by itself.
#pragma once

#include <cstdint>

#include "rondo/detail/leaves.h"
#include "rondo/detail/solvers.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// What minimize and least_squares return.
template <class T>
struct Minimum {
  T x;
  Tensor value;       // f(x), or half the sum of the squared residuals; a scalar
  Tensor iterations;  // s32[]
  Tensor converged;   // pred[]: whether a tolerance was reached
};

/// The method of minimize.
enum class Minimizer : std::uint8_t {
  /// L-BFGS (Nocedal, 1980) with steps that satisfy Wolfe's conditions, by bisection (Lewis and
  /// Overton, 2013).
  kLbfgs,
  /// Kingma and Ba (2015), with the usual decay rates 0.9 and 0.999 and 1e-8.
  kAdam,
  /// x - learning_rate * gradient.
  kGradientDescent,
};

/// Options of minimize. It throws TraceError for max_iterations or history below 1, a learning rate
/// that is not positive and finite, and a negative tolerance.
struct MinimizeOptions {
  Minimizer method = Minimizer::kLbfgs;
  std::int64_t max_iterations = 1000;
  /// Of the largest number of the gradient. 0: the root of eps, the distance of 1 and the next
  /// number of the dtype.
  double gradient_tolerance = 0;
  double learning_rate = 0.01;  // of kAdam and kGradientDescent
  std::int64_t history = 10;    // steps that kLbfgs keeps
};

/// The method of least_squares.
enum class LeastSquares : std::uint8_t {
  /// Damped steps, with the scaling of Moré (1978) and the damping of Nielsen (1999).
  kLevenbergMarquardt,
  /// Full steps: for residuals that are nearly linear, or small. Needs as many as unknowns.
  kGaussNewton,
};

/// Options of least_squares.
struct LeastSquaresOptions {
  LeastSquares method = LeastSquares::kLevenbergMarquardt;
  std::int64_t max_iterations = 200;
  /// Of the largest cosine of the angle of the residuals and a column of their Jacobian. 0: the
  /// root of eps.
  double gradient_tolerance = 0;
  /// Of a step, relative to x, both scaled by the norms of the Jacobian's columns. 0: the root of
  /// eps.
  double step_tolerance = 0;
};

/// A local minimum of f, which returns one float scalar, from x0. kLbfgs also ends, without having
/// converged, if it finds no smaller value along its direction. Throws TraceError if f returns no
/// scalar of the dtype of x0, for leaves that are no floats or differ in dtype, and for options out
/// of range.
///
///     auto best = minimize([](Tensor x) { return sum(square(x - 1)); }, zeros(f64({3})));
template <class F, TensorTree T>
[[nodiscard("rondo: minimize returns the minimum; use it")]] Minimum<traced_t<T>> minimize(
    F&& f, const T& x0, const MinimizeOptions& options = {},
    SourceLocation at = SourceLocation::current()) {
  const auto start = tree_cast<traced_t<T>>(x0, at);
  const detail::MinimumLeaves found =
      detail::minimize(detail::solver_function<false>(f, start, "minimize", at),
                       detail::leaves_of(start, "x0", at), options, at);
  return {detail::whole_tree_from(start, found.x), found.value, found.iterations, found.converged};
}

/// A local minimum of half the sum of the squares of all numbers that `residuals` returns, a tree
/// of floats of the dtype of x0. The Jacobian is computed by forward mode. Throws as minimize.
///
///     auto fit = least_squares([&](Line p) { return p.slope * t + p.offset - y; }, Line{1.0,
///     0.0});
template <class F, TensorTree T>
[[nodiscard("rondo: least_squares returns the minimum; use it")]] Minimum<traced_t<T>>
least_squares(F&& residuals, const T& x0, const LeastSquaresOptions& options = {},
              SourceLocation at = SourceLocation::current()) {
  const auto start = tree_cast<traced_t<T>>(x0, at);
  const detail::MinimumLeaves found =
      detail::least_squares(detail::solver_function<false>(residuals, start, "least_squares", at),
                            detail::leaves_of(start, "x0", at), options, at);
  return {detail::whole_tree_from(start, found.x), found.value, found.iterations, found.converged};
}

}  // namespace rondo
