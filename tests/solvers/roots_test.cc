// Roots and fixed points: values, and their derivatives.
#include <cmath>
#include <limits>

#include "rondo/rondo.h"
#include "support/derivative_check.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

Tensor square_root(const Tensor& p) {
  return find_root([&](Tensor x) { return x * x - p; }, 1.0).x;
}
Tensor cube_root(const Tensor& p) {
  return find_root([&](Tensor x) { return x * x * x - p; }, 2.0).x;
}

TEST(FindRoot, OfOneNumber) {
  const auto root = find_root([](Tensor x) { return x * x - 2; }, 1.0);
  expect_close<double>(root.x, {}, {std::sqrt(2.0)}, 1e-15);
  expect_scalar(root.converged, true);
  EXPECT_LE(root.residual.item<double>(), 1e-15);
  EXPECT_LE(root.iterations.item<std::int32_t>(), 6);
}

TEST(FindRoot, InSinglePrecision) {
  const auto root = find_root([](Tensor x) { return cos(x) - x; }, 1.0f);
  expect_close<float>(root.x, {}, {0.739085133f}, 1e-6);
  expect_scalar(root.converged, true);
}

TEST(FindRoot, StopsAtTheTolerance) {
  const auto f = [](Tensor x) { return x * x - 2; };
  const auto coarse = find_root(f, 1.0, {.tolerance = 0.1});
  expect_close<double>(coarse.x, {}, {17.0 / 12}, 1e-15);  // 1, 3/2, 17/12
  expect_scalar(coarse.iterations, 2);
  const auto cut = find_root(f, 1.0, {.max_iterations = 1});
  expect_scalar(cut.converged, false);
  expect_close<double>(cut.x, {}, {1.5}, 1e-15);
}

// Full steps from 3 diverge: atan is the textbook's case.
TEST(FindRoot, HalvesStepsThatGoTooFar) {
  const auto root = find_root([](Tensor x) { return atan(x); }, 3.0);
  EXPECT_LE(std::abs(root.x.item<double>()), 1e-15);
  expect_scalar(root.converged, true);
}

TEST(FindRoot, WithoutARootDoesNotConverge) {
  const auto root = find_root([](Tensor x) { return x * x + 1; }, 0.7);
  expect_scalar(root.converged, false);
  EXPECT_GE(root.residual.item<double>(), 1.0);
}

// Powell's badly scaled function, of More, Garbow and Hillstrom (1981): its root is (1.098159e-5,
// 9.106146).
TEST(FindRoot, OfATree) {
  struct Point {
    Tensor a, b;
  };
  const auto f = [](Point p) { return Point{1e4 * p.a * p.b - 1, exp(-p.a) + exp(-p.b) - 1.0001}; };
  const auto root = find_root(f, Point{0.0, 1.0});
  expect_close<double>(root.x.a, {}, {1.098159e-5}, 1e-6);
  expect_close<double>(root.x.b, {}, {9.106146}, 1e-6);
  expect_scalar(root.converged, true);
}

TEST(FindRoot, OfATupleThatIsSpread) {
  const auto f = [](Tensor x, Tensor y) { return std::pair(x + y - 3, x * y - 2); };
  const auto root = find_root(f, std::pair(0.5, 3.0));
  expect_close<double>(root.x.first, {}, {1}, 1e-14);
  expect_close<double>(root.x.second, {}, {2}, 1e-14);
}

TEST(FindRoot, HasTheDerivativesOfTheRoot) {
  const double p = 5;
  expect_close<double>(grad(cube_root)(p), {}, {std::pow(p, -2.0 / 3) / 3}, 1e-14);
  expect_close<double>(jvp(cube_root, std::tuple(p), std::tuple(2.0)).second, {},
                       {2 * std::pow(p, -2.0 / 3) / 3}, 1e-14);
  const auto second = grad(grad(cube_root));
  expect_close<double>(second(p), {}, {-2.0 / 9 * std::pow(p, -5.0 / 3)}, 1e-13);
  expect_close<double>(grad(second)(p), {}, {10.0 / 27 * std::pow(p, -8.0 / 3)}, 1e-13);
  EXPECT_EQ(derivative_error(of_tensors<1>(cube_root), {Literal::scalar(p)}), "");
}

