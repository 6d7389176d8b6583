#include "solvers/minimize.h"

#include <cmath>

#include "fmt/format.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"
#include "solvers/roots.h"

namespace rondo::solvers {

namespace {

/// The state of the methods that take one step by each gradient. `mean` and `square` are Adam's.
struct FirstOrder {
  Tensor x, gradient, mean, square, iterations;
};

template <class Step>
std::vector<Tensor> first_order(const Descent& descent, const char* name, const Step& step) {
  const Tensor x0 = descent.call.vector(), zero = zeros(x0.type());
  const auto goes_on = [&](const FirstOrder& s) {
    return (s.iterations < descent.options.max_iterations) & !descent.is_flat(s.gradient);
  };
  const auto trip = [&](FirstOrder s) {
    s.iterations += 1;
    s.x = step(s);
    s.gradient = gradient_of(descent.f, s.x);
    return s;
  };
  const FirstOrder end =
      while_loop(goes_on, trip, FirstOrder{x0, gradient_of(descent.f, x0), zero, zero, 0},
                 {.name = name}, descent.call.at());
  return {end.x, end.iterations, descent.is_flat(end.gradient)};
}

}  // namespace

std::vector<Tensor> adam(const Descent& descent) {
  constexpr double kMean = 0.9, kSquare = 0.999, kEpsilon = 1e-8;
  return first_order(descent, "adam", [&](FirstOrder& s) {
    s.mean = kMean * s.mean + (1 - kMean) * s.gradient;
    s.square = kSquare * s.square + (1 - kSquare) * square(s.gradient);
    const Tensor count = convert(s.iterations, s.x.dtype());
    const Tensor mean = s.mean / -expm1(count * std::log(kMean));
    const Tensor size = sqrt(s.square / -expm1(count * std::log(kSquare)));
    return s.x - descent.options.learning_rate * mean / (size + kEpsilon);
  });
}

std::vector<Tensor> gradient_descent(const Descent& descent) {
  return first_order(descent, "gradient_descent", [&](FirstOrder& s) {
    return s.x - descent.options.learning_rate * s.gradient;
  });
}

}  // namespace rondo::solvers

namespace rondo::detail {

MinimumLeaves minimize(const RegionCallable& f, const Leaves& x0, const MinimizeOptions& options,
                       SourceLocation at) {
  const solvers::SolverCall call("minimize", x0, at);
  call.check_count("max_iterations", options.max_iterations, 1);
  call.check_tolerance("gradient_tolerance", options.gradient_tolerance);
  call.check_count("history", options.history, 1);
  if (!(options.learning_rate > 0 && std::isfinite(options.learning_rate))) {
    call.fail(
        fmt::format(".learning_rate is {}\n  Give a positive number.", options.learning_rate));
  }
  const solvers::VectorFunction objective = call.objective(f);
  solvers::Descent descent{call, objective, options};
  if (options.gradient_tolerance == 0) descent.options.gradient_tolerance = std::sqrt(call.unit());
  const auto solve = [&] {
    switch (options.method) {
      case Minimizer::kAdam:
        return solvers::adam(descent);
      case Minimizer::kGradientDescent:
        return solvers::gradient_descent(descent);
      case Minimizer::kLbfgs:
        break;
    }
    return solvers::lbfgs(descent);
  };
  const std::vector<Tensor> found = solvers::differentiable_minimum(solve, objective, call);
  return {call.tree(found[0]), objective(found[0]), found[1], found[2]};
}

}  // namespace rondo::detail
