// Differential equations: published problems, events, and derivatives. Numbers called SciPy's are
// of solve_ivp of version 1.17.1.
#include <cmath>
#include <limits>
#include <numbers>

#include "rondo/rondo.h"
#include "support/derivative_check.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

Tensor decay(const Tensor& y, const Tensor&) { return -y; }

TEST(Odeint, OfDecayAtTimes) {
  for (const Ode method : {Ode::kDormandPrince, Ode::kRungeKutta4, Ode::kRosenbrock}) {
    const auto result = odeint(decay, 2.0, constant({0.0, 0.1, 0.15, 1.0, 3.0}),
                               {.method = method, .rtol = 1e-7, .atol = 1e-9, .substeps = 40});
    std::vector<double> want;
    for (const double t : {0.0, 0.1, 0.15, 1.0, 3.0}) want.push_back(2 * std::exp(-t));
    expect_close<double>(result.ys, {5}, want, 2e-6);
    EXPECT_TRUE(std::isinf(result.event_time.item<double>()));
  }
}

TEST(Odeint, InSinglePrecisionAndBackwards) {
  const auto result = odeint(decay, 2.0f, linspace(1.0f, 0.0f, 3), {.rtol = 1e-5});
  expect_close<float>(result.ys, {3}, {2.0f, 2 * std::exp(0.5f), 2 * std::exp(1.0f)}, 3e-5);
}

TEST(Odeint, OfOneTimeIsTheStart) {
  expect_values<double>(odeint(decay, 2.0, constant({0.7})).ys, {1}, {2});
}

struct Populations {
  Tensor prey, predators;
};
Populations volterra(const Populations& p, const Tensor&) {
  return {1.5 * p.prey - p.prey * p.predators, -3 * p.predators + p.prey * p.predators};
}

// SciPy's RK45 at a tolerance of 1e-12; at 1e-6 it takes 168 steps and rejects 29 others.
TEST(Odeint, OfPreyAndPredators) {
  const auto result = odeint(volterra, Populations{10.0, 5.0}, constant({0.0, 5.0, 10.0, 15.0}),
                             {.rtol = 1e-10, .atol = 1e-10});
  expect_close<double>(result.ys.prey, {4},
                       {10, 0.2641867721183774, 0.2872129642051777, 0.7137513781144412}, 1e-7);
  expect_close<double>(result.ys.predators, {4},
                       {5, 3.1341331610592102, 0.4497774635014133, 0.07540779623971798}, 1e-7);
  const auto coarse =
      odeint(volterra, Populations{10.0, 5.0}, constant({0.0, 15.0}), {.rtol = 1e-6, .atol = 1e-6});
  EXPECT_LE(coarse.steps.item<std::int32_t>(), 220);
}

// Arenstorf's orbit (Hairer, Norsett, Wanner I, section II.0) returns to its start after a period.
TEST(Odeint, OfArenstorfsOrbit) {
  const double mu = 0.012277471, nu = 1 - mu, period = 17.0652165601579625588917206249;
  const auto f = [&](Tensor y, Tensor) {
    const Tensor near = pow(square(y[0] + mu) + square(y[2]), 1.5);
    const Tensor far = pow(square(y[0] - nu) + square(y[2]), 1.5);
    return stack({y[1], y[0] + 2 * y[3] - nu * (y[0] + mu) / near - mu * (y[0] - nu) / far, y[3],
                  y[2] - 2 * y[1] - nu * y[2] / near - mu * y[2] / far},
                 0);
  };
  const Tensor start = constant({0.994, 0.0, 0.0, -2.00158510637908252240537862224});
  const auto result = odeint(f, start, constant({0.0, period}), {.rtol = 1e-10, .atol = 1e-10});
  EXPECT_LE(max(abs(result.ys[1] - start)).item<double>(), 2e-5);
  // SciPy's RK45 takes 795, with an error of 3.3e-6.
  EXPECT_LE(result.steps.item<std::int32_t>(), 850);
  EXPECT_GE(result.steps.item<std::int32_t>(), 500);
}

Tensor robertson(const Tensor& y, const Tensor&) {
  const Tensor slow = 0.04 * y[0], mixed = 1e4 * y[1] * y[2], fast = 3e7 * square(y[1]);
  return stack({mixed - slow, slow - mixed - fast, fast}, 0);
}

