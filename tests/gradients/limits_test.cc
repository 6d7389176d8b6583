// Edge cases of derivatives of loops: promises of zero trips and broken ones, tapes within tapes,
// and tangents that have been evaluated already.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gradients/loops.h"
#include "rondo/rondo.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

Literal limit_numbers(std::initializer_list<double> values) {
  return Literal::from(std::vector<double>(values), {static_cast<std::int64_t>(values.size())});
}

TEST(EvaluatedTangents, OfUpdatesAndScatters) {
  const Tensor x = limit_numbers({0.3, 0.2, 0.9}), t = limit_numbers({1, 2, 3});
  for (const bool is_eager : {false, true}) {
    std::optional<EagerScope> scope;
    if (is_eager) scope.emplace();
    const Tensor parts = update(zeros(f64({3})), Tensor(1), t[0] + 1);
    const Tensor whole = update(x, Tensor(1), t[0]);
    for (const Tensor& z : {parts, whole}) (void)z.eval();
    const auto [out, pull] = vjp([](Tensor a) { return std::tuple(a, a); }, x);
    expect_values<double>(std::get<0>(pull(std::tuple(t, whole))), {3}, {1.3, 3, 3.9});
    expect_values<double>(std::get<0>(pull(std::tuple(t, parts))), {3}, {1, 4, 3});
    const auto add = [](Tensor a, Tensor b) { return a + b; };
    expect_values<double>(jvp(add, std::tuple(x, x), std::tuple(t, parts)).second, {3}, {1, 4, 3});
    expect_values<double>(jvp(add, std::tuple(x, x), std::tuple(parts, t)).second, {3}, {1, 4, 3});
  }
}

TEST(WhilePromise, OfNoTripsIsTheIdentity) {
  for (const Checkpoint policy : {Checkpoint::automatic(), Checkpoint::tape(),
                                  Checkpoint::online(2), Checkpoint::periodic(2)}) {
    const auto f = [&](Tensor x) {
      return sum(while_loop([](Tensor s) { return sum(s) < 0.0; },
                            [](Tensor s) { return sin(s) * s; }, x,
                            {.max_trip_count = 0, .checkpoint = policy}));
    };
    expect_values<double>(grad(f)(limit_numbers({1, 2, 3})), {3}, {1, 1, 1});
  }
}

TEST(WhilePromise, BrokenByAConstantCountIsAnErrorInReverseToo) {
  for (const Checkpoint policy :
       {Checkpoint::automatic(), Checkpoint::tape(), Checkpoint::online(2), Checkpoint::online(9),
        Checkpoint::periodic(2), Checkpoint::revolve(2)}) {
    SCOPED_TRACE(name_of(policy));
    const auto f = [&](Tensor x, int promised) {
      return std::get<1>(while_loop([](Tensor i, Tensor) { return i < 5; },
                                    [](Tensor i, Tensor s) { return std::tuple(i + 1, sin(s)); },
                                    std::tuple(0, x),
                                    {.max_trip_count = promised, .checkpoint = policy}));
    };
    const auto broken = [&](Tensor x) { return f(x, 3); };
    EXPECT_THROW((void)grad(broken)(1.1).eval(), ExecutionError);
    EXPECT_THROW((void)value_and_grad(broken)(1.1).first.eval(), ExecutionError);
    EXPECT_NE(to_hlo_text(trace(grad(broken), f64())).find("nan"), std::string::npos);
    double x = 1.1, slope = 1;
    for (int i = 0; i < 5; i++) slope *= std::cos(x), x = std::sin(x);
    EXPECT_NEAR(grad([&](Tensor x) { return f(x, 5); })(1.1).item<double>(), slope, 1e-14);
  }
}