TEST(FindRoot, OfManyNumbersHasDerivatives) {
  const auto equilibrium = [](Tensor a, Tensor b) {
    const auto f = [&](Tensor x) { return x + 0.3 * tanh(dot(a, x)) - b; };
    return find_root(f, zeros(b.type())).x;
  };
  const Literal a = random::normal(random::key(1), f64({3, 3})).eval();
  const Literal b = constant({0.3, -1.0, 2.0}).eval();
  EXPECT_EQ(derivative_error(of_tensors<2>(equilibrium), {a, b}), "");
}

TEST(FindRoot, DoesNotDifferentiateItsIteration) {
  const Function gradient = trace(grad(square_root), f64());
  for (const LoopResiduals& loop : compile(gradient).memory_plan()) EXPECT_EQ(loop.arrays, 0);
}

TEST(FindRoot, OfLanesThatStopApart) {
  const Tensor p = constant({2.0, 9.0, 1e6});
  const Tensor all = vmap(square_root)(p), slopes = vmap(grad(square_root))(p);
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(all[i].item<double>(), square_root(p[i]).item<double>());
    EXPECT_EQ(slopes[i].item<double>(), grad(square_root)(p[i]).item<double>());
  }
  const auto total = [](Tensor p) { return sum(vmap(square_root)(p)); };
  expect_close<double>(grad(total)(p), {3}, {0.5 / std::sqrt(2.0), 1.0 / 6, 0.5e-3}, 1e-14);
  expect_close<double>(grad([&](Tensor p) { return sum(grad(total)(p)); })(p), {3},
                       {-0.25 / std::pow(2.0, 1.5), -0.25 / 27, -0.25e-9}, 1e-13);
}

TEST(FindRoot, InLoopsAndUnderJit) {
  const auto nested = [](Tensor p) {
    return fori_loop(
        0, 3, [&](Tensor, Tensor x) { return square_root(x + p); }, p);
  };
  const auto plain = [](double p) {
    double x = p;
    for (int i = 0; i < 3; i++) x = std::sqrt(x + p);
    return x;
  };
  expect_close<double>(jit(nested)(3.0), {}, {plain(3)}, 1e-15);
  EXPECT_EQ(derivative_error(of_tensors<1>(nested), {Literal::scalar(3.0)}), "");
}

TEST(FindRoot, EagerlyAndAsText) {
  {
    const EagerScope eager;
    expect_close<double>(square_root(2.0), {}, {std::sqrt(2.0)}, 1e-15);
    expect_close<double>(grad(square_root)(4.0), {}, {0.25}, 1e-15);
  }
  const Function read = parse_text(to_text(trace(square_root, f64()), {.full = true}));
  expect_close<double>(compile(read).run({Literal::scalar(3.0)})[0], {}, {std::sqrt(3.0)}, 1e-15);
  expect_close<double>(grad([&](Tensor p) { return function_of(read)(p)[0]; })(4.0), {}, {0.25},
                       1e-15);
}

TEST(Bisection, FindsTheSignChange) {
  const auto f = [](Tensor x) { return x * x * x - 2 * x - 5; };  // Wallis, 1685
  const auto root = find_root(f, 0.0, {.method = RootFinder::kBisection, .bracket = {2.0, 3.0}});
  expect_close<double>(root.x, {}, {2.0945514815423265}, 1e-15);
  expect_scalar(root.converged, true);
  const auto turned = find_root(f, 0.0, {.method = RootFinder::kBisection, .bracket = {3.0, 2.0}});
  expect_close<double>(turned.x, {}, {2.0945514815423265}, 1e-15);
  const auto coarse = find_root(
      f, 0.0, {.method = RootFinder::kBisection, .bracket = {2.0, 3.0}, .tolerance = 0.01});
  expect_scalar(coarse.iterations, 6);  // half of 2^-6 is within it
}

TEST(Bisection, FindsARootAtAnEnd) {
  for (const double end : {1.0, 3.0}) {
    const auto root = find_root([&](Tensor x) { return x - end; }, 0.0,
                                {.method = RootFinder::kBisection, .bracket = {1.0, 3.0}});
    expect_close<double>(root.x, {}, {end}, 1e-15);
  }
}

TEST(Bisection, WithoutASignChangeIsNaN) {
  const auto root = find_root([](Tensor x) { return x * x + 1; }, 0.0,
                              {.method = RootFinder::kBisection, .bracket = {-1.0, 1.0}});
  EXPECT_TRUE(std::isnan(root.x.item<double>()));
  expect_scalar(root.converged, false);
}

