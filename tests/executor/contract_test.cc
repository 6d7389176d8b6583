#include "passes/contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include "executor/agreement.h"
#include "ir/function_data.h"
#include "ops/contracted.h"
#include "ops/elementwise.h"

namespace rondo::passes {
namespace {

/// How many nodes of an op a function has, without its regions.
std::ptrdiff_t count(const Function& function, const ir::OpDef& op) {
  return std::count_if(function.body().begin(), function.body().end(),
                       [&](const ir::Node* node) { return node->op == &op; });
}

template <class F, class... Types>
Function contracted(F f, Types... types) {
  Function function = contract(trace(f, types...));
  function.verify();
  return function;
}

TEST(Contract, MakesOneOpOfAProductAndASumWhereNothingElseNeedsTheProduct) {
  const Function f = contracted(
      [](Tensor x, Tensor y, Tensor z) {
        const Tensor used_twice = y * z;
        return std::vector{x * y + z, z + x * z, used_twice + x, used_twice};
      },
      f32({3}), f32({3}), f32({3}));
  EXPECT_EQ(count(f, ops::kMultiplyAdd), 2);
  EXPECT_EQ(count(f, ops::kMultiply), 1);
  EXPECT_EQ(count(f, ops::kAdd), 1);
}

TEST(Contract, MakesOneOpOfAProductAndADifference) {
  const Function f = contracted(
      [](Tensor x, Tensor y, Tensor z) {
        const Tensor twice = z * z;
        // One of two products remains. A product that is subtracted from itself has two uses.
        return std::vector{z - x * y, x * z - y, x * x - y * y, twice - twice};
      },
      f64(), f64(), f64());
  EXPECT_EQ(count(f, ops::kNegatedMultiplyAdd), 2);
  EXPECT_EQ(count(f, ops::kMultiplySubtract), 1);
  EXPECT_EQ(count(f, ops::kMultiply), 2);
  EXPECT_EQ(count(f, ops::kSubtract), 1);
}

TEST(Contract, MakesOneFactorOfConstantsInARow) {
  const Function f = contracted(
      [](Tensor x) {
        const Tensor used_twice = x * 3.0f;
        // A single quotient stays exact.
        return std::vector{(0.7f * (x * 0.3f)) / 1.1f, used_twice * 5.0f, used_twice, x / 7.0f};
      },
      f32({2, 3}));
  EXPECT_EQ(count(f, ops::kMultiply), 3);
  EXPECT_EQ(count(f, ops::kDivide), 1);
}

TEST(Contract, LeavesFactorsWhoseProductLosesPrecision) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const std::pair<float, float>& factors :
       {std::pair(1e-25f, 1e-20f), {1e25f, 1e20f}, {kInfinity, 2.0f}}) {
    const Function f = contracted(
        [&](Tensor x) { return x * Tensor(factors.first) * Tensor(factors.second); }, f32());
    EXPECT_EQ(count(f, ops::kMultiply), 2) << factors.first;
  }
}

/// Executors may inline an op of an inner region into one loop with a product of the outer region,
/// or into another.
TEST(Contract, LeavesProductsOfOtherRegions) {
  const Function f = contracted(
      [](Tensor x, Tensor y) {
        const Tensor product = x * y;
        return fori_loop(
            0, 5, [&](Tensor, Tensor s) { return s * x + product; }, y);
      },
      f32(), f32());
  EXPECT_EQ(count(f, ops::kMultiply), 1);
  const auto loop = std::find_if(f.body().begin(), f.body().end(),
                                 [](const ir::Node* node) { return !node->regions.empty(); });
  ASSERT_NE(loop, f.body().end());
  EXPECT_EQ(count((*loop)->regions[0], ops::kMultiplyAdd), 1);
}

/// A chain of constants rounds once for the factor, and once for the product.
TEST(Contract, RoundsNoMoreOftenThanTheOpsThatItJoins) {
  const auto f = [](Tensor x, Tensor y) {
    return std::pair(x * 0.6309f * 4184.f / 1.7f / 0.3f, y - x * 1.1f / 0.7f);
  };
  const Function traced = trace(f, f32({64}), f32({64}));
  std::vector<float> x(64), y(64);
  for (std::size_t i = 0; i < 64; i++) {
    x[i] = 0.37f + static_cast<float>(i) * 1.618f;
    y[i] = static_cast<float>(i * i % 17);
  }
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const std::vector<Literal> results = compile(traced, {.executor = executor})
                                             .run({Literal::from(x, {64}), Literal::from(y, {64})});
    for (std::size_t i = 0; i < 64; i++) {
      const double exact = static_cast<double>(x[i]) * 0.6309f * 4184.f / 1.7f / 0.3f;
      EXPECT_NEAR(results[0].data<float>()[i], exact, exact * 2 * 0x1p-24) << i;
      const double taken = static_cast<double>(x[i]) * 1.1f / 0.7f, left = y[i] - taken;
      EXPECT_NEAR(results[1].data<float>()[i], left, (taken + std::abs(left)) * 0x1p-24) << i;
    }
  }
}

