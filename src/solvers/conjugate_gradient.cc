// M. R. Hestenes, E. Stiefel: Methods of conjugate gradients for solving linear systems, 1952.
#include "control_flow/linear_solve.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"
#include "rondo/solvers/linear.h"
#include "solvers/krylov.h"

namespace rondo::solvers {

namespace {

/// `square` is |residual|^2.
struct ConjugateState {
  Tensor x, residual, direction, square, iterations;
};

std::vector<Tensor> descend(const VectorFunction& matvec, const Tensor& b,
                            const KrylovLimits& limits, SourceLocation at) {
  const Tensor square = dot(b, b);
  const Tensor goal = square * (limits.tolerance * limits.tolerance);
  const auto goes_on = [&](const ConjugateState& s) {
    return (s.square > goal) & (s.iterations < limits.max_iterations);
  };
  const auto step = [&](const ConjugateState& s) {
    const Tensor product = matvec(s.direction);
    const Tensor length = s.square / dot(s.direction, product);
    const Tensor residual = s.residual - length * product;
    const Tensor next = dot(residual, residual);
    return ConjugateState{s.x + length * s.direction, residual,
                          residual + next / s.square * s.direction, next, s.iterations + 1};
  };
  const ConjugateState end =
      while_loop(goes_on, step, ConjugateState{zeros(b.type()), b, b, square, 0},
                 {.name = "conjugate_gradient"}, at);
  return {end.x, length_of(b - matvec(end.x)), end.iterations, end.square <= goal};
}

}  // namespace

std::vector<Tensor> solved_by_conjugate_gradient(const VectorFunction& matvec, const Tensor& b,
                                                 const KrylovLimits& limits, SourceLocation at) {
  const KrylovLimits all = limits_for(b, limits);
  return control_flow::linear_solve(
      {.solve = [&](const Tensor& right) { return descend(matvec, right, all, at); },
       .apply = matvec},
      b, at);
}

}  // namespace rondo::solvers

namespace rondo::detail {

SolutionLeaves conjugate_gradient(const RegionCallable& matvec, const Leaves& b,
                                  const ConjugateGradientOptions& options, SourceLocation at) {
  const solvers::SolverCall call("conjugate_gradient", b, at);
  call.check_tolerance("tolerance", options.tolerance);
  call.check_count("max_iterations", options.max_iterations, 0);
  const std::vector<Tensor> found = solvers::solved_by_conjugate_gradient(
      call.endomorphism(matvec, "matvec"), call.vector(),
      {.tolerance = options.tolerance, .max_iterations = options.max_iterations}, call.at());
  return {call.tree(found[0]), found[1], found[2], found[3]};
}

}  // namespace rondo::detail