TEST(WhileScanGradient, KnowsItsLimit) {
  const auto f = [](Tensor x, Checkpoint policy) {
    const auto all = while_scan([](Tensor c) { return c < 2.0; },
                                [](Tensor c) { return std::pair(c * c * 0.2 + c + 0.1, sin(c)); },
                                x, {.max_trip_count = 9, .checkpoint = policy, .name = "grow"});
    return all.carry * 2 + sum(all.ys);
  };
  double x = 0.7, sum = 0, slope = 1, gradient = 0;
  while (x < 2) {
    sum += std::sin(x);
    gradient += std::cos(x) * slope;
    slope *= 0.4 * x + 1;
    x = x * x * 0.2 + x + 0.1;
  }
  gradient += 2 * slope;
  for (const Checkpoint policy : {Checkpoint::automatic(), Checkpoint::tape(),
                                  Checkpoint::periodic(3), Checkpoint::online(3)}) {
    SCOPED_TRACE(name_of(policy));
    const auto g = [&](Tensor x) { return f(x, policy); };
    EXPECT_NEAR(g(0.7).item<double>(), 2 * x + sum, 1e-14);
    const Function program = trace(grad(g), f64());
    EXPECT_NEAR(compile(program).run({Literal::scalar(0.7)})[0].item<double>(), gradient, 1e-13);
    EXPECT_FALSE(to_hlo_text(program).empty());  // no growing tape
    const double h = 1e-5;
    const double bent =
        (grad(g)(0.7 + h).item<double>() - grad(g)(0.7 - h).item<double>()) / (2 * h);
    EXPECT_NEAR(grad(grad(g))(0.7).item<double>(), bent, 1e-6 * std::abs(bent));
  }
  const std::vector<LoopResiduals> plan =
      compile(trace(grad([&](Tensor x) { return f(x, {}); }), f64())).memory_plan();
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(plan[0].policy, Checkpoint::tape());
}

/// While s < 2: s becomes w s s + s + 0.1. With its first and second derivatives with respect to
/// the initial s, at w = 0.2.
struct Grown {
  double s, slope = 1, bend = 0;
  explicit Grown(double from) : s(from) {
    while (s < 2) {
      bend = 0.4 * slope * slope + (0.4 * s + 1) * bend;
      slope *= 0.4 * s + 1;
      s = 0.2 * s * s + s + 0.1;
    }
  }
};

Tensor grown(const Tensor& s, const Tensor& w) {
  return while_loop([](Tensor s) { return s < 2.0; }, [&](Tensor s) { return w * s * s + s + 0.1; },
                    s, {.checkpoint = Checkpoint::tape(), .name = "grow"});
}

TEST(GrowingTape, HasFurtherDerivatives) {
  const auto f = [](Tensor s) { return grown(s, 0.2); };
  for (const double from : {0.05, 0.7, 1.9, 2.5}) {  // the last makes no trip
    SCOPED_TRACE(from);
    const Grown plain(from);
    EXPECT_NEAR(f(from).item<double>(), plain.s, 1e-14);
    EXPECT_NEAR(grad(f)(from).item<double>(), plain.slope, 1e-13 * plain.slope);
    const double near = 1e-12 * std::max(1.0, plain.bend);
    EXPECT_NEAR(grad(grad(f))(from).item<double>(), plain.bend, near);
    EXPECT_NEAR(jvp(grad(f), std::tuple(from), std::tuple(1.0)).second.item<double>(), plain.bend,
                near);
    EXPECT_NEAR(grad([&](Tensor s) { return jvp(f, std::tuple(s), std::tuple(1.0)).second; })(from)
                    .item<double>(),
                plain.bend, near);
    const double h = 1e-5;
    const double third = (Grown(from + h).bend - Grown(from - h).bend) / (2 * h);
    EXPECT_NEAR(grad(grad(grad(f)))(from).item<double>(), third, 1e-6 * std::max(1.0, third));
  }
}

TEST(GrowingTape, HasSecondDerivativesInWhatTheBodyCaptures) {
  const auto slope = [](Tensor s, Tensor w) {
    const auto [of_s, of_w] = grad<0, 1>(grown)(s, w);
    return of_s * 2 + of_w;
  };
  const auto at = [&](double s, double w) { return slope(s, w).item<double>(); };
  const double h = 1e-5;
  for (const double from : {0.3, 2.5}) {
    const auto [of_s, of_w] = grad<0, 1>(slope)(from, 0.2);
    const double by_s = (at(from + h, 0.2) - at(from - h, 0.2)) / (2 * h);
    const double by_w = (at(from, 0.2 + h) - at(from, 0.2 - h)) / (2 * h);
    EXPECT_NEAR(of_s.item<double>(), by_s, 1e-6 * std::max(1.0, std::abs(by_s)));
    EXPECT_NEAR(of_w.item<double>(), by_w, 1e-6 * std::max(1.0, std::abs(by_w)));
  }
}

