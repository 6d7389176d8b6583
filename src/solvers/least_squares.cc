// Levenberg-Marquardt with the scaling of J. J. Moré: The Levenberg-Marquardt algorithm,
// implementation and theory, 1978, and the damping of H. B. Nielsen: Damping parameter in
// Marquardt's method, 1999. Steps are computed by a QR factorisation, not by normal equations.
#include <cmath>
#include <limits>

#include "fmt/format.h"
#include "rondo/gradients.h"
#include "rondo/loops.h"
#include "rondo/ops/arrays.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/linear_algebra.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"
#include "rondo/solvers/minimize.h"
#include "solvers/roots.h"

namespace rondo::solvers {

namespace {

/// `scale` has the largest norms of the Jacobian's columns so far.
struct FitState {
  Tensor x, residuals, scale, damping, iterations, lows, converged, stuck;
};
/// A step that was tried with this damping; `growth` is the next factor of it.
struct FitTrial {
  Tensor damping, growth, step, residuals, predicted, accepted, trials;
};

class Fit {
  static constexpr int kMostLows = 8;

 public:
  Fit(const SolverCall& call, const VectorFunction& residuals, const LeastSquaresOptions& options)
      : call_(call), residuals_(residuals), options_(options) {
    const double root = std::sqrt(call.unit());
    if (options_.gradient_tolerance == 0) options_.gradient_tolerance = root;
    if (options_.step_tolerance == 0) options_.step_tolerance = root;
  }

  std::vector<Tensor> run() const {
    const Tensor x0 = call_.vector(), start = residuals_(x0);
    if (!is_damped() && start.dim(0) < x0.dim(0)) {
      call_.fail(
          fmt::format("kGaussNewton has {} residuals for {} unknowns\n  Use "
                      "LeastSquares::kLevenbergMarquardt, which takes fewer.",
                      start.dim(0), x0.dim(0)));
    }
    const auto goes_on = [&](const FitState& s) {
      return (s.iterations < options_.max_iterations) & !(s.converged | s.stuck);
    };
    const FitState end = while_loop(
        goes_on, [&](const FitState& s) { return step(s); },
        FitState{x0, start, zeros(x0.type()), number(is_damped() ? 1e-3 : 0), 0, 0, false, false},
        {.name = is_damped() ? "levenberg_marquardt" : "gauss_newton"}, call_.at());
    return {end.x, end.iterations, end.converged};
  }

 private:
  bool is_damped() const { return options_.method == LeastSquares::kLevenbergMarquardt; }
  Tensor number(double value) const { return full({call_.dtype(), {}}, value); }

  FitState step(const FitState& s) const {
    const Tensor jacobian = jacfwd([&](const Tensor& x) { return residuals_(x); })(s.x);
    const Tensor columns = sqrt(sum(square(jacobian), {0}));
    const Tensor larger = maximum(s.scale, columns), scale = where(larger == 0, 1, larger);
    const Tensor slopes = dot(s.residuals, jacobian), norm = length_of(s.residuals);
    const Tensor products = columns * norm;
    const Tensor cosine =
        largest(where(products > 0, slopes / where(products > 0, products, 1), 0));
    const Tensor is_flat = cosine <= options_.gradient_tolerance;

    const FitTrial end = is_damped() ? damped(s, jacobian, scale, slopes) : full_step(s, jacobian);
    const Tensor is_short = length_of(scale * end.step) <=
                            options_.step_tolerance * length_of(scale * (s.x + end.step));
    const Tensor lows = s.lows + convert(is_lost(s, end.predicted), DType::kS32);
    const Tensor moves = end.accepted & !is_flat;
    return {where(moves, s.x + end.step, s.x),
            where(moves, end.residuals, s.residuals),
            scale,
            end.damping,
            s.iterations + convert(!is_flat, DType::kS32),
            lows,
            is_flat | is_short | (lows == kMostLows),
            !end.accepted};
  }

