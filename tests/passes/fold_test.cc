#include "passes/fold.h"

#include "passes/check.h"

namespace rondo::testing {
namespace {

TEST(Fold, SmallValuesAreComputed) {
  const Function f = trace(
      [](Tensor x) {
        const Tensor weights = exp(constant({0.0f, 1.0f, -1.0f})) * 2.0f;
        return x * sum(weights);
      },
      f32());
  const Function g = expect_same_results(f, {Literal::scalar(1.5f)});
  EXPECT_EQ(count_computed(g), count(g, "multiply"));
  EXPECT_EQ(count(g, "multiply"), 1);
}

TEST(Fold, EachResultAsItsKernelHasIt) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Function f = trace(
      [&](Tensor x) {
        const Tensor zero = constant({0.0f, -0.0f, infinity, std::nanf("")});
        return std::tuple(x, 1.0f / zero, zero - zero, zero * -1.0f, Tensor(7) / Tensor(0),
                          maximum(zero, 0.0f), convert(zero, DType::kS32));
      },
      f32());
  const Function g = expect_same_results(f, {Literal::scalar(0.0f)});
  EXPECT_EQ(count_computed(g), 0);
}

TEST(Fold, LargeResultsStayPrograms) {
  const Function f = trace([](Tensor x) { return x + full(f32({100}), 2.0f) * 3.0f; }, f32({100}));
  const Function g = passes::optimize(f);
  for (const ir::Node* node : g.body()) {
    if (ir::is_constant(node)) {
      EXPECT_LE(node->type().elements(), passes::kFoldedResultElements);
    }
  }
  expect_same_results(f, {Literal::zeros(f32({100}))});
}

TEST(Fold, LargeOperandsStayPrograms) {
  const std::vector<float> many(5000, 1.0f);
  const Function f = trace([&](Tensor x) { return x + sum(constant(many, {5000})); }, f32());
  EXPECT_EQ(passes::fold(f.outputs()[0].node()->operands[1].node()), std::nullopt);
}

TEST(Fold, WithinLoops) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(
            0, 3, [](Tensor, Tensor s) { return s + sqrt(Tensor(2.0f)) * 2.0f; }, x);
      },
      f32());
  const Function g = expect_same_results(f, {Literal::scalar(1.0f)});
  EXPECT_EQ(count(g, "sqrt"), 0);
  EXPECT_EQ(count(g, "multiply"), 0);
}

TEST(Fold, SeveralResults) {
  const Function f = trace(
      [](Tensor x) {
        const auto [keys, values] =
            sort_by(std::tuple(constant({3, 1, 2}), constant({30.0f, 10.0f, 20.0f})), 0,
                    [](std::tuple<Tensor, Tensor> a, std::tuple<Tensor, Tensor> b) {
                      return std::get<0>(a) < std::get<0>(b);
                    });
        return std::tuple(x + values, keys);
      },
      f32({3}));
  expect_same_results(f, {Literal::from({1.0f, 2.0f, 3.0f}, {3})});
}

TEST(Fold, ATapOfAConstantStays) {
  const Function f = trace([](Tensor x) { return x + tap(Tensor(2.0f) * 3.0f, "six"); }, f32());
  EXPECT_EQ(count(passes::optimize(f), "tap"), 1);
}

}  // namespace
}  // namespace rondo::testing
