#include "solvers/roots.h"

#include <cmath>
#include <limits>

#include "control_flow/implicit_root.h"
#include "fmt/format.h"
#include "ops/support.h"
#include "rondo/gradients.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/linear_algebra.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"
#include "rondo/solvers/roots.h"
#include "solvers/krylov.h"

namespace rondo::solvers {

std::vector<Tensor> differentiable_root(const std::function<std::vector<Tensor>()>& solve,
                                        const VectorFunction& residual, const SolverCall& call,
                                        JacobianKind kind) {
  control_flow::RootEquation equation{solve, residual};
  if (call.size() > kWholeJacobian) {
    equation.correction = [&](const Tensor& x, const Tensor& r) {
      const VectorFunction product = [&](const Tensor& v) {
        return jvp([&](const Tensor& at) { return residual(at); }, std::tuple(x), std::tuple(v))
            .second;
      };
      return kind == JacobianKind::kSymmetric
                 ? solved_by_conjugate_gradient(product, r, {}, call.at())[0]
                 : solved_by_gmres(product, r, {}, call.at())[0];
    };
  }
  return control_flow::implicit_root(equation, call.vector().type(), call.at());
}

Tensor gradient_of(const VectorFunction& f, const Tensor& x) {
  return grad([&](const Tensor& at) { return f(at); })(x);
}

std::vector<Tensor> differentiable_minimum(const std::function<std::vector<Tensor>()>& solve,
                                           const VectorFunction& f, const SolverCall& call) {
  return differentiable_root(
      solve, [&](const Tensor& x) { return gradient_of(f, x); }, call, JacobianKind::kSymmetric);
}

namespace {

/// `step` is the last full step of Newton's method; `stuck` whether no part of it made |f| less.
struct NewtonState {
  Tensor x, residual, step, iterations, stuck;
};
/// A part of a step.
struct NewtonTrial {
  Tensor part, x, residual;
};

std::vector<Tensor> newton(const SolverCall& call, const VectorFunction& f,
                           const RootOptions& options) {
  const Tensor x0 = call.vector(),
               infinite = full(x0.type(), std::numeric_limits<double>::infinity());
  constexpr double kSmallestPart = 1.0 / (1 << 20), kDecrease = 2e-4;
  const bool is_given = options.tolerance > 0;
  const double tolerance = is_given ? options.tolerance : call.unit() * call.unit();
  // After a step of the root of eps, the error at a simple root is about eps.
  const auto is_exact = [&](const NewtonState& s) {
    return largest(s.step) <= std::sqrt(call.unit()) * largest(s.x);
  };
  const auto is_root = [&](const NewtonState& s) {
    const Tensor is_zero = largest(s.residual) <= tolerance;
    return is_given ? is_zero : is_zero | is_exact(s);
  };
  const auto goes_on = [&](const NewtonState& s) {
    return (s.iterations < options.max_iterations) & !(is_root(s) | s.stuck);
  };
  const auto iterate = [&](const NewtonState& s) {
    const Tensor jacobian = jacfwd([&](const Tensor& x) { return f(x); })(s.x);
    const Tensor step = solve(jacobian, s.residual), square_before = sum(square(s.residual));
    const auto is_too_long = [&](const NewtonTrial& t) {
      return !(sum(square(t.residual)) <= (1 - kDecrease * t.part) * square_before);
    };
    const auto halve = [&](const NewtonTrial& t) {
      const Tensor part = t.part / 2, x = s.x - part * step;
      return NewtonTrial{part, x, f(x)};
    };
    const NewtonTrial end = while_loop(
        [&](const NewtonTrial& t) { return is_too_long(t) & (t.part > kSmallestPart); }, halve,
        NewtonTrial{full({s.x.dtype(), {}}, 2), s.x, infinite}, {.name = "newton_part"}, call.at());
    const Tensor stuck = is_too_long(end);
    return NewtonState{where(stuck, s.x, end.x), where(stuck, s.residual, end.residual), step,
                       s.iterations + 1, stuck};
  };
  const NewtonState end = while_loop(goes_on, iterate, NewtonState{x0, f(x0), infinite, 0, false},
                                     {.name = "newton"}, call.at());
  return {end.x, largest(end.residual), end.iterations, is_root(end) | is_exact(end)};
}

struct Interval {
  Tensor lo, hi, iterations;
};

/// An end of the interval as the vector of the tree.
Tensor end_of_bracket(const SolverCall& call, const char* name, const Tensor& end) {
  if (end.empty()) {
    call.fail(
        "kBisection needs an interval\n  Give .bracket = {lo, hi}, with different signs of f at "
        "its ends.");
  }
  const Tensor number = ops::adopt_dtype(end, call.dtype(), call.at());
  if (number.dtype() != call.dtype() || number.shape().elements() != 1) {
    call.fail(
        fmt::format("the {} of the bracket is {}; it must be one number of {}\n  Give two "
                    "scalars, .bracket = {{lo, hi}}.",
                    name, number.type().str(), dtype_name(call.dtype())));
  }
  return reshape(number, {1});
}

std::vector<Tensor> bisect(const SolverCall& call, const VectorFunction& f,
                           const RootOptions& options) {
  if (call.size() != 1) {
    call.fail(
        fmt::format("kBisection is for one unknown, the tree has {}\n  Use kNewton; several "
                    "equations of one unknown each can be solved by rondo::vmap.",
                    call.size()));
  }
  const Tensor lo = end_of_bracket(call, "lo", options.bracket.lo);
  const Tensor hi = end_of_bracket(call, "hi", options.bracket.hi);
  const Tensor sign_at_lo = sign(f(lo));
  const auto middle = [](const Interval& s) { return s.lo + (s.hi - s.lo) / 2; };
  const auto is_narrow = [&](const Interval& s) {
    const Tensor x = middle(s);
    return all((abs(x - s.lo) <= options.tolerance) | (x == s.lo) | (x == s.hi));
  };
  const auto goes_on = [&](const Interval& s) {
    return (s.iterations < options.max_iterations) & !is_narrow(s);
  };
  const auto halve = [&](const Interval& s) {
    const Tensor x = middle(s), is_before = sign(f(x)) == sign_at_lo;
    return Interval{where(is_before, x, s.lo), where(is_before, s.hi, x), s.iterations + 1};
  };
  const Interval end =
      while_loop(goes_on, halve, Interval{lo, hi, 0}, {.name = "bisection"}, call.at());
  const Tensor changes = all(sign_at_lo * sign(f(hi)) <= 0);
  const Tensor x = where(changes, middle(end), std::numeric_limits<double>::quiet_NaN());
  return {x, largest(f(x)), end.iterations, changes & is_narrow(end)};
}

struct Iterate {
  Tensor x, next, iterations;
};

std::vector<Tensor> iterate_to_fixed_point(const SolverCall& call, const VectorFunction& f,
                                           const FixedPointOptions& options) {
  const double tolerance = options.tolerance > 0 ? options.tolerance : 8 * call.unit();
  const auto moved = [](const Iterate& s) { return largest(s.next - s.x); };
  const auto is_fixed = [&](const Iterate& s) {
    return moved(s) <= tolerance * maximum(largest(s.next), 1);
  };
  const auto goes_on = [&](const Iterate& s) {
    return (s.iterations < options.max_iterations) & !is_fixed(s);
  };
  const auto step = [&](const Iterate& s) { return Iterate{s.next, f(s.next), s.iterations + 1}; };
  const Tensor& x0 = call.vector();
  const Iterate end =
      while_loop(goes_on, step, Iterate{x0, f(x0), 0}, {.name = "fixed_point"}, call.at());
  return {end.x, moved(end), end.iterations, is_fixed(end)};
}

}  // namespace

}  // namespace rondo::solvers

