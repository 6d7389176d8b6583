// Jacobians and Hessians compute several directions at once: their values, how often the parts
// shared by all directions run, and what happens to large ones.
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gradients/loops.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

/// Central differences of a function's results; the result's elements, then the argument's.
template <class F>
std::vector<double> differences(const F& f, const std::vector<double>& at, double step) {
  const std::size_t n = at.size();
  std::vector<double> slopes;
  for (std::size_t i = 0; i < n; i++) {
    const auto moved = [&](double by) {
      std::vector<double> x = at;
      x[i] += by;
      return elements_of(f(Tensor(row(x))));
    };
    const std::vector<double> above = moved(step), below = moved(-step);
    slopes.resize(above.size() * n);
    for (std::size_t r = 0; r < above.size(); r++)
      slopes[r * n + i] = (above[r] - below[r]) / (2 * step);
  }
  return slopes;
}

RunStats stats_of(const Function& program, const std::vector<Literal>& arguments) {
  RunStats stats;
  RunOptions options;
  options.stats = &stats;
  compile(program).run(arguments, options);
  return stats;
}

std::int64_t all_trips(const RunStats& stats) {
  std::int64_t trips = 0;
  for (const LoopStats& loop : stats.loops) trips += loop.trips;
  return trips;
}

/// Rosenbrock's chain: sum of 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2.
Tensor chain(const Tensor& x) {
  return fori_loop(
      0, x.dim(0) - 1,
      [&](Tensor i, Tensor total) {
        const Tensor a = x[i], r = x[i + 1] - a * a;
        return total + 100.0 * r * r + (1.0 - a) * (1.0 - a);
      },
      0.0);
}

TEST(Jacobian, HessianOfAChain) {
  constexpr std::size_t n = 10;
  std::vector<double> x(n), want(n * n);
  for (std::size_t i = 0; i < n; i++) x[i] = 0.4 + 0.3 * std::cos(2.0 * static_cast<double>(i));
  for (std::size_t i = 0; i + 1 < n; i++) {
    want[i * n + i] += 1200 * x[i] * x[i] - 400 * x[i + 1] + 2;
    want[(i + 1) * n + i + 1] += 200;
    want[i * n + i + 1] = want[(i + 1) * n + i] = -400 * x[i];
  }
  expect_close<double>(jit(hessian(chain))(row(x)), {n, n}, want, 1e-13);
  expect_close<double>(jit(jacrev(grad(chain)))(row(x)), {n, n}, want, 1e-13);
  expect_close<double>(jit(jacfwd(jacfwd(chain)))(row(x)), {n, n}, want, 1e-13);
}

/// Two coupled oscillators: the state after 40 steps of Runge and Kutta.
Tensor flow(const Tensor& start) {
  const auto slope = [](const Tensor& y) {
    const Tensor c = y[0] * y[2];
    return stack({y[1], -y[0] - 0.1 * c * y[2], y[3], -2.0 * y[2] - 0.1 * c * y[0]}, 0);
  };
  constexpr double h = 0.02;
  return fori_loop(
      0, 40,
      [&](Tensor, Tensor y) {
        const Tensor k1 = slope(y), k2 = slope(y + h / 2 * k1), k3 = slope(y + h / 2 * k2),
                     k4 = slope(y + h * k3);
        return y + h / 6 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
      },
      start);
}

TEST(Jacobian, FlowsForwardAndBackward) {
  const std::vector<double> y{1.0, 0.2, -0.5, 0.3};
  const std::vector<double> want = differences(flow, y, 1e-5);
  expect_close<double>(jit(jacfwd(flow))(row(y)), {4, 4}, want, 1e-8);
  expect_close<double>(jit(jacrev(flow))(row(y)), {4, 4}, want, 1e-8);
}

TEST(Jacobian, HessianOfARolloutInItsControls) {
  const auto cost = [](const Tensor& controls) {
    auto [end, costs] = scan(
        [](std::pair<Tensor, Tensor> s, Tensor u) {
          const auto& [angle, speed] = s;
          const std::pair next(angle + 0.1 * speed,
                               speed + 0.1 * (2.0 * sin(angle) - 0.3 * speed * speed + u));
          return std::pair(next, angle * angle + 0.1 * speed * speed + 0.01 * u * u);
        },
        std::pair(Tensor(1.0), Tensor(0.0)), controls);
    return sum(costs) + 5.0 * end.first * end.first;
  };
  const std::vector<double> u{0.3, -0.2, 0.1, 0.4, 0.0, -0.3, 0.2};
  const std::vector<double> want = differences(jit(grad(cost)), u, 1e-5);
  const Tensor got = jit(hessian(cost))(row(u));
  expect_close<double>(got, {7, 7}, want, 1e-8);
  const std::vector<double> h = elements_of(got);
  for (std::size_t i = 0; i < 7; i++) {
    for (std::size_t k = 0; k < i; k++) EXPECT_NEAR(h[i * 7 + k], h[k * 7 + i], 1e-13);
  }
}

TEST(Jacobian, ThroughAWhileOfUnknownLength) {
  const auto f = [](const Tensor& x) {
    return while_loop([](Tensor y) { return sum(y) < 40.0; },
                      [](Tensor y) { return y * 1.2 + 0.1 * y * flip(y, 0); }, x);
  };
  const std::vector<double> x{0.5, 0.9, 0.7};
  const std::vector<double> want = differences(f, x, 1e-6);
  expect_close<double>(jit(jacfwd(f))(row(x)), {3, 3}, want, 1e-7);
  expect_close<double>(jit(jacrev(f))(row(x)), {3, 3}, want, 1e-7);
}

