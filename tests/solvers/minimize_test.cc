// Minima: published test functions, and the derivatives of minima.
#include <cmath>

#include "rondo/rondo.h"
#include "support/derivative_check.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

Tensor rosenbrock(const Tensor& x) {
  const std::int64_t n = x.dim(0);
  const Tensor head = slice(x, {0}, {n - 1}), tail = slice(x, {1}, {n});
  return sum(100 * square(tail - square(head)) + square(1 - head));
}

// SciPy 1.17.1's L-BFGS-B with gtol = 1.5e-8 takes 38 iterations from the usual start.
TEST(Lbfgs, OfRosenbrocksFunction) {
  const auto best = minimize(rosenbrock, constant({-1.2, 1.0}));
  expect_close<double>(best.x, {2}, {1, 1}, 1e-8);
  EXPECT_LE(best.value.item<double>(), 1e-16);
  expect_scalar(best.converged, true);
  EXPECT_LE(best.iterations.item<std::int32_t>(), 60);
}

TEST(Lbfgs, OfRosenbrocksFunctionOfManyNumbers) {
  const auto best = minimize(rosenbrock, full(f64({100}), -1.0), {.history = 5});
  EXPECT_LE(max(abs(best.x - 1)).item<double>(), 1e-7);
  expect_scalar(best.converged, true);
}

TEST(Lbfgs, InSinglePrecision) {
  const auto best = minimize(rosenbrock, constant({-1.2f, 1.0f}));
  expect_close<float>(best.x, {2}, {1, 1}, 2e-3);
  expect_scalar(best.converged, true);
}

// Beale's function and Powell's singular function, of More, Garbow and Hillstrom (1981).
TEST(Lbfgs, OfOtherTestFunctions) {
  struct Point {
    Tensor x, y;
  };
  const auto beale = [](Point p) {
    return square(1.5 - p.x * (1 - p.y)) + square(2.25 - p.x * (1 - p.y * p.y)) +
           square(2.625 - p.x * (1 - p.y * p.y * p.y));
  };
  const auto best = minimize(beale, Point{1.0, 1.0});
  expect_close<double>(best.x.x, {}, {3}, 1e-7);
  expect_close<double>(best.x.y, {}, {0.5}, 1e-7);
  const auto powell = [](Tensor x) {
    return square(x[0] + 10 * x[1]) + 5 * square(x[2] - x[3]) + square(square(x[1] - 2 * x[2])) +
           10 * square(square(x[0] - x[3]));
  };
  const auto flat = minimize(powell, constant({3.0, -1.0, 0.0, 1.0}));
  EXPECT_LE(flat.value.item<double>(), 1e-9);
  expect_scalar(flat.converged, true);
}

TEST(Lbfgs, StopsAtItsLimits) {
  const auto cut = minimize(rosenbrock, constant({-1.2, 1.0}), {.max_iterations = 3});
  expect_scalar(cut.iterations, 3);
  expect_scalar(cut.converged, false);
  const auto there = minimize(rosenbrock, constant({1.0, 1.0}));
  expect_scalar(there.iterations, 0);
  expect_scalar(there.converged, true);
}

/// Adam as published, by plain C++.
double adam_reference(double x, double rate, int steps) {
  double mean = 0, square = 0;
  for (int k = 1; k <= steps; k++) {
    const double gradient = 2 * (x - 3);
    mean = 0.9 * mean + 0.1 * gradient;
    square = 0.999 * square + 0.001 * gradient * gradient;
    x -= rate * (mean / (1 - std::pow(0.9, k))) /
         (std::sqrt(square / (1 - std::pow(0.999, k))) + 1e-8);
  }
  return x;
}

TEST(Adam, TakesThePublishedSteps) {
  const auto f = [](Tensor x) { return square(x - 3); };
  for (const int steps : {1, 7, 100}) {
    const auto best = minimize(
        f, 1.0, {.method = Minimizer::kAdam, .max_iterations = steps, .learning_rate = 0.1});
    expect_close<double>(best.x, {}, {adam_reference(1, 0.1, steps)}, 1e-12);
  }
}

TEST(GradientDescent, Contracts) {
  const auto f = [](Tensor x) { return square(x - 3); };
  const auto cut = minimize(
      f, 1.0, {.method = Minimizer::kGradientDescent, .max_iterations = 10, .learning_rate = 0.25});
  expect_close<double>(cut.x, {}, {3 - 2 * std::pow(0.5, 10)}, 1e-14);
  const auto best =
      minimize(f, 1.0, {.method = Minimizer::kGradientDescent, .learning_rate = 0.25});
  expect_scalar(best.converged, true);
  expect_close<double>(best.x, {}, {3}, 1e-8);
}

