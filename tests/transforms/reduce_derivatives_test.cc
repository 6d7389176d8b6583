// Derivatives of reductions, running totals, sorting, and random numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/expect.h"
#include "transforms/bent.h"

namespace rondo {
namespace {

using testing::bent;
using testing::derivative_error;
using testing::expect_close;
using testing::expect_error;
using testing::expect_scalar;
using testing::expect_values;
using testing::random_array;
using testing::weighed;
using Many = std::vector<Tensor>;

Tensor log_of_sums(const Tensor& a, const Tensor& b) { return log(exp(a) + exp(b)); }

struct Reducing {
  const char* name;
  std::vector<Shape> shapes;
  std::function<Many(const Many&)> op;
  bool complex = false;  // there is such an op
};

const Reducing kReductions[] = {
    {"sum", {{2, 3, 4}}, [](const Many& x) { return Many{sum(x[0])}; }, true},
    {"sum_middle", {{2, 3, 4}}, [](const Many& x) { return Many{sum(x[0], {1})}; }, true},
    {"sum_outer",
     {{2, 3, 4}},
     [](const Many& x) {
       return Many{sum(x[0], {0, 2}, true)};
     },
     true},
    {"sum_scalar", {{}}, [](const Many& x) { return Many{sum(x[0])}; }, true},
    {"sum_of_nothing", {{2, 0}}, [](const Many& x) { return Many{sum(x[0], {1})}; }},
    {"sum_from",
     {{2, 3}, {}},
     [](const Many& x) {
       return Many{reduce(x[0], x[1], {0}, [](Tensor a, Tensor b) { return a + b; })};
     },
     true},
    {"mean", {{2, 3}}, [](const Many& x) { return Many{mean(x[0], {1})}; }, true},
    {"prod",
     {{2, 3, 4}},
     [](const Many& x) {
       return Many{prod(x[0], {0, 2})};
     },
     true},
    {"prod_of_seven", {{7}}, [](const Many& x) { return Many{prod(x[0])}; }, true},
    {"prod_of_one", {{1}}, [](const Many& x) { return Many{prod(x[0])}; }, true},
    {"prod_of_nothing", {{2, 0}}, [](const Many& x) { return Many{prod(x[0], {1})}; }},
    {"prod_from",
     {{2, 3}, {}},
     [](const Many& x) {
       return Many{reduce(x[0], x[1], {0}, [](Tensor a, Tensor b) { return a * b; })};
     },
     true},
    {"max",
     {{2, 3, 4}},
     [](const Many& x) {
       return Many{max(x[0], {0, 2})};
     }},
    {"min", {{2, 3, 4}}, [](const Many& x) { return Many{min(x[0], {1})}; }},
    {"max_from",
     {{5, 3}, {}},
     [](const Many& x) {
       return Many{reduce(x[0], x[1], {1}, [](Tensor a, Tensor b) { return maximum(a, b); })};
     }},
    {"max_from_constant",
     {{5, 3}},
     [](const Many& x) {
       return Many{reduce(x[0], 0.3, {1}, [](Tensor a, Tensor b) { return maximum(a, b); })};
     }},
    {"other_combiner",
     {{2, 3, 4}, {}},
     [](const Many& x) {
       return Many{reduce(x[0], x[1], {0, 2}, log_of_sums)};
     },
     true},
    {"other_combiner_to_scalar",
     {{2, 3}, {}},
     [](const Many& x) {
       return Many{reduce(x[0], x[1], {}, [](Tensor a, Tensor b) { return a * 0.5 + b * b; })};
     },
     true},
    {"combiner_of_two",  // sum and sum of products, in one reduction
     {{3, 2}, {3, 2}},
     [](const Many& x) {
       const auto [a, b] =
           reduce(std::pair{x[0], x[1]}, std::pair{0.5, 1.0}, {0},
                  [](std::pair<Tensor, Tensor> acc, std::pair<Tensor, Tensor> e) {
                    return std::pair{acc.first + e.first, acc.second + acc.first * e.second};
                  });
       return Many{a, b};
     },
     true},
    {"combiner_with_index",  // the greatest, and where it stands
     {{4, 3}},
     [](const Many& x) {
       using Best = std::pair<Tensor, Tensor>;
       const Best best =
           reduce(Best{x[0], iota(s32({4, 3}), 0)},
                  std::pair{-std::numeric_limits<double>::infinity(), 0}, {0}, [](Best a, Best b) {
                    const Tensor keep = a.first >= b.first;
                    return Best{where(keep, a.first, b.first), where(keep, a.second, b.second)};
                  });
       return Many{best.first * (1 + convert(best.second, DType::kF64))};
     }},
    {"cumsum", {{2, 5}}, [](const Many& x) { return Many{cumsum(x[0], 1)}; }, true},
    {"cumsum_reverse", {{5, 2}}, [](const Many& x) { return Many{cumsum(x[0], 0, true)}; }, true},
    {"cumprod", {{2, 5}}, [](const Many& x) { return Many{cumprod(x[0], 1)}; }, true},
    {"cumprod_reverse", {{6, 2}}, [](const Many& x) { return Many{cumprod(x[0], 0, true)}; }, true},
    {"cummax", {{2, 7}}, [](const Many& x) { return Many{cummax(x[0], 1)}; }},
    {"cummin_reverse", {{7, 2}}, [](const Many& x) { return Many{cummin(x[0], 0, true)}; }},
    {"cumsum_of_nothing", {{0, 2}}, [](const Many& x) { return Many{cumsum(x[0], 0)}; }},
    {"sort", {{3, 5}}, [](const Many& x) { return Many{sort(x[0])}; }, true},
    {"sort_first_axis", {{5, 3}}, [](const Many& x) { return Many{sort(x[0], 0)}; }, true},
    {"sort_by_descending",
     {{2, 5}},
     [](const Many& x) {
       return Many{sort_by(
           x[0], 1, [](Tensor a, Tensor b) { return a > b; }, false)};
     }},
    {"sort_by_with_others",
     {{5, 2}, {5, 2}},
     [](const Many& x) {
       using Row = std::tuple<Tensor, Tensor, Tensor>;
       const auto [key, value, place] =
           sort_by(Row{x[0], x[1], iota(s32({5, 2}), 0)}, 0,
                   [](Row a, Row b) { return abs(std::get<0>(a)) < abs(std::get<0>(b)); });
       return Many{key, value * convert(place, DType::kF64)};
     }},
    {"sort_by_integers",
     {{4}},
     [](const Many& x) {
       using Pair = std::pair<Tensor, Tensor>;
       return Many{sort_by(Pair{constant({3, 1, 2, 0}), x[0]}, 0, [](Pair a, Pair b) {
                     return a.first < b.first;
                   }).second};
     }},
};

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

INSTANTIATE_TEST_SUITE_P(Ops, ReduceDerivatives, ::testing::ValuesIn(kReductions),
                         [](const auto& info) { return std::string(info.param.name); });

// The numbers of the following tests are those of jax.grad and jax.hessian, JAX 0.10.2.

TEST(ReduceDerivative, EqualsOfTheGreatestShareAsInJax) {
  const Tensor x = constant({1.0, 3.0, 3.0, 2.0});
  expect_values<double>(grad([](const Tensor& t) { return max(t); })(x), {4}, {0, 0.5, 0.5, 0});
  expect_values<double>(grad([](const Tensor& t) { return min(-t); })(x), {4}, {0, -0.5, -0.5, 0});
  expect_values<double>(hessian([](const Tensor& t) { return max(t) * max(t); })(x), {4, 4},
                        {0, 0, 0, 0, 0, 0.5, 0.5, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 0});
  const double nan = std::nan("");
  expect_values<double>(grad([](const Tensor& t) { return max(t); })(constant({1.0, nan, 2.0})),
                        {3}, {nan, nan, nan});
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

TEST(ReduceDerivative, SortsOnce) {
  const Function f = trace(
      [](const Tensor& x) { return grad([](const Tensor& t) { return weighed(sort(t)); })(x); },
      f64({5}));
  EXPECT_EQ(f.stats().ops.at("sort"), 1);
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