namespace rondo::detail {

using solvers::JacobianKind;
using solvers::SolverCall;

SolutionLeaves find_root(const RegionCallable& f, const Leaves& x0, const RootOptions& options,
                         SourceLocation at) {
  const SolverCall call("find_root", x0, at);
  call.check_tolerance("tolerance", options.tolerance);
  call.check_count("max_iterations", options.max_iterations, 1);
  const solvers::VectorFunction residual = call.endomorphism(f, "the function");
  const auto solve = [&] {
    return options.method == RootFinder::kNewton ? solvers::newton(call, residual, options)
                                                 : solvers::bisect(call, residual, options);
  };
  if (options.method == RootFinder::kNewton &&
      !(options.bracket.lo.empty() && options.bracket.hi.empty())) {
    call.fail(
        "a bracket is for kBisection, the method is kNewton\n  Give .method = "
        "RootFinder::kBisection, or no bracket.");
  }
  const std::vector<Tensor> found =
      solvers::differentiable_root(solve, residual, call, JacobianKind::kGeneral);
  return {call.tree(found[0]), found[1], found[2], found[3]};
}

SolutionLeaves fixed_point(const RegionCallable& f, const Leaves& x0,
                           const FixedPointOptions& options, SourceLocation at) {
  const SolverCall call("fixed_point", x0, at);
  call.check_tolerance("tolerance", options.tolerance);
  call.check_count("max_iterations", options.max_iterations, 1);
  const solvers::VectorFunction next = call.endomorphism(f, "the function");
  const auto solve = [&] { return solvers::iterate_to_fixed_point(call, next, options); };
  const solvers::VectorFunction residual = [&](const Tensor& x) { return x - next(x); };
  const std::vector<Tensor> found =
      solvers::differentiable_root(solve, residual, call, JacobianKind::kGeneral);
  return {call.tree(found[0]), found[1], found[2], found[3]};
}

}  // namespace rondo::detail