TEST(Minimize, HasTheDerivativesOfTheMinimum) {
  // The minimum of x^4 / 4 - p x is the cube root of p; the value -3/4 p^(4/3).
  const auto at = [](Tensor p) {
    return minimize([&](Tensor x) { return x * x * x * x / 4 - p * x; }, 1.5,
                    {.gradient_tolerance = 1e-13});
  };
  const auto place = [&](Tensor p) { return at(p).x; };
  const auto value = [&](Tensor p) { return at(p).value; };
  const double p = 5;
  expect_close<double>(grad(place)(p), {}, {std::pow(p, -2.0 / 3) / 3}, 1e-12);
  expect_close<double>(grad(value)(p), {}, {-std::pow(p, 1.0 / 3)}, 1e-12);
  expect_close<double>(grad(grad(place))(p), {}, {-2.0 / 9 * std::pow(p, -5.0 / 3)}, 1e-12);
  expect_close<double>(grad(grad(value))(p), {}, {-std::pow(p, -2.0 / 3) / 3}, 1e-12);
  EXPECT_EQ(derivative_error(of_tensors<1>(place), {Literal::scalar(p)}), "");
}

// The bilevel problem: the minimum of a ridge regression by its weight, in closed form by solve.
TEST(Minimize, OfARidgeRegression) {
  const Tensor a = random::normal(random::key(1), f64({6, 3}));
  const Tensor b = random::normal(random::key(2), f64({6}));
  const auto by_minimize = [&](Tensor weight) {
    return minimize([&](Tensor x) { return sum(square(dot(a, x) - b)) + weight * sum(square(x)); },
                    zeros(f64({3})), {.gradient_tolerance = 1e-12})
        .x;
  };
  const auto by_solve = [&](Tensor weight) {
    return solve(matmul(transpose(a), a) + weight * eye(3, DType::kF64), dot(b, a));
  };
  const Tensor got = jacfwd(by_minimize)(0.7), want = jacfwd(by_solve)(0.7);
  EXPECT_LE(max(abs(got - want)).item<double>(), 1e-11);
  const Tensor reverse = jacrev(by_minimize)(0.7);
  EXPECT_LE(max(abs(reverse - want)).item<double>(), 1e-11);
  const Tensor second = jacfwd(jacrev(by_minimize))(0.7),
               second_want = jacfwd(jacfwd(by_solve))(0.7);
  EXPECT_LE(max(abs(second - second_want)).item<double>(), 1e-10);
}

// More numbers than one Hessian is made for.
TEST(Minimize, OfManyNumbersHasDerivatives) {
  const std::int64_t n = 80;
  const auto minimum_of = [&](Tensor p) {
    const auto f = [&](Tensor x) {
      const Tensor next = slice(x, {1}, {n}), last = slice(x, {0}, {n - 1});
      return sum(square(next - last)) + sum(square(x - p)) / 2 + sum(log(cosh(x)));
    };
    return minimize(f, zeros(f64({n})), {.gradient_tolerance = 1e-12}).x;
  };
  const Literal p = random::normal(random::key(3), f64({n})).eval();
  EXPECT_EQ(derivative_error(of_tensors<1>(minimum_of), {p}, {.order = 1}), "");
}

TEST(Minimize, OfLanes) {
  const auto at = [](Tensor p) {
    return minimize([&](Tensor x) { return rosenbrock(x) + p * sum(square(x)); },
                    constant({-1.2, 1.0}));
  };
  const Tensor p = constant({0.0, 0.5, 3.0});
  const auto all = vmap(at)(p);
  for (int i = 0; i < 3; i++) {
    const auto one = at(p[i]);
    EXPECT_LE(max(abs(all.x[i] - one.x)).item<double>(), 1e-12);
    EXPECT_EQ(all.iterations[i].item<std::int32_t>(), one.iterations.item<std::int32_t>());
  }
  const auto total = [&](Tensor p) { return sum(vmap([&](Tensor p) { return at(p).x; })(p)); };
  const Tensor slopes = grad(total)(p);
  for (int i = 0; i < 3; i++) {
    const Tensor one = grad([&](Tensor p) { return sum(at(p).x); })(p[i]);
    EXPECT_NEAR(slopes[i].item<double>(), one.item<double>(), 1e-12);
  }
}

TEST(Minimize, SaysWhatIsWrong) {
  const auto f = [](Tensor x) { return sum(x); };
  expect_error(
      [&] {
        minimize([](Tensor x) { return x; }, constant({1.0, 2.0}));
      },
      {"minimize: the function returns f64[2]", "one scalar"});
  expect_error([&] { minimize([](Tensor x) { return std::pair(x, x); }, 1.0); }, {"2 tensors"});
  expect_error([&] { minimize([](Tensor x) { return convert(x, DType::kF32); }, 1.0); },
               {"returns f32[]"});
  expect_error([&] { minimize(f, constant({1, 2})); }, {"x0 is s32[2]"});
  expect_error([&] { minimize(f, 1.0, {.learning_rate = 0}); }, {".learning_rate is 0"});
  expect_error([&] { minimize(f, 1.0, {.history = 0}); }, {".history is 0"});
}

}  // namespace
}  // namespace rondo::testing
