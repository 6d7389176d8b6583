// Differential equations against diffrax 0.7.2 (JAX 0.10.2 on a CPU): the numbers are those that
// scripts/ode_table.py prints. Its Dopri5 is the method of kDormandPrince with another choice of
// the next step's length; its Kvaerno5 another method, of order 5.
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "rondo/rondo.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

struct Solved {
  Tensor end, slope, steps;
};

/// The solution of dy/dt = f(y, parameter) at the last time, and its derivative.
template <class F>
Solved solved(const F& f, const Tensor& start, double last, double parameter,
              const OdeOptions<Tensor>& options) {
  const auto run = [&](const Tensor& p) {
    const auto g = [&](const Tensor& y, const Tensor&) { return f(y, p); };
    return odeint(g, start, constant({0.0, last}), options);
  };
  const auto end = [&](const Tensor& p) { return run(p).ys[1]; };
  const auto both = jvp(end, std::tuple(Tensor(parameter)), std::tuple(Tensor(1.0)));
  return {both.first, both.second, run(parameter).steps};
}

constexpr double kPeriod = 17.0652165601579625588917206249;
const std::vector<double> kOrbitStart{0.994, 0, 0, -2.00158510637908252240537862224};

Tensor orbit(const Tensor& y, const Tensor& mu) {
  const Tensor nu = 1 - mu;
  const Tensor near = pow(square(y[0] + mu) + square(y[2]), 1.5);
  const Tensor far = pow(square(y[0] - nu) + square(y[2]), 1.5);
  return stack({y[1], y[0] + 2 * y[3] - nu * (y[0] + mu) / near - mu * (y[0] - nu) / far, y[3],
                y[2] - 2 * y[1] - nu * y[2] / near - mu * y[2] / far},
               0);
}

double distance(const Literal& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); i++) sum += std::pow(a.data<double>()[i] - b[i], 2);
  return std::sqrt(sum);
}

/// diffrax's steps and solution for rtol = atol = tolerance.
struct DiffraxRun {
  double tolerance;
  int steps;
  std::vector<double> end;
};

/// The controllers differ, so steps may by an eighth, and errors by a factor of 2.
void expect_like(const Solved& got, const DiffraxRun& run, const std::vector<double>& exact) {
  EXPECT_NEAR(got.steps.item<std::int32_t>(), run.steps, run.steps / 8.0) << run.tolerance;
  EXPECT_LE(distance(got.end.eval(), exact), 2 * distance(Literal::from(run.end), exact))
      << run.tolerance;
}

// The orbit magnifies errors by a million: what 1e-6 leaves of it is not compared.
TEST(OdeOfDiffrax, TakesAsManyStepsForArenstorfsOrbit) {
  for (const DiffraxRun& run : {DiffraxRun{1e-8,
                                           363,
                                           {0.993999445796697, -0.0001648471096988317,
                                            -9.894175063005281e-07, -2.0016713727755047}},
                                DiffraxRun{1e-10,
                                           799,
                                           {0.9939999881516967, -4.996487003222638e-06,
                                            -3.048389355460486e-08, -2.0015869509886923}}}) {
    const Solved got = solved(orbit, Literal::from(kOrbitStart), kPeriod, 0.012277471,
                              {.rtol = run.tolerance, .atol = run.tolerance});
    expect_like(got, run, kOrbitStart);
    if (run.tolerance > 1e-9) continue;
    expect_close<double>(
        got.slope, {4},
        {2011.3895696959237, 1079512.0540077637, 6637.183078544384, 313059.0662364817}, 2e-5);
  }
}

Tensor prey_and_predators(const Tensor& y, const Tensor& rate) {
  return stack({rate * y[0] - y[0] * y[1], y[0] * y[1] - 3 * y[1]}, 0);
}

TEST(OdeOfDiffrax, ConvergesWithOrderFiveForPreyAndPredators) {
  const std::vector<double> exact{0.7137513781144412, 0.07540779623971798};  // SciPy's at 1e-12
  double last_error = 0, last_steps = 0;
  for (const DiffraxRun& run :
       {DiffraxRun{1e-6, 188, {0.7137593732703852, 0.07540757203880691}},
        DiffraxRun{1e-8, 425, {0.713751595044349, 0.07540777711244286}},
        DiffraxRun{1e-10, 976, {0.7137513806703101, 0.07540779606001179}}}) {
    const Solved got = solved(prey_and_predators, constant({10.0, 5.0}), 15, 1.5,
                              {.rtol = run.tolerance, .atol = run.tolerance});
    expect_like(got, run, exact);
    const double error = distance(got.end.eval(), exact), steps = got.steps.item<std::int32_t>();
    if (last_steps > 0) {
      EXPECT_NEAR(std::log(last_error / error) / std::log(steps / last_steps), 5, 0.5);
    }
    last_error = error;
    last_steps = steps;
    // Backward through the steps there, forward here.
    if (run.tolerance < 1e-9)
      expect_close<double>(got.slope, {2}, {8.1887626258672, -1.1664031798482402}, 1e-8);
  }
}

// Robertson's kinetics: the derivative by the slow rate of 0.04.
TEST(OdeOfDiffrax, HasTheSameSolutionAndDerivativeOfRobertsonsKinetics) {
  const auto f = [](const Tensor& y, const Tensor& rate) {
    const Tensor slow = rate * y[0], mixed = 1e4 * y[1] * y[2], fast = 3e7 * square(y[1]);
    return stack({mixed - slow, slow - mixed - fast, fast}, 0);
  };
  const Solved got = solved(f, constant({1.0, 0.0, 0.0}), 40, 0.04,
                            {.method = Ode::kRosenbrock, .rtol = 1e-7, .atol = 1e-11});
  expect_close<double>(got.end, {3},
                       {0.7158270687231207, 9.18553476305997e-06, 0.28416374574211606}, 2e-7);
  expect_close<double>(got.slope, {3},
                       {-4.247558771722466, 4.591196250890157e-05, 4.247512859759962}, 2e-6);
}

// Van der Pol's equation with mu = 1000 in a time scaled by it: the solution jumps before t = 2.
// The derivative is by the logarithm of the fast rate; diffrax's, at 1e-7 too, is 6 % beside that
// of differences of solutions at 1e-8, which is wanted here.
TEST(OdeOfDiffrax, HasTheSameSolutionOfTheStiffVanDerPolEquation) {
  const auto f = [](const Tensor& y, const Tensor& scale) {
    return stack({y[1], ((1 - square(y[0])) * y[1] - y[0]) * 1e6 * scale}, 0);
  };
  const Solved got =
      solved(f, constant({2.0, -0.66}), 2, 1,
             {.method = Ode::kRosenbrock, .rtol = 1e-7, .atol = 1e-7, .max_steps = 10000});
  expect_close<double>(got.end, {2}, {1.70616745987736, -0.8928099926327098}, 2e-7);
  expect_close<double>(got.slope, {2}, {-0.00041287, -0.00044265}, 0.2);
}

}  // namespace
}  // namespace rondo::testing