  /// Whether what a step is to gain may be lost in rounding. A few such steps are taken without
  /// asking whether they gain it: they bring x closer.
  Tensor is_lost(const FitState& s, const Tensor& predicted) const {
    return predicted <= std::pow(call_.unit(), 2.0 / 3) * dot(s.residuals, s.residuals);
  }

  /// Least squares of |J step + residuals|^2 + damping |scale step|^2.
  Tensor solved(const Tensor& jacobian, const Tensor& residuals, const Tensor& damping,
                const Tensor& scale) const {
    Tensor rows = jacobian, right = -residuals;
    if (is_damped()) {
      rows = concatenate({jacobian, diag(sqrt(damping) * scale)}, 0);
      right = concatenate({right, zeros(scale.type())}, 0);
    }
    const Qr factors = qr(rows);
    const Tensor projected = expand_dims(dot(right, factors.q), 1);
    return squeeze(triangular_solve(factors.r, projected, {.lower = false}), {1});
  }

  FitTrial full_step(const FitState& s, const Tensor& jacobian) const {
    const Tensor step = solved(jacobian, s.residuals, {}, {});
    const Tensor linear = dot(jacobian, step) + s.residuals;
    return {s.damping,
            number(0),
            step,
            residuals_(s.x + step),
            dot(s.residuals, s.residuals) - dot(linear, linear),
            true,
            1};
  }

  /// Raises the damping until the sum of squares decreases.
  FitTrial damped(const FitState& s, const Tensor& jacobian, const Tensor& scale,
                  const Tensor& slopes) const {
    constexpr int kMostTrials = 60;
    const Tensor before = dot(s.residuals, s.residuals);
    const auto attempt = [&](const FitTrial& t) {
      const Tensor step = solved(jacobian, s.residuals, t.damping, scale);
      const Tensor residuals = residuals_(s.x + step);
      const Tensor predicted = dot(step, t.damping * square(scale) * step - slopes);
      const Tensor gain = (before - dot(residuals, residuals)) / predicted;
      const Tensor accepted = (gain > 0) | is_lost(s, predicted), power = 2 * gain - 1;
      const Tensor lowered = clamp(1.0 / 3, 1 - power * power * power, 1);
      return FitTrial{t.damping * where(accepted, lowered, t.growth),
                      where(accepted, 2, 2 * t.growth),
                      step,
                      residuals,
                      predicted,
                      accepted,
                      t.trials + 1};
    };
    const auto goes_on = [&](const FitTrial& t) { return (t.trials < kMostTrials) & !t.accepted; };
    return while_loop(
        goes_on, attempt,
        FitTrial{s.damping, number(2), zeros(s.x.type()), s.residuals, number(0), false, 0},
        {.name = "levenberg_marquardt_damping"}, call_.at());
  }

  const SolverCall& call_;
  const VectorFunction& residuals_;
  LeastSquaresOptions options_;
};

}  // namespace

}  // namespace rondo::solvers

namespace rondo::detail {

MinimumLeaves least_squares(const RegionCallable& residuals, const Leaves& x0,
                            const LeastSquaresOptions& options, SourceLocation at) {
  const solvers::SolverCall call("least_squares", x0, at);
  call.check_count("max_iterations", options.max_iterations, 1);
  call.check_tolerance("gradient_tolerance", options.gradient_tolerance);
  call.check_tolerance("step_tolerance", options.step_tolerance);
  const solvers::VectorFunction all = call.map(residuals, "the function");
  const solvers::VectorFunction half_square = [&](const Tensor& x) {
    return sum(square(all(x))) / 2;
  };
  const auto solve = [&] { return solvers::Fit(call, all, options).run(); };
  const std::vector<Tensor> found = solvers::differentiable_minimum(solve, half_square, call);
  return {call.tree(found[0]), half_square(found[0]), found[1], found[2]};
}

}  // namespace rondo::detail