// Robertson's kinetics: SciPy's Radau at 1e-12.
TEST(Odeint, OfRobertsonsStiffKinetics) {
  const auto result = odeint(robertson, constant({1.0, 0.0, 0.0}), constant({0.0, 0.4, 40.0, 4e4}),
                             {.method = Ode::kRosenbrock, .rtol = 1e-6, .atol = 1e-10});
  const std::vector<double> want = {
      0.9851721138609887,   3.386395378974875e-05,  0.014794022185221484,
      0.7158270687194139,   9.185534764558688e-06,  0.2841637457458208,
      0.038983377085650806, 1.6217683159169725e-07, 0.9610164607375183};
  expect_close<double>(slice(result.ys, {1, 0}, {4, 3}), {3, 3}, want, 2e-4);
  EXPECT_LE(result.steps.item<std::int32_t>(), 400);
}

// The van der Pol equation with mu = 1000, scaled: the reference is that of Hairer and Wanner's
// collection for t = 1 and 2.
TEST(Odeint, OfTheStiffVanDerPolEquation) {
  const auto f = [](Tensor y, Tensor) {
    return stack({y[1], ((1 - square(y[0])) * y[1] - y[0]) * 1e6}, 0);
  };
  const auto result = odeint(f, constant({2.0, -0.66}), constant({0.0, 1.0, 2.0}),
                             {.method = Ode::kRosenbrock, .rtol = 1e-6, .atol = 1e-6});
  expect_close<double>(
      slice(result.ys, {1, 0}, {3, 2}), {2, 2},
      {-1.863646254808130, 0.7535430865435460, 1.706167732170456, -0.8928097010248257}, 1e-3);
  EXPECT_LE(result.steps.item<std::int32_t>(), 3500);
}

TEST(Odeint, WithoutEnoughStepsIsNaN) {
  const auto result =
      odeint(decay, 1.0, constant({0.0, 0.01, 50.0}), {.rtol = 1e-9, .max_steps = 10});
  expect_scalar(result.steps, 10);
  EXPECT_TRUE(std::isnan(result.ys[2].item<double>()));
  expect_close<double>(result.ys[1], {}, {std::exp(-0.01)}, 1e-8);
}

// A number of steps that does not depend on the times that are asked for.
TEST(Odeint, InterpolatesBetweenSteps) {
  const auto oscillator = [](Tensor y, Tensor) { return stack({y[1], -y[0]}, 0); };
  const auto coarse = odeint(oscillator, constant({0.0, 1.0}), constant({0.0, 10.0}));
  const Tensor times = linspace(0.0, 10.0, 300, DType::kF64);
  const auto fine = odeint(oscillator, constant({0.0, 1.0}), times);
  EXPECT_EQ(fine.steps.item<std::int32_t>(), coarse.steps.item<std::int32_t>());
  EXPECT_LE(max(abs(column(fine.ys, 0) - sin(times))).item<double>(), 2e-5);
}

// --- derivatives

TEST(OdeDerivatives, OfFixedSteps) {
  const auto end = [](Tensor y0, Tensor rate, Tensor t) {
    const auto f = [&](Tensor y, Tensor s) { return -rate * square(y) + sin(s * rate); };
    return odeint(f, y0, stack({Tensor(0.1), t / 2, t}, 0),
                  {.method = Ode::kRungeKutta4, .substeps = 3})
        .ys;
  };
  EXPECT_EQ(derivative_error(of_tensors<3>(end),
                             {Literal::scalar(1.2), Literal::scalar(0.7), Literal::scalar(1.5)}),
            "");
}

/// y' = -p y from y0: the end and its derivatives are known.
template <class F>
void expect_decay_derivatives(const F& end, double tolerance) {
  const double y0 = 2, p = 0.7, t = 1.5, e = std::exp(-p * t);
  const auto [by_y0, by_p, by_t] = grad<0, 1, 2>(end)(y0, p, t);
  expect_close<double>(by_y0, {}, {e}, tolerance);
  expect_close<double>(by_p, {}, {-t * y0 * e}, tolerance);
  expect_close<double>(by_t, {}, {-p * y0 * e}, tolerance);
  const auto forward = jvp(end, std::tuple(y0, p, t), std::tuple(1.0, 1.0, 1.0)).second;
  expect_close<double>(forward, {}, {e - t * y0 * e - p * y0 * e}, tolerance);
  const Tensor second =
      grad<1>([&](Tensor a, Tensor b, Tensor c) { return grad<1>(end)(a, b, c); })(y0, p, t);
  expect_close<double>(second, {}, {t * t * y0 * e}, 10 * tolerance);
}

