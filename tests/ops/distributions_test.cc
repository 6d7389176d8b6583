// cholesky, random::gamma, random::multivariate_normal.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

TEST(Cholesky, IsTheTextbooksFactor) {
  const Tensor x = constant({{4.0, 12.0, -16.0}, {12.0, 37.0, -43.0}, {-16.0, -43.0, 98.0}});
  const std::vector<double> want{2, 0, 0, 6, 1, 0, -8, 5, 3};
  expect_close<double>(cholesky(x), {3, 3}, want, 1e-14);
  expect_close<double>(jit([](Tensor x) { return cholesky(x); })(x), {3, 3}, want, 1e-14);
  // Only the lower triangle is read.
  expect_close<double>(cholesky(tril(x)), {3, 3}, want, 1e-14);
  expect_close<float>(cholesky(convert(x, DType::kF32)), {3, 3}, {2, 0, 0, 6, 1, 0, -8, 5, 3},
                      1e-5);
  expect_values<double>(cholesky(Tensor(Literal::zeros(f64({0, 0})))), {0, 0}, {});
  expect_close<double>(cholesky(constant({{9.0}})), {1, 1}, {3});
}

TEST(Cholesky, TimesItsTransposeIsTheMatrix) {
  const Tensor half = random::normal(random::key(3), f64({9, 9}));
  const Literal x = (matmul(half, transpose(half)) + eye(9, DType::kF64)).eval();
  const Literal factor = cholesky(x).eval();
  for (std::int64_t i = 0; i < 9; i++) {
    for (std::int64_t j = 0; j < 9; j++) {
      double product = 0;
      for (std::int64_t k = 0; k < 9; k++)
        product += factor.data<double>()[static_cast<std::size_t>(9 * i + k)] *
                   factor.data<double>()[static_cast<std::size_t>(9 * j + k)];
      const auto at = static_cast<std::size_t>(9 * i + j);
      EXPECT_NEAR(product, x.data<double>()[at], 1e-12);
      if (j > i) {
        EXPECT_EQ(factor.data<double>()[at], 0);
      }
    }
  }
  // One lane per matrix.
  expect_close<double>(
      vmap([](Tensor x) { return cholesky(x); })(stack({x, x * 4}, 0))[1], {9, 9}, [&] {
        std::vector<double> twice(factor.data<double>().begin(), factor.data<double>().end());
        for (double& v : twice) v *= 2;
        return twice;
      }());
}

TEST(Cholesky, HasDerivatives) {
  const auto f = [](Tensor half) {
    return cholesky(matmul(half, transpose(half)) + eye(4, DType::kF64));
  };
  check_grads(f, std::tuple(random::normal(random::key(5), f64({4, 4}))), {.order = 2});
  // ln det x = 2 sum of ln l_ii, whose derivative is the inverse.
  const auto log_det = [](Tensor x) { return 2 * sum(log(diag(cholesky(x)))); };
  expect_close<double>(grad(log_det)(constant({{2.0, 1.0}, {1.0, 3.0}})), {2, 2},
                       {0.6, -0.2, -0.2, 0.4}, 1e-12, 1e-15);
}

TEST(Cholesky, SaysWhatItTakes) {
  const auto of = [](const Tensor& x) { return [x] { (void)cholesky(x); }; };
  expect_error(of(zeros(f64({2, 3}))),
               {"cholesky: the operand is f64[2,3]", "square", "symmetric"});
  expect_error(of(zeros(f64({2}))), {"cholesky: the operand is f64[2]", "2 axes"});
  expect_error(of(zeros(s32({2, 2}))), {"cholesky: takes floats", "rondo::convert"});
  const Literal bad = cholesky(constant({{1.0, 0.0}, {2.0, 1.0}})).eval();
  for (const double element : bad.data<double>()) EXPECT_TRUE(std::isnan(element));
}

/// P(a, x), by the series of positive terms.
double gamma_cdf(double a, double x) {
  double term = std::exp(a * std::log(x) - x - std::lgamma(a + 1)), total = 0;
  for (int k = 1; k < 2000; k++) {
    total += term;
    term *= x / (a + k);
  }
  return total;
}

double gamma_quantile(double a, double place) {
  double low = 1e-12, high = 500;
  for (int i = 0; i < 200; i++) {
    const double middle = (low + high) / 2;
    (gamma_cdf(a, middle) < place ? low : high) = middle;
  }
  return low;
}

TEST(RandomGamma, HasItsDistribution) {
  constexpr std::int64_t kDraws = 1500;
  for (const double a : {0.3, 1.0, 2.5, 40.0}) {
    SCOPED_TRACE(a);
    const Literal drawn = random::gamma(random::key(11), a, {kDraws}).eval();
    std::vector<double> sorted(drawn.data<double>().begin(), drawn.data<double>().end());
    std::sort(sorted.begin(), sorted.end());
    // Kolmogorov's distance; 1.63 / sqrt(n) is exceeded once in a hundred samples.
    double distance = 0;
    for (std::size_t i = 0; i < sorted.size(); i++) {
      const double place = gamma_cdf(a, sorted[i]);
      distance = std::max({distance, std::abs(place - static_cast<double>(i) / kDraws),
                           std::abs(place - static_cast<double>(i + 1) / kDraws)});
    }
    EXPECT_LT(distance, 1.63 / std::sqrt(kDraws));
  }
}