// A loop around the directions would run the loop of the function for each of them.
TEST(Jacobian, WhatIsTheSameForAllDirectionsRunsOnce) {
  const auto loss = [](const Tensor& y) { return sum(flow(y) * flow(y)); };
  const std::vector<Literal> at{row({1.0, 0.2, -0.5, 0.3})};
  EXPECT_EQ(all_trips(stats_of(trace(jacfwd(flow), f64({4})), at)), 40);
  EXPECT_EQ(all_trips(stats_of(trace(jacrev(flow), f64({4})), at)), 80);
  EXPECT_LE(all_trips(stats_of(trace(hessian(loss), f64({4})), at)), 160);
}

TEST(Jacobian, ScalarsShareTheirDirections) {
  const auto f = [](const Tensor& slab, const Tensor& tank, const Tensor& rate) {
    const auto end = fori_loop(
        0, 20,
        [&](Tensor, std::pair<Tensor, Tensor> s) {
          return std::pair<Tensor, Tensor>(s.first + rate * (s.second - s.first),
                                           s.second * (1.0 - 0.1 * rate * s.first));
        },
        std::pair(slab, tank));
    return stack({end.first, end.second}, 0);
  };
  const Function program = trace(jacfwd<0, 1, 2>(f), f64(), f64(), f64());
  const std::vector<Literal> at{Literal::scalar(0.2), Literal::scalar(0.9), Literal::scalar(0.3)};
  EXPECT_EQ(all_trips(stats_of(program, at)), 20);
  const std::vector<double> want =
      differences([&](const Tensor& x) { return f(x[0], x[1], x[2]); }, {0.2, 0.9, 0.3}, 1e-5);
  const std::vector<Literal> got = compile(program).run(at);
  ASSERT_EQ(got.size(), 3U);
  for (std::size_t i = 0; i < 3; i++)
    expect_close<double>(got[i], {2}, {want[i], want[3 + i]}, 1e-8);
}

// Each direction takes 1 MB, so they run one by one; or 300 kB, so three make a batch, and the last
// batch is not full.
TEST(Jacobian, LargeOnesGoInBatches) {
  for (const std::int64_t length : {131072, 40000}) {
    const auto f = [&](const Tensor& x) {
      const Tensor wide = broadcast_to(reshape(x, {1, 7}), {length / 7, 7});
      const Tensor wave = sin(wide * (iota(f64({length / 7, 1}), 0) * 1e-3));
      return sum(wave, {0});
    };
    const std::vector<double> x{0.1, 0.3, 0.5, 0.7, 0.9, 1.1, 1.3};
    std::vector<double> want(49);
    for (std::size_t i = 0; i < 7; i++) {
      for (std::int64_t k = 0; k < length / 7; k++) {
        const double t = 1e-3 * static_cast<double>(k);
        want[i * 8] += t * std::cos(x[i] * t);
      }
    }
    const auto program = trace(jacfwd(f), f64({7}));
    expect_close<double>(compile(program).run({row(x)})[0], {7, 7}, want, 1e-9);
    expect_close<double>(jit(jacrev(f))(row(x)), {7, 7}, want, 1e-9);
    EXPECT_NE(to_text(program).find("jacobian"), std::string::npos);
  }
}

TEST(Jacobian, OfNoElementsAndOfOne) {
  const auto square = [](const Tensor& x) { return x * x; };
  EXPECT_EQ(jit(jacfwd(square))(Literal::zeros(f64({0}))).shape(), Shape({0, 0}));
  EXPECT_EQ(jit(jacrev(square))(Literal::zeros(f64({0}))).shape(), Shape({0, 0}));
  expect_close<double>(jit(jacfwd(square))(row({3})), {1, 1}, {6}, 1e-15);
  expect_close<double>(jit(jacrev(square))(row({3})), {1, 1}, {6}, 1e-15);
}

TEST(Jacobian, OfSeveralTypes) {
  const auto f = [](const Tensor& wide, const Tensor& narrow, const Tensor& whole) {
    const Tensor x = wide * convert(narrow, DType::kF64);
    return std::tuple(x * x, convert(x, DType::kF32), whole + 1);
  };
  // Tangents have the type of the result, cotangents that of the argument.
  const auto check = [](const auto& by_result, auto of_wide_by_narrow, auto of_narrow_by_wide) {
    const auto& [of_wide, of_narrow, of_whole] = by_result;
    expect_scalar(std::get<0>(of_wide), 24.0);
    expect_scalar(std::get<1>(of_wide), of_wide_by_narrow);
    expect_scalar(std::get<0>(of_narrow), of_narrow_by_wide);
    expect_scalar(std::get<1>(of_narrow), 3.0f);
    EXPECT_EQ(convert(std::get<0>(of_whole), DType::kF64).template item<double>(), 0);
  };
  check(jit(jacfwd<0, 1>(f))(3.0, 2.0f, 5), 36.0, 2.0f);
  check(jit(jacrev<0, 1>(f))(3.0, 2.0f, 5), 36.0f, 2.0);
}

}  // namespace
}  // namespace rondo::testing