TEST(OdeDerivatives, OfAdaptiveSteps) {
  for (const Ode method : {Ode::kDormandPrince, Ode::kRosenbrock}) {
    const auto end = [&](Tensor y0, Tensor p, Tensor t) {
      return odeint([&](Tensor y, Tensor) { return -p * y; }, y0, stack({Tensor(0.0), t}, 0),
                    {.method = method, .rtol = 1e-7, .atol = 1e-9, .max_steps = 600})
          .ys[1];
    };
    expect_decay_derivatives(end, method == Ode::kDormandPrince ? 1e-6 : 1e-5);
  }
}

// By the first of the times too: for an autonomous equation it is -f(y).
TEST(OdeDerivatives, ByTheFirstTime) {
  const auto end = [](Tensor t0) {
    return odeint(decay, 1.0, stack({t0, Tensor(2.0)}, 0), {.rtol = 1e-9}).ys[1];
  };
  expect_close<double>(grad(end)(0.5), {}, {std::exp(-1.5)}, 1e-7);
}

// Torricelli's law: a tank that is nearly emptied by a valve that opens for a moment. Steps over
// that moment are too long, and in them the level is below the bottom, where the square root and
// its slope are NaN.
constexpr double kLast = 1.2;
Tensor level(Ode method, const Tensor& start, const Tensor& k) {
  const auto f = [&](Tensor y, Tensor t) {
    return -k * (1 + 100 * exp(-100 * square(t - 1))) * sqrt(y);
  };
  return odeint(f, start, constant({0.0, kLast}), {.method = method, .rtol = 1e-5}).ys[1];
}
/// The level is (sqrt(start) - k a / 2)^2, where a is this, the integral of the valve's opening.
double opened() {
  return kLast + 5 * std::sqrt(std::numbers::pi) * (std::erf(10 * (kLast - 1)) + std::erf(10));
}

TEST(OdeDerivatives, OfStepsBesideRejectedOnesThatAreNotFinite) {
  for (const Ode method : {Ode::kDormandPrince, Ode::kRosenbrock}) {
    const auto end = [&](Tensor start, Tensor k) { return level(method, start, k); };
    const auto [by_start, by_k] = grad<0, 1>(end)(100.0, 1.0);
    const double left = 10 - opened() / 2;
    expect_close<double>(by_start, {}, {left / 10}, 1e-3);
    expect_close<double>(by_k, {}, {-left * opened()}, 1e-3);
    const auto difference = [&](double h) {
      return (end(100.0, 1 + h).item<double>() - end(100.0, 1 - h).item<double>()) / (2 * h);
    };
    expect_close<double>(by_k, {}, {difference(1e-3)}, 1e-2);
    const Tensor forward = jvp(end, std::tuple(100.0, 1.0), std::tuple(0.0, 1.0)).second;
    EXPECT_NEAR(by_k.item<double>(), forward.item<double>(), 1e-10);
    const Tensor second =
        grad<1>([&](Tensor a, Tensor b) { return grad<1>(end)(a, b); })(100.0, 1.0);
    expect_close<double>(second, {}, {opened() * opened() / 2}, 1e-2);
  }
}

TEST(OdeDerivatives, OfLanesOfWhichSomeRejectStepsThatAreNotFinite) {
  const auto total = [](Tensor starts, Tensor k) {
    return sum(vmap([&](Tensor y) { return level(Ode::kDormandPrince, y, k); })(starts));
  };
  const auto [by_starts, by_k] = jit(grad<0, 1>(total))(constant({100.0, 900.0, 96.0}), 1.0);
  std::vector<double> want_by_start;
  double want_by_k = 0;
  for (const double start : {100.0, 900.0, 96.0}) {
    const double left = std::sqrt(start) - opened() / 2;
    want_by_start.push_back(left / std::sqrt(start));
    want_by_k -= left * opened();
  }
  expect_close<double>(by_starts, {3}, want_by_start, 2e-3);
  expect_close<double>(by_k, {}, {want_by_k}, 1e-3);
}

// --- events

struct Ball {
  Tensor height, speed;
};
Ball fall(const Ball& b, const Tensor&) { return {b.speed, full(f64(), -9.81)}; }
Tensor above_ground(const Ball& b, const Tensor&) { return b.height; }

TEST(OdeEvents, EndTheSolution) {
  for (const Ode method : {Ode::kDormandPrince, Ode::kRungeKutta4, Ode::kRosenbrock}) {
    const Tensor times = linspace(0.0, 3.0, 7, DType::kF64);
    const auto result = odeint(fall, Ball{10.0, 0.0}, times,
                               {.method = method, .event = above_ground, .substeps = 2});
    const double lands = std::sqrt(2 * 10 / 9.81);
    expect_close<double>(result.event_time, {}, {lands}, 1e-6);
    std::vector<double> heights, speeds;
    for (int i = 0; i < 7; i++) {
      const double t = std::min(0.5 * i, lands);
      heights.push_back(10 - 9.81 / 2 * t * t);
      speeds.push_back(-9.81 * t);
    }
    expect_close<double>(result.ys.height, {7}, heights, 1e-6, 1e-6);
    expect_close<double>(result.ys.speed, {7}, speeds, 1e-6, 1e-6);
  }
}