// Drawn by JAX 0.10.2.
TEST(RandomGamma, IsThatOfJax) {
  const Tensor key = random::key(42), shapes = constant({0.3, 1.0, 2.5, 40.0});
  expect_close<float>(
      random::gamma(key, convert(shapes, DType::kF32), {4}), {4},
      {0.43624743819236755f, 0.33158406615257263f, 4.194111347198486f, 36.873268127441406f}, 1e-5);
  expect_close<double>(
      random::gamma(key, shapes, {2, 4}), {2, 4},
      {0.04064462722988022, 0.5161877343182824, 5.75709708230657, 42.06543051518669,
       0.02697239794727436, 0.03941439189594221, 0.6049587266626295, 36.507549506816865},
      1e-12);
  const auto draw = [&](Tensor a) { return random::gamma(key, a, {}); };
  EXPECT_NEAR(grad(draw)(2.5).item<double>(), 1.1456414862339959, 1e-12);
  EXPECT_NEAR(grad(draw)(0.3).item<double>(), 0.427441827004906, 1e-12);
  expect_close<double>(
      random::multivariate_normal(key, constant({1.0, -2.0}), constant({{4.0, 2.0}, {2.0, 10.0}}),
                                  {2}),
      {2, 2}, {0.6305765094361768, -8.694185426475174, 1.3738711035876516, 0.023731622947113173},
      1e-12);
}

TEST(RandomGamma, BroadcastsItsShapeAndTakesAnyFloat) {
  const Tensor key = random::key(2);
  const Literal two = random::gamma(key, constant({1.0f, 100.0f}), {50, 2}).eval();
  EXPECT_EQ(two.type(), f32({50, 2}));
  for (std::size_t i = 0; i < 50; i++) {
    EXPECT_LT(two.data<float>()[2 * i], 20);
    EXPECT_GT(two.data<float>()[2 * i + 1], 50);
  }
  EXPECT_EQ(random::gamma(key, convert(2, DType::kBF16), {3}).type(), bf16({3}));
  EXPECT_EQ(random::gamma(key, 2.0f, {}).eval().type(), f32());
  EXPECT_EQ(random::gamma(key, 2.0f, {0}).eval().type(), f32({0}));
  expect_error([&] { (void)random::gamma(key, 2, {3}); }, {"random::gamma: takes floats"});
}

TEST(RandomGamma, MovesWithItsShapeAsTheQuantileDoes) {
  const Tensor key = random::key(8);
  const auto draw = [&](Tensor a) { return random::gamma(key, a, {}); };
  for (const double a : {0.4, 1.7, 30.0}) {
    SCOPED_TRACE(a);
    const double x = draw(a).item<double>(), place = gamma_cdf(a, x), step = 1e-3 * a;
    const double up = gamma_quantile(a + step, place), down = gamma_quantile(a - step, place);
    EXPECT_NEAR(grad(draw)(a).item<double>(), (up - down) / (2 * step), 1e-5 * x / a);
    EXPECT_NEAR(grad(grad(draw))(a).item<double>(), (up - 2 * x + down) / (step * step),
                1e-3 * (1 + x / (a * a)));
    EXPECT_EQ(value_and_grad(draw)(a).first.item<double>(), x);
  }
  // In f32, with one lane per shape.
  const auto slopes = vmap(grad([&](Tensor a) { return random::gamma(key, a, {}); }));
  const Literal got = slopes(constant({0.4f, 1.7f, 30.0f})).eval();
  for (std::size_t i = 0; i < 3; i++) {
    const float a = std::vector<float>{0.4f, 1.7f, 30.0f}[i];
    EXPECT_NEAR(got.data<float>()[i], grad(draw)(a).item<float>(), 1e-5);
  }
}

TEST(RandomMultivariateNormal, IsTheMeanAndTheFactorTimesNormalNumbers) {
  const Tensor key = random::key(6), mean = constant({1.0, -2.0}),
               covariance = constant({{4.0, 2.0}, {2.0, 10.0}});
  const Literal drawn = random::multivariate_normal(key, mean, covariance, {3}).eval();
  const Literal unit = random::normal(key, f64({3, 2})).eval();
  // The factor is {{2, 0}, {1, 3}}.
  for (std::size_t i = 0; i < 3; i++) {
    const double u = unit.data<double>()[2 * i], v = unit.data<double>()[2 * i + 1];
    EXPECT_NEAR(drawn.data<double>()[2 * i], 1 + 2 * u, 1e-14);
    EXPECT_NEAR(drawn.data<double>()[2 * i + 1], -2 + u + 3 * v, 1e-14);
  }
  EXPECT_EQ(random::multivariate_normal(key, mean, covariance).type(), f64({2}));
  const Tensor many = random::multivariate_normal(key, mean, covariance, {4000});
  expect_close<double>(cov(transpose(many)), {2, 2}, {4, 2, 2, 10}, 0.05, 0.2);
  check_grads(
      [&](Tensor m, Tensor half) {
        return random::multivariate_normal(
            key, m, matmul(half, transpose(half)) + eye(2, DType::kF64), {2});
      },
      std::tuple(mean, constant({{1.0, 0.5}, {-0.3, 0.8}})));
  expect_error(
      [&] { (void)random::multivariate_normal(key, mean, eye(3, DType::kF64)); },
      {"random::multivariate_normal: the mean is f64[2], the covariance f64[3,3]", "f64[2,2]"});
}

}  // namespace
}  // namespace rondo
