#include "passes/cse.h"

#include "passes/check.h"

namespace rondo::testing {
namespace {

const Literal kOneHalf = Literal::scalar(0.5f), kThree = Literal::scalar(3.0f);

TEST(CommonExpressions, AreComputedOnce) {
  const Function f =
      trace([](Tensor x, Tensor y) { return sin(x + y) * exp(sin(x + y)); }, f32(), f32());
  const Function g = expect_same_results(f, {kOneHalf, kThree});
  EXPECT_EQ(count(f, "sin"), 2);
  EXPECT_EQ(count(g, "sin"), 1);
  EXPECT_EQ(count(g, "add"), 1);
}

TEST(CommonExpressions, CommutativeOpsInEitherOrder) {
  const Function f =
      trace([](Tensor x, Tensor y) { return (x + y) / (y + x) + (x - y) / (y - x); }, f32(), f32());
  const Function g = expect_same_results(f, {kOneHalf, kThree});
  EXPECT_EQ(count(g, "subtract"), 2);
  EXPECT_EQ(count(g, "add"), 2);  // x + y, and the sum of the quotients
}

TEST(CommonExpressions, AttributesTypesAndResultsCount) {
  const Function f = trace(
      [](Tensor x) {
        return std::tuple(sum(x, {0}), sum(x, {1}), convert(x, DType::kF64),
                          convert(x, DType::kF16), sum(x, {0}));
      },
      f32({3, 3}));
  const Function g = expect_same_results(
      f, {Literal::from({1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f, 9.f}, {3, 3})});
  EXPECT_EQ(count(g, "reduce"), 2);
  EXPECT_EQ(count(g, "convert"), 2);
}

TEST(CommonExpressions, ConstantsByContent) {
  const Function f =
      trace([](Tensor x) { return (x + 2.0f) * (x - 2.0f) / (x + 0.0f) + (x * -0.0f); }, f32());
  const Function g = expect_same_results(f, {kThree});
  EXPECT_EQ(count(g, "constant"), 3);  // 2, 0 and -0
}

TEST(CommonExpressions, LoopsWithEqualRegions) {
  auto halve = [](Tensor x, float by) {
    return while_loop([](Tensor s) { return s > 1.0f; }, [&](Tensor s) { return s * by; }, x);
  };
  const Function f =
      trace([&](Tensor x) { return halve(x, 0.5f) + halve(x, 0.5f) * halve(x, 0.25f); }, f32());
  const Function g = expect_same_results(f, {Literal::scalar(100.0f)});
  EXPECT_EQ(count(f, "while"), 3);
  EXPECT_EQ(count(g, "while"), 2);
}

TEST(CommonExpressions, InEveryRegion) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(
            0, 3,
            [](Tensor, Tensor s) {
              return cond(
                  s > 1.0f, [](Tensor s) { return cos(s) + cos(s); },
                  [](Tensor s) { return exp(s) - exp(s) * 2.0f; }, s);
            },
            x);
      },
      f32());
  const Function g = expect_same_results(f, {kOneHalf});
  EXPECT_EQ(count(g, "cos"), 1);
  EXPECT_EQ(count(g, "exp"), 1);
}

TEST(CommonExpressions, TapsAreNeverMerged) {
  const Function f = trace([](Tensor x) { return tap(x, "x") + tap(x, "x"); }, f32());
  EXPECT_EQ(count(passes::optimize(f), "tap"), 2);
  auto loop = [](Tensor x) {
    return fori_loop(
        0, 2, [](Tensor, Tensor s) { return tap(s, "s") * 2.0f; }, x);
  };
  const Function g = trace([&](Tensor x) { return loop(x) + loop(x); }, f32());
  EXPECT_EQ(count(passes::optimize(g), "fori_loop"), 2);
}

TEST(CommonExpressions, ManyOfOneOpDoNotCollide) {
  const std::int64_t n = 20000;
  const Function f = trace(
      [&](Tensor x) {
        std::vector<Tensor> parts;
        for (std::int64_t i = 0; i < n; i++) parts.push_back(slice(x, {i}, {i + 1}));
        return concatenate(parts, 0);
      },
      f32({n}));
  const Function g = passes::optimize(f);  // if quadratic, this would take minutes
  EXPECT_EQ(count(g, "slice"), n);
}

}  // namespace
}  // namespace rondo::testing