TEST(OdeEvents, HaveDerivatives) {
  const auto lands = [](Tensor height) {
    return odeint(fall, Ball{height, 0.0}, constant({0.0, 3.0}), {.event = above_ground})
        .event_time;
  };
  expect_close<double>(grad(lands)(10.0), {}, {1 / std::sqrt(2 * 9.81 * 10)}, 1e-6);
  expect_close<double>(grad(grad(lands))(10.0), {},
                       {-0.5 * std::pow(10, -1.5) / std::sqrt(2 * 9.81)}, 1e-5);
  expect_close<double>(jvp(lands, std::tuple(10.0), std::tuple(1.0)).second, {},
                       {1 / std::sqrt(2 * 9.81 * 10)}, 1e-6);
  const auto impact = [](Tensor height) {
    return odeint(fall, Ball{height, 0.0}, constant({0.0, 3.0}), {.event = above_ground})
        .ys.speed[1];
  };
  expect_close<double>(grad(impact)(10.0), {}, {-std::sqrt(9.81 / 20)}, 1e-6);
}

TEST(OdeEvents, ThatDoNotHappen) {
  const auto result = odeint(fall, Ball{100.0, 0.0}, constant({0.0, 1.0}), {.event = above_ground});
  EXPECT_EQ(result.event_time.item<double>(), std::numeric_limits<double>::infinity());
  expect_close<double>(result.ys.height, {2}, {100, 100 - 9.81 / 2}, 1e-9);
}

// The start at 0 is no event: a ball that is thrown up comes down again.
TEST(OdeEvents, AtTheStartAreNone) {
  const auto result =
      odeint(fall, Ball{0.0, 9.81}, constant({0.0, 4.0}), {.rtol = 1e-8, .event = above_ground});
  expect_close<double>(result.event_time, {}, {2}, 1e-8);
}

// --- nesting

TEST(Odeint, OfLanesWithStepsOfTheirOwn) {
  const auto run = [](Tensor height) {
    const auto r =
        odeint(fall, Ball{height, 0.0}, constant({0.0, 0.5, 3.0}), {.event = above_ground});
    return std::tuple(r.ys.height, r.event_time, r.steps);
  };
  const Tensor heights = constant({1.0, 10.0, 500.0});
  const auto [all, times, steps] = vmap(run)(heights);
  for (int i = 0; i < 3; i++) {
    const auto [one, time, count] = run(heights[i]);
    EXPECT_LE(max(abs(all[i] - one)).item<double>(), 1e-12);
    EXPECT_EQ(steps[i].item<std::int32_t>(), count.item<std::int32_t>());
  }
  const auto total = [&](Tensor h) {
    return sum(vmap([&](Tensor height) { return std::get<1>(run(height)); })(slice(h, {0}, {2})));
  };
  expect_close<double>(jit(grad(total))(heights), {3},
                       {1 / std::sqrt(2 * 9.81), 1 / std::sqrt(2 * 9.81 * 10), 0}, 1e-6);
}

TEST(Odeint, SaysWhatIsWrong) {
  const Tensor times = constant({0.0, 1.0});
  expect_error([&] { odeint(decay, 1, times); }, {"odeint: y0 is s32[]"});
  expect_error([&] { odeint(decay, 1.0f, times); }, {"times is f64[2], y0 has f32"});
  expect_error([&] { odeint(decay, 1.0, Tensor(1.0)); }, {"times is f64[]", "vector"});
  expect_error([&] { odeint(decay, 1.0, zeros(f64({0}))); }, {"times is f64[0]"});
  expect_error(
      [&] {
        odeint([](Tensor y, Tensor) { return y[0]; }, constant({1.0, 2.0}), times);
      },
      {"the function returns f64[] in place of y0, which is f64[2]"});
  expect_error([&] { odeint(decay, 1.0, times, {.rtol = 0, .atol = 0}); }, {"both 0"});
  expect_error([&] { odeint(decay, 1.0, times, {.max_steps = 0}); }, {".max_steps is 0"});
  expect_error(
      [&] {
        odeint(decay, constant({1.0, 2.0}), times, {.event = [](Tensor y, Tensor) { return y; }});
      },
      {"the event returns f64[2]"});
}

}  // namespace
}  // namespace rondo::testing
