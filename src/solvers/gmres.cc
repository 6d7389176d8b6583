// Y. Saad, M. H. Schultz: GMRES, a generalized minimal residual algorithm for solving nonsymmetric
// linear systems, 1986. The basis is made orthogonal twice, by products of matrices, and rotations
// keep the least squares problem triangular.
#include "control_flow/linear_solve.h"
#include "fmt/format.h"
#include "rondo/gradients.h"
#include "rondo/loops.h"
#include "rondo/ops/arrays.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/linear_algebra.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"
#include "rondo/solvers/linear.h"
#include "solvers/krylov.h"

namespace rondo::solvers {

namespace {

/// Rows 0 to `size` of the basis [m + 1, n] are orthonormal. `triangle` [m, m] is upper triangular,
/// with columns of the identity from column `size` on; `right` [m + 1] is the right side.
struct Basis {
  Tensor vectors, triangle, cosines, sines, right, size;
};
struct Cycle {
  Tensor x, residual, norm, iterations;
};

class Gmres {
 public:
  Gmres(const VectorFunction& matvec, const Tensor& b, const KrylovLimits& limits,
        SourceLocation at)
      : matvec_(matvec), b_(b), limits_(limits), at_(at), goal_(length_of(b) * limits.tolerance) {}

  std::vector<Tensor> solve() const {
    const auto goes_on = [&](const Cycle& s) {
      return (s.norm > goal_) & (s.iterations < limits_.max_iterations);
    };
    const Cycle end = while_loop(
        goes_on, [&](const Cycle& s) { return cycle(s); },
        Cycle{zeros(b_.type()), b_, length_of(b_), 0}, {.name = "gmres"}, at_);
    return {end.x, end.norm, end.iterations, end.norm <= goal_};
  }

 private:
  Cycle cycle(const Cycle& s) const {
    const std::int64_t m = limits_.restart;
    const DType dtype = b_.dtype();
    const Tensor empty = zeros({dtype, {m + 1, b_.dim(0)}});
    const Basis start{update(empty, 0, s.residual / s.norm),
                      eye(m, dtype),
                      zeros({dtype, {m}}),
                      zeros({dtype, {m}}),
                      update(zeros({dtype, {m + 1}}), 0, s.norm),
                      0};
    const auto goes_on = [&](const Basis& k) {
      return (k.size < m) & (abs(k.right[k.size]) > goal_) &
             (s.iterations + k.size < limits_.max_iterations);
    };
    const Basis end = while_loop(
        goes_on, [&](const Basis& k) { return extended(k); }, start, {.name = "gmres_cycle"}, at_);
    const Tensor known = where(arange(m) < end.size, slice(end.right, {0}, {m}), 0);
    const Tensor weights =
        squeeze(triangular_solve(end.triangle, expand_dims(known, 1), {.lower = false}), {1});
    const Tensor x = s.x + dot(weights, slice(end.vectors, {0, 0}, {m, b_.dim(0)}));
    const Tensor residual = b_ - matvec_(x);
    return {x, residual, length_of(residual), s.iterations + end.size};
  }

  Basis extended(const Basis& k) const {
    const std::int64_t m = limits_.restart;
    Tensor w = matvec_(k.vectors[k.size]);
    const Tensor first = dot(k.vectors, w);
    w = w - dot(first, k.vectors);
    const Tensor second = dot(k.vectors, w);
    w = w - dot(second, k.vectors);
    const Tensor length = length_of(w);
    Tensor column = fori_loop(
        0, k.size,
        [&](Tensor i, Tensor h) {
          const Tensor a = h[i], b = h[i + 1], c = k.cosines[i], s = k.sines[i];
          return update(update(h, i, c * a + s * b), i + 1, c * b - s * a);
        },
        first + second, {.name = "gmres_rotations"}, at_);
    const Tensor diagonal = column[k.size], hypotenuse = hypot(diagonal, length);
    const Tensor is_zero = hypotenuse == 0, divisor = where(is_zero, 1, hypotenuse);
    const Tensor c = where(is_zero, 1, diagonal / divisor), s = length / divisor;
    column = where(arange(m) < k.size, slice(column, {0}, {m}), 0);
    column = update(column, k.size, hypotenuse);
    const Tensor last = k.right[k.size];
    return {update(k.vectors, k.size + 1, where(length == 0, 0, w / length)),
            where(expand_dims(arange(m) == k.size, 0), expand_dims(column, 1), k.triangle),
            update(k.cosines, k.size, c),
            update(k.sines, k.size, s),
            update(update(k.right, k.size, c * last), k.size + 1, -s * last),
            k.size + 1};
  }

  const VectorFunction& matvec_;
  const Tensor& b_;
  const KrylovLimits& limits_;
  SourceLocation at_;
  Tensor goal_;
};

}  // namespace

std::vector<Tensor> solved_by_gmres(const VectorFunction& matvec, const Tensor& b,
                                    const KrylovLimits& limits, SourceLocation at) {
  const KrylovLimits all = limits_for(b, limits);
  const VectorFunction transposed = [&](const Tensor& x) {
    const auto product = [&](const Tensor& v) { return matvec(v); };
    return std::get<0>(vjp(product, zeros(b.type())).second(x));
  };
  return control_flow::linear_solve(
      {.solve = [&](const Tensor& right) { return Gmres(matvec, right, all, at).solve(); },
       .apply = matvec,
       .solve_transposed =
           [&](const Tensor& right) { return Gmres(transposed, right, all, at).solve(); },
       .apply_transposed = transposed},
      b, at);
}

}  // namespace rondo::solvers

namespace rondo::detail {

SolutionLeaves gmres(const RegionCallable& matvec, const Leaves& b, const GmresOptions& options,
                     SourceLocation at) {
  const solvers::SolverCall call("gmres", b, at);
  call.check_tolerance("tolerance", options.tolerance);
  call.check_count("max_iterations", options.max_iterations, 0);
  call.check_count("restart", options.restart, 1);
  const std::vector<Tensor> found =
      solvers::solved_by_gmres(call.endomorphism(matvec, "matvec"), call.vector(),
                               {.tolerance = options.tolerance,
                                .max_iterations = options.max_iterations,
                                .restart = options.restart},
                               call.at());
  return {call.tree(found[0]), found[1], found[2], found[3]};
}

}  // namespace rondo::detail