/// Products and quotients that become another number if they are rounded to the 64 bits of
/// x86's long double first: other machines have no such type.
TEST(Contract, RoundsFactorsOnceOnEveryMachine) {
  using Factors = std::pair<double, double>;
  const auto expect_of_one = [](const Function& f, double want) {
    ASSERT_EQ(count(f, ops::kMultiply), 1);
    EXPECT_EQ(compile(f, {.contract = false}).run({Literal::scalar(1.0)})[0].item<double>(), want);
  };
  for (const Factors& by : {Factors(0x1.330d3p+0, 0x1.b80419ff38bd4p+0),
                            {0x1.fedcdp+0, 0x1.5ee46a1e6f60ep+0},
                            {0x1.885c1p+0, 0x1.1f67d637d87bcp+0}}) {
    expect_of_one(
        contracted([&](Tensor x) { return x * Tensor(by.first) * Tensor(by.second); }, f64()),
        by.first * by.second);
  }
  for (const Factors& by : {Factors(931.0, 376.47), {939.0, 858.63}, {963.0, 625.71}}) {
    expect_of_one(
        contracted([&](Tensor x) { return x / Tensor(by.first) * Tensor(by.second); }, f64()),
        by.second / by.first);
  }
}

TEST(Contract, LeavesIntegersAndOtherFloatsAlone) {
  for (const DType dtype : {DType::kS32, DType::kF16, DType::kC64}) {
    const TensorType type{dtype, {4}};
    const Function f =
        contracted([](Tensor x, Tensor y, Tensor z) { return x * y + z; }, type, type, type);
    EXPECT_EQ(count(f, ops::kMultiply), 1) << dtype_name(dtype);
    EXPECT_EQ(count(f, ops::kAdd), 1) << dtype_name(dtype);
  }
}

TEST(Contract, RoundsTheSumsInComplexProductsOnce) {
  const Function f = trace([](Tensor x, Tensor y) { return x * y; }, c64(), c64());
  // (1 + a i)^2 with the real part 1 - a^2.
  const std::complex<float> x(1, 1 + 0x1p-12f);
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const auto square = [&](bool contracts) {
      return compile(f, {.contract = contracts, .executor = executor})
          .run({Literal::scalar(x), Literal::scalar(x)})[0]
          .item<std::complex<float>>();
    };
    EXPECT_EQ(square(false), std::complex(-0x1p-11f, 2 + 0x1p-11f));
    EXPECT_EQ(square(true), std::complex(-0x1p-11f - 0x1p-24f, 2 + 0x1p-11f));
  }
}

TEST(Contract, IsChosenByAnOption) {
  const Function f =
      trace([](Tensor x, Tensor y, Tensor z) { return x * y + z; }, f32(), f32(), f32());
  const float x = 1 + 0x1p-12f;
  const auto run = [&](bool contracts) {
    return compile(f, {.contract = contracts, .executor = Executor::kBytecode})
        .run({Literal::scalar(x), Literal::scalar(x), Literal::scalar(-1.f)})[0]
        .item<float>();
  };
  EXPECT_EQ(run(false), 0x1p-11f);
  EXPECT_EQ(run(true), 0x1p-11f + 0x1p-24f);
}

TEST(Contract, OfDifferencesRoundsOnceOnBothExecutors) {
  const Function from =
      trace([](Tensor x, Tensor y, Tensor z) { return z - x * y; }, f32(), f32(), f32());
  const Function less =
      trace([](Tensor x, Tensor y, Tensor z) { return x * y - z; }, f32(), f32(), f32());
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, whose last term does not fit a float.
  const float x = 1 + 0x1p-12f;
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const auto run = [&](const Function& f) {
      return compile(f, {.executor = executor})
          .run({Literal::scalar(x), Literal::scalar(x), Literal::scalar(1.f)})[0]
          .item<float>();
    };
    EXPECT_EQ(run(from), -(0x1p-11f + 0x1p-24f));
    EXPECT_EQ(run(less), 0x1p-11f + 0x1p-24f);
  }
}

}  // namespace
}  // namespace rondo::passes
