// Roots and fixed points of functions of trees.
//
// Trees hold floats of one dtype. The derivative of a solution x with respect to everything that
// the function captures is that of the equation it solves, f(x, p) = 0: dx/dp = -(df/dx)^-1 df/dp,
// of any order, in both modes. It does not depend on the iteration, nor on the start, and is
// computed at the x that was found, converged or not. Under vmap each lane stops by itself.
#pragma once

#include <cstdint>

#include "rondo/detail/leaves.h"
#include "rondo/detail/solvers.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// What find_root and fixed_point return.
template <class T>
struct Root {
  T x;
  Tensor residual;    // the largest |f(x)|, or |f(x) - x| of a fixed point; a scalar
  Tensor iterations;  // s32[]
  Tensor converged;   // pred[]
};

/// The method of find_root.
enum class RootFinder : std::uint8_t {
  /// Newton's method, with the Jacobian by forward mode and a step that is halved until |f|
  /// decreases.
  kNewton,
  /// Halves an interval at whose ends f has different signs: for a tree of one number.
  kBisection,
};

/// The ends of an interval, in any order: scalars or tensors of one element.
struct Bracket {
  Tensor lo = {};
  Tensor hi = {};
};

/// Options of find_root.
struct RootOptions {
  RootFinder method = RootFinder::kNewton;
  /// Required for kBisection, and for that only.
  Bracket bracket = {};
  /// kNewton: of the largest |f(x)|. kBisection: of half the width of the interval. 0: as far as
  /// the dtype permits. For kNewton that is until a step is less than the root of eps, relative to
  /// x, so that the error at a simple root is about eps, the distance of 1 and the next number; or
  /// until |f(x)| is below eps^2. For kBisection it is until no number is left between the ends.
  double tolerance = 0;
  std::int64_t max_iterations = 100;
};

/// Options of fixed_point.
struct FixedPointOptions {
  /// Of the largest |f(x) - x|, relative to the largest |x| if that exceeds 1. 0: 8 eps.
  double tolerance = 0;
  std::int64_t max_iterations = 1000;
};

/// x with f(x) = 0, from x0. f returns a tree like x0. kNewton also ends if no part of a step makes
/// |f| less, which counts as converged if the step was less than the root of eps. kBisection does
/// not use x0's values; without a change of sign x is NaN and `converged` false.
///
/// Throws TraceError for leaves that are no floats or differ in dtype, if f returns other types,
/// for a bracket that is missing, and for kBisection of a tree with more than one number.
///
///     auto root = find_root([](Tensor x) { return x * x - 2; }, 1.0);
template <class F, TensorTree T>
[[nodiscard("rondo: find_root returns the root; use it")]] Root<traced_t<T>> find_root(
    F&& f, const T& x0, const RootOptions& options = {},
    SourceLocation at = SourceLocation::current()) {
  const auto start = tree_cast<traced_t<T>>(x0, at);
  const detail::SolutionLeaves found =
      detail::find_root(detail::solver_function<true>(f, start, "find_root", at),
                        detail::leaves_of(start, "x0", at), options, at);
  return {detail::whole_tree_from(start, found.x), found.residual, found.iterations,
          found.converged};
}

/// x with f(x) = x, by x = f(x) from x0. f returns a tree like x0. Throws as find_root.
template <class F, TensorTree T>
[[nodiscard("rondo: fixed_point returns the point; use it")]] Root<traced_t<T>> fixed_point(
    F&& f, const T& x0, const FixedPointOptions& options = {},
    SourceLocation at = SourceLocation::current()) {
  const auto start = tree_cast<traced_t<T>>(x0, at);
  const detail::SolutionLeaves found =
      detail::fixed_point(detail::solver_function<true>(f, start, "fixed_point", at),
                          detail::leaves_of(start, "x0", at), options, at);
  return {detail::whole_tree_from(start, found.x), found.residual, found.iterations,
          found.converged};
}

}  // namespace rondo