TEST(GrowingTape, HasAHessian) {
  const auto f = [](Tensor x) {
    return sum(square(while_loop([](Tensor s) { return sum(s) < 9.0; },
                                 [](Tensor s) { return s * 1.3 + sin(s) * s[0]; }, x,
                                 {.checkpoint = Checkpoint::tape()})));
  };
  const Literal x = limit_numbers({0.3, 0.2, 0.9});
  const Literal bends = jacrev(grad(f))(x).eval(), forward = hessian(f)(x).eval();
  const double h = 1e-6;
  for (std::size_t j = 0; j < 3; j++) {
    const auto slopes = [&](double step) {
      std::vector<double> moved(x.data<double>().begin(), x.data<double>().end());
      moved[j] += step;
      return grad(f)(Literal::from(moved, {3})).eval();
    };
    const Literal above = slopes(h), below = slopes(-h);
    for (std::size_t i = 0; i < 3; i++) {
      const double expected = (above.data<double>()[i] - below.data<double>()[i]) / (2 * h);
      EXPECT_NEAR(bends.data<double>()[3 * i + j], expected, 1e-5 * std::abs(expected) + 1e-6);
      EXPECT_NEAR(forward.data<double>()[3 * i + j], expected, 1e-5 * std::abs(expected) + 1e-6);
    }
  }
}

// Outside all traces the residuals of a pullback are evaluated value by value, and become constants
// of a program that captures it.
TEST(GrowingTape, IsNoValueOutsideATrace) {
  const auto f = [](Tensor x) {
    return sum(while_loop([](Tensor u) { return sum(u) < 1000.0; },
                          [](Tensor u) { return u * 1.001 + 0.0001 * sin(u); }, x,
                          {.checkpoint = Checkpoint::tape(), .name = "growing"}));
  };
  double u = 1, slope = 1;
  for (; 100 * u < 1000; u = u * 1.001 + 0.0001 * std::sin(u))
    slope *= 1.001 + 0.0001 * std::cos(u);
  const Tensor x = ones(f64({100}));
  const auto value_and_pullback = vjp(f, x);
  EXPECT_NEAR(value_and_pullback.first.item<double>(), 100 * u, 1e-9);
  const auto pulled = [&](Tensor ct) { return std::get<0>(value_and_pullback.second(ct)); };
  const Literal slopes[] = {pulled(Tensor(1.0)).eval(), jit(pulled)(Tensor(1.0)).eval(),
                            grad(f)(x).eval(),
                            compile(trace(grad(f), f64({100}))).run({x.eval()})[0]};
  for (const Literal& got : slopes) {
    ASSERT_EQ(got.type(), f64({100}));
    for (const double each : got.data<double>()) EXPECT_NEAR(each, slope, 1e-9);
  }
}

TEST(GrowingTape, WithinAnotherTapeIsRefused) {
  const auto inner = [](Tensor s, Checkpoint policy) {
    return while_loop([](Tensor t) { return t < 2.0; },
                      [](Tensor t) { return t * t * 0.2 + t + 0.1; }, s,
                      {.checkpoint = policy, .name = "inner"});
  };
  const auto f = [&](Tensor x, Checkpoint policy) {
    return scan([&](Tensor s, Tensor) { return std::pair(inner(s, policy) * 0.1, std::tuple<>()); },
                x, arange(2))
        .first;
  };
  const auto branched = [&](Tensor x) {
    return scan(
               [&](Tensor s, Tensor i) {
                 return std::pair(cond(
                                      i < 1, [&](Tensor s) { return inner(s, Checkpoint::tape()); },
                                      [](Tensor s) { return s; }, s) *
                                      0.1,
                                  std::tuple<>());
               },
               x, arange(2))
        .first;
  };
  const std::vector<std::string> parts{"loop 'inner'", "tape()", "a loop around it",
                                       "Checkpoint::online"};
  expect_error([&] { grad([&](Tensor x) { return f(x, Checkpoint::tape()); })(0.7); }, parts);
  expect_error([&] { grad(branched)(0.7); }, parts);
  EXPECT_NEAR(grad([&](Tensor x) { return f(x, Checkpoint::online(3)); })(0.7).item<double>(),
              0.32191469554364555, 1e-14);
}

}  // namespace
}  // namespace rondo::testing