TEST(Bisection, HasTheDerivativeOfTheRoot) {
  // Kepler's equation.
  const auto anomaly = [](Tensor mean, Tensor eccentricity) {
    return find_root([&](Tensor e) { return e - eccentricity * sin(e) - mean; }, 0.0,
                     {.method = RootFinder::kBisection, .bracket = {0.0, 7.0}})
        .x;
  };
  EXPECT_EQ(derivative_error(of_tensors<2>(anomaly), {Literal::scalar(1.3), Literal::scalar(0.4)}),
            "");
  const Tensor means = constant({0.1, 1.0, 3.0});
  const Tensor all = vmap(anomaly, {0, std::nullopt})(means, 0.4);
  for (int i = 0; i < 3; i++)
    EXPECT_EQ(all[i].item<double>(), anomaly(means[i], 0.4).item<double>());
}

TEST(FixedPoint, OfTheCosine) {
  const auto point = fixed_point([](Tensor x) { return cos(x); }, 1.0);
  expect_close<double>(point.x, {}, {0.73908513321516064}, 1e-14);
  expect_scalar(point.converged, true);
  const auto cut = fixed_point([](Tensor x) { return cos(x); }, 1.0, {.max_iterations = 3});
  expect_scalar(cut.converged, false);
  expect_scalar(cut.iterations, 3);
}

TEST(FixedPoint, HasDerivativesOfAnyOrder) {
  const auto babylonian = [](Tensor p) {
    return fixed_point([&](Tensor x) { return (x + p / x) / 2; }, 1.0).x;
  };
  expect_close<double>(grad(babylonian)(3.0), {}, {0.5 / std::sqrt(3.0)}, 1e-14);
  EXPECT_EQ(derivative_error(of_tensors<1>(babylonian), {Literal::scalar(3.0)}, {.order = 3}), "");
}

// More unknowns than one Jacobian is made for: products with it.
TEST(FixedPoint, OfManyUnknowns) {
  const auto layer = [](Tensor w, Tensor b) {
    return fixed_point([&](Tensor z) { return tanh(dot(w, z) + b); }, zeros(b.type())).x;
  };
  const Literal w = (0.05 * random::normal(random::key(1), f64({70, 70}))).eval();
  const Literal b = random::normal(random::key(2), f64({70})).eval();
  EXPECT_EQ(derivative_error(of_tensors<2>(layer), {w, b}, {.order = 1}), "");
  const auto of_scale = [&](Tensor s) { return sum(square(layer(s * Tensor(w), b))); };
  EXPECT_EQ(derivative_error(of_tensors<1>(of_scale), {Literal::scalar(1.0)}), "");
  const Tensor scales = constant({0.5, 1.0});
  const Tensor slopes = vmap(grad(of_scale))(scales);
  for (int i = 0; i < 2; i++)
    expect_close<double>(slopes[i], {}, {grad(of_scale)(scales[i]).item<double>()}, 1e-12);
  expect_close<double>(grad([&](Tensor s) { return sum(vmap(of_scale)(s)); })(scales), {2},
                       {slopes[0].item<double>(), slopes[1].item<double>()}, 1e-12);
}

TEST(Roots, SayWhatIsWrong) {
  const auto f = [](Tensor x) { return x; };
  expect_error([&] { find_root(f, 1); }, {"find_root: x0 is s32[]", "roots_test.cc"});
  expect_error([&] { find_root([](std::vector<Tensor> x) { return x; }, std::vector<Tensor>()); },
               {"no tensors"});
  expect_error(
      [&] {
        find_root([](Tensor x) { return x[0]; }, constant({1.0, 2.0}));
      },
      {"the function returns f64[] in place of x0, which is f64[2]"});
  expect_error([&] { find_root(f, 1.0, {.method = RootFinder::kBisection}); },
               {"kBisection needs an interval", ".bracket = {lo, hi}"});
  expect_error([&] { find_root(f, 1.0, {.bracket = {0.0, 1.0}}); }, {"is for kBisection"});
  expect_error(
      [&] {
        find_root(f, constant({1.0, 2.0}),
                  {.method = RootFinder::kBisection, .bracket = {0.0, 1.0}});
      },
      {"one unknown, the tree has 2"});
  expect_error([&] { find_root(f, 1.0, {.tolerance = -1}); }, {".tolerance is -1"});
  expect_error([&] { fixed_point(f, 1.0, {.max_iterations = 0}); }, {".max_iterations is 0"});
  expect_error(
      [&] {
        find_root([](Tensor x) { return x + eye(2); }, constant({1.0, 2.0}));
      },
      {"f32", "roots_test.cc"});
}

}  // namespace
}  // namespace rondo::testing
