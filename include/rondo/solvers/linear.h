// Linear systems whose matrix is given as a function.
//
// Trees hold floats of one dtype, and matvec is a linear function from trees like b to trees like
// b. The derivative with respect to b and everything that matvec captures is that of the solution,
// A dx = db - dA x, by the same solver, of any order and in both modes. Under vmap each lane stops
// by itself.
#pragma once

#include <cstdint>

#include "rondo/detail/leaves.h"
#include "rondo/detail/solvers.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// What conjugate_gradient and gmres return.
template <class T>
struct Linear {
  T x;
  Tensor residual;    // the 2-norm of b - A x; a scalar
  Tensor iterations;  // s32[]: products with A, without that for the residual
  Tensor converged;   // pred[]: whether the residual is within the tolerance
};

/// Options of conjugate_gradient.
struct ConjugateGradientOptions {
  /// Of |b - A x| / |b|. 0: eps^(3/4), with eps the distance of 1 and the next number of the dtype.
  double tolerance = 0;
  /// 0: ten times the number of unknowns, 10 000 at most.
  std::int64_t max_iterations = 0;
};

/// Options of gmres.
struct GmresOptions {
  /// As for conjugate_gradient.
  double tolerance = 0;
  /// As for conjugate_gradient.
  std::int64_t max_iterations = 0;
  /// Vectors that are kept before the method starts again; at most as many as there are unknowns.
  std::int64_t restart = 30;
};

/// x with matvec(x) = b for a symmetric positive definite matvec, by conjugate gradients (Hestenes
/// and Stiefel, 1952) from 0. Throws TraceError for leaves that are no floats or differ in dtype,
/// and if matvec returns other types.
template <class F, TensorTree T>
[[nodiscard("rondo: conjugate_gradient returns the solution; use it")]] Linear<traced_t<T>>
conjugate_gradient(F&& matvec, const T& b, const ConjugateGradientOptions& options = {},
                   SourceLocation at = SourceLocation::current()) {
  const auto right = tree_cast<traced_t<T>>(b, at);
  const detail::SolutionLeaves found = detail::conjugate_gradient(
      detail::solver_function<true>(matvec, right, "conjugate_gradient", at),
      detail::leaves_of(right, "b", at), options, at);
  return {detail::whole_tree_from(right, found.x), found.residual, found.iterations,
          found.converged};
}

/// x with matvec(x) = b for any regular matvec, by GMRES with restarts (Saad and Schultz, 1986)
/// from 0. Its reverse derivative solves with the transpose of matvec. Throws as
/// conjugate_gradient, and for a restart below 1.
template <class F, TensorTree T>
[[nodiscard("rondo: gmres returns the solution; use it")]] Linear<traced_t<T>> gmres(
    F&& matvec, const T& b, const GmresOptions& options = {},
    SourceLocation at = SourceLocation::current()) {
  const auto right = tree_cast<traced_t<T>>(b, at);
  const detail::SolutionLeaves found =
      detail::gmres(detail::solver_function<true>(matvec, right, "gmres", at),
                    detail::leaves_of(right, "b", at), options, at);
  return {detail::whole_tree_from(right, found.x), found.residual, found.iterations,
          found.converged};
}

}  // namespace rondo
