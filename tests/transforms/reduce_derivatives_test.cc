// Derivatives of reductions, prefix scans, sorting, and random numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/expect.h"
#include "transforms/derivative_rows.h"

namespace rondo {
namespace {

using testing::bent;
using testing::derivative_error;
using testing::expect_close;
using testing::expect_error;
using testing::expect_scalar;
using testing::expect_values;
using testing::Many;
using testing::random_array;
using testing::Reducing;
using testing::weighed;

class ReduceDerivatives : public ::testing::TestWithParam<Reducing> {};

TEST_P(ReduceDerivatives, AgreeWithDifferences) {
  for (DType dtype : {DType::kF64, DType::kC128}) {
    if (is_complex(dtype) && !GetParam().complex) continue;
    std::vector<Literal> x;
    for (const Shape& shape : GetParam().shapes)
      x.push_back(random_array({dtype, shape}, static_cast<unsigned>(x.size()) + 1));
    EXPECT_EQ(derivative_error(bent(GetParam().op), x), "") << dtype_name(dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, ReduceDerivatives, ::testing::ValuesIn(testing::reductions()),
                         [](const auto& info) { return std::string(info.param.name); });

// The numbers of the following tests are those of jax.grad and jax.hessian, JAX 0.10.2.

TEST(ReduceDerivative, EqualsOfTheGreatestShareAsInJax) {
  const Tensor x = constant({1.0, 3.0, 3.0, 2.0});
  expect_values<double>(grad([](const Tensor& t) { return max(t); })(x), {4}, {0, 0.5, 0.5, 0});
  expect_values<double>(grad([](const Tensor& t) { return min(-t); })(x), {4}, {0, -0.5, -0.5, 0});
  expect_values<double>(hessian([](const Tensor& t) { return max(t) * max(t); })(x), {4, 4},
                        {0, 0, 0, 0, 0, 0.5, 0.5, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 0});
  // From jax.jit(jax.grad): without jit the result is NaN, as 0 times infinity.
  expect_values<double>(
      grad([](const Tensor& t) { return max(t); })(constant({1.0, std::nan(""), 2.0})), {3},
      {0, 0, 0});
  // So a guard prevents harm from what it does not select.
  const auto guarded = [](const Tensor& t) {
    const Tensor greatest = max(t);
    return where(is_nan(greatest), 1, greatest) + sum(square(where(is_nan(t), 0, t)));
  };
  expect_values<double>(grad(guarded)(constant({1.0, std::nan(""), 2.0})), {3}, {2, 0, 4});
}

TEST(ReduceDerivative, TheInitialValueIsOneOfTheEquals) {
  const auto [of_x, of_init] = grad<0, 1>([](const Tensor& x, const Tensor& init) {
    return reduce(x, init, {}, [](Tensor a, Tensor b) { return maximum(a, b); });
  })(constant({3.0, 1.0, 3.0, 3.0}), constant(Literal::scalar(3.0)));
  expect_values<double>(of_x, {4}, {0.25, 0, 0.25, 0.25});
  expect_scalar(of_init, 0.25);
}

TEST(ReduceDerivative, NothingButTheInitialValue) {
  const double lowest = -std::numeric_limits<double>::infinity();
  const auto greatest = [](const Tensor& x, const Tensor& init) {
    return reduce(x, init, {}, [](Tensor a, Tensor b) { return maximum(a, b); });
  };
  const auto [of_x, of_init] =
      grad<0, 1>(greatest)(zeros(f64({0})), constant(Literal::scalar(lowest)));
  expect_values<double>(of_x, {0}, {});
  expect_scalar(of_init, 1.0);
}

TEST(ReduceDerivative, OfProductsWithZerosAsInJax) {
  const auto f = [](const Tensor& x) { return prod(x); };
  const Tensor one = constant({2.0, 0.0, 3.0}), two = constant({0.0, 2.0, 0.0});
  expect_values<double>(grad(f)(one), {3}, {0, 6, 0});
  expect_values<double>(hessian(f)(one), {3, 3}, {0, 3, 0, 3, 0, 2, 0, 2, 0});
  expect_values<double>(grad(f)(two), {3}, {0, 0, 0});
  expect_values<double>(hessian(f)(two), {3, 3}, {0, 0, 2, 0, 0, 0, 2, 0, 0});
}

TEST(ReduceDerivative, OfAnotherCombinerAsInJax) {
  const auto f = [](const Tensor& x) {
    return reduce(x, 0.0, {}, [](Tensor a, Tensor b) { return a + b + a * b; });
  };
  const Tensor x = constant({0.5, -1.0, 2.0});
  expect_values<double>(grad(f)(x), {3}, {0, 4.5, 0});
  expect_values<double>(hessian(f)(x), {3, 3}, {0, 3, 0, 3, 0, 1.5, 0, 1.5, 0});
}

TEST(ReduceDerivative, ACombinerThatIsNotElementwiseIsRefused) {
  const auto combine = [](Tensor a, Tensor b) { return sum(stack({a, b}, 0)); };
  const auto rows = [&](const Tensor& x) { return sum(reduce(x, 0.0, {0}, combine)); };
  expect_error(
      [&] {
        grad(rows)(zeros(f64({3, 2}))).eval();
      },
      {"reduce: no derivative passes its combiner, which uses reshape",
       "reduce_derivatives_test.cc", "rondo::associative_scan"});
  const auto whole = [&](const Tensor& x) { return reduce(x, 0.0, {}, combine); };
  expect_values<double>(grad(whole)(zeros(f64({2, 2}))), {2, 2}, {1, 1, 1, 1});
}

TEST(ReduceDerivative, OfRunningExtremesAsInJax) {
  const Tensor x = constant({1.0, 2.0, 2.0, 1.0, 2.0}), y = constant({2.0, 1.0, 1.0, 2.0, 1.0});
  expect_values<double>(grad([](const Tensor& t) { return weighed(cummax(t, 0)); })(x), {5},
                        {1, 3060, 3050, 0, 5000});
  expect_values<double>(grad([](const Tensor& t) { return weighed(cummax(t, 0, true)); })(x), {5},
                        {0, 2.75, 52.75, 0, 11055.5});
  expect_values<double>(grad([](const Tensor& t) { return weighed(cummin(t, 0)); })(y), {5},
                        {1, 3060, 3050, 0, 5000});
}

TEST(ReduceDerivative, OfRunningTotalsAsInJax) {
  const Tensor x = constant({2.0, 0.0, 3.0, 0.0, 4.0});
  const auto products = [](const Tensor& t) { return weighed(cumprod(t, 0)); };
  expect_values<double>(grad(products)(x), {5}, {1, 620, 0, 0, 0});
  expect_values<double>(hessian(products)(x), {5, 5}, {0,   310,    0,   0,      0,  //
                                                       310, 0,      200, 246000, 0,  //
                                                       0,   200,    0,   0,      0,  //
                                                       0,   246000, 0,   0,      0,  //
                                                       0,   0,      0,   0,      0});
  expect_values<double>(grad([](const Tensor& t) { return weighed(cumsum(t, 0)); })(x), {5},
                        {11111, 11110, 11100, 11000, 10000});
}

TEST(ReduceDerivative, OfSortedEqualsAsInJax) {
  const Tensor x = constant({3.0, 1.0, 3.0, 2.0, 1.0});
  expect_values<double>(grad([](const Tensor& t) { return weighed(sort(t)); })(x), {5},
                        {1000, 1, 10000, 100, 10});
}

TEST(ReduceDerivative, OfSortedWithoutElements) {
  for (const Shape& shape : {Shape{0}, Shape{0, 3}, Shape{3, 0}}) {
    const Tensor x = zeros({DType::kF64, shape});
    const auto sorted = [](const Tensor& t) { return sort(t, 0); };
    EXPECT_EQ(jvp(sorted, std::tuple(x), std::tuple(x)).second.shape(), shape);
    EXPECT_EQ(grad([&](const Tensor& t) { return sum(sorted(t)); })(x).shape(), shape);
  }
}

TEST(ReduceDerivative, SortsOnce) {
  const auto gradient = [](const Tensor& x) {
    return grad([](const Tensor& t) { return sum(sort(t) * iota(t.type(), 0)); })(x);
  };
  EXPECT_EQ(trace(gradient, f64({50})).stats().ops.at("sort"), 1);
  // Few cotangents are sorted back to their positions, by keys of the forward run.
  const Function few = trace(gradient, f64({5}));
  EXPECT_EQ(few.stats().ops.at("sort"), 2);
  EXPECT_EQ(few.stats().ops.count("scatter"), 0u);
}

TEST(ReduceDerivative, OfRandomNumbersAsInJax) {
  const Tensor key = random::key(3);
  const Tensor scaled =
      grad([&](const Tensor& s) { return sum(s * random::normal(key, f64({4}))); })(2.0);
  expect_close<double>(scaled, {}, {-0.5502903831388101}, 1e-12);
  const Tensor low =
      grad([&](const Tensor& l) { return sum(random::uniform(key, f64({4}), l, 2.0)); })(1.0);
  expect_close<double>(low, {}, {2.238627600079398}, 1e-12);
}

}  // namespace
}  // namespace rondo
