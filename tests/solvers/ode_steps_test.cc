// The order of the methods: one step of two lengths.
#include <cmath>

#include "rondo/rondo.h"
#include "solvers/ode.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

using solvers::OdeStep;

/// The errors of one step of length h, of y' = y cos(s) from y(0.3), whose solution is e^sin(s):
/// of the end, of the middle of the interpolant; and the estimate.
struct StepErrors {
  double end, middle, estimate;
};
StepErrors errors_of(solvers::OdeStepFunction method, double h) {
  const auto f = [](const Tensor& y, const Tensor& s) { return y * cos(s); };
  const auto exact = [](double s) { return std::exp(std::sin(s)); };
  const double s = 0.3;
  const Tensor y = constant({exact(s)});
  const OdeStep step = method(f, y, f(y, s), s, h);
  return {step.y[0].item<double>() - exact(s + h),
          solvers::between(step.dense, 0.5)[0].item<double>() - exact(s + h / 2),
          step.error.empty() ? 0 : step.error[0].item<double>()};
}
/// The power of h with which they decrease.
StepErrors powers_of(solvers::OdeStepFunction method, double h) {
  const StepErrors whole = errors_of(method, h), half = errors_of(method, h / 2);
  return {std::log2(whole.end / half.end), std::log2(whole.middle / half.middle),
          std::log2(whole.estimate / half.estimate)};
}

TEST(OdeSteps, OfDormandPrinceHaveOrderFive) {
  const StepErrors powers = powers_of(solvers::dormand_prince, 0.1);
  EXPECT_NEAR(powers.end, 6, 0.3);
  EXPECT_NEAR(powers.middle, 5, 0.3);
  EXPECT_NEAR(powers.estimate, 5, 0.3);
}

TEST(OdeSteps, OfRungeKuttaHaveOrderFour) {
  const StepErrors powers = powers_of(solvers::runge_kutta4, 0.1);
  EXPECT_NEAR(powers.end, 5, 0.3);
  EXPECT_NEAR(powers.middle, 4, 0.3);
}

TEST(OdeSteps, OfRosenbrockHaveOrderThree) {
  const StepErrors powers = powers_of(solvers::rosenbrock, 0.05);
  EXPECT_NEAR(powers.end, 4, 0.3);
  EXPECT_NEAR(powers.middle, 4, 0.3);
  EXPECT_NEAR(powers.estimate, 3, 0.3);
}

// L-stable: of y' = -l y one step of any length gives nearly 0.
TEST(OdeSteps, OfRosenbrockDampWhatIsStiff) {
  const auto f = [](const Tensor& y, const Tensor&) { return -1e8 * y; };
  const Tensor y = constant({1.0});
  const OdeStep step = solvers::rosenbrock(f, y, f(y, 0.0), Tensor(0.0), Tensor(1.0));
  EXPECT_LE(std::abs(step.y[0].item<double>()), 1e-7);
}

}  // namespace
}  // namespace rondo::testing
