#include "passes/sum_trips.h"

#include "ir/layout.h"
#include "passes/check_trips.h"

namespace rondo::testing {
namespace {

constexpr std::int64_t kSummedTrips = 10, kSummedRows = 8, kSummedWidth = 64;
const TensorType kSummedWeights = f32({kSummedWidth, kSummedWidth}),
                 kSummedState = f32({kSummedRows, kSummedWidth}),
                 kSummed = f32({kSummedTrips, kSummedRows, kSummedWidth});

BothForms summed(const Function& function) {
  return {function, [](const Function& plain, const auto& batching) {
            return passes::sum_trips(plain, batching);
          }};
}

std::vector<Literal> whole_arguments_for(const Function& function) {
  std::vector<Literal> arguments;
  for (const TensorType& type : function.params())
    arguments.push_back(whole_numbers(type.shape.vector(), static_cast<int>(arguments.size())));
  return arguments;
}

const DotDims kOverRows{{}, {}, {0}, {0}};

/// Adds `term(x, y, h)` to a matrix, for slices x and y and another carry h.
template <class Term>
auto added(Term term, Tensor sum, Tensor h, Tensor xs, Tensor ys) {
  return scan(
      [&](std::pair<Tensor, Tensor> carry, std::pair<Tensor, Tensor> slices) {
        const auto [sum, h] = carry;
        const auto [x, y] = slices;
        return std::pair(std::pair(term(sum, x, y, h), maximum(y - h, x)), h);
      },
      std::pair(sum, h), std::pair(xs, ys));
}
template <class Term>
Function adding_terms(Term term) {
  return trace(
      [&](Tensor sum, Tensor h, Tensor xs, Tensor ys) { return added(term, sum, h, xs, ys); },
      kSummedWeights, kSummedState, kSummed, kSummed);
}
template <class Term>
Function adding_in_a_loop(Term term) {
  return trace(
      [&](Tensor sum, Tensor h, Tensor xs, Tensor ys) {
        return fori_loop(
            0, 2, [&](Tensor, Tensor sum) { return added(term, sum, h, xs, ys).first.first; }, sum);
      },
      kSummedWeights, kSummedState, kSummed, kSummed);
}

/// Products that remain in the loop.
std::int64_t products_within(const BothForms& forms) {
  return products_outside(find_node(forms.changed, "scan")->regions[0]);
}

TEST(SumTrips, OuterProductsAreOneProductAfterTheLoop) {
  const BothForms forms = summed(adding_terms([](Tensor sum, Tensor x, Tensor, Tensor h) {
    return sum + transpose(dot_general(h, x, kOverRows));
  }));
  EXPECT_EQ(products_outside(forms.changed), 1);
  const ir::Node* loop = find_node(forms.changed, "scan");
  EXPECT_EQ(products_outside(loop->regions[0]), 0);
  for (const TensorType& type : loop->types) EXPECT_NE(type, kSummedWeights);  // the carry is gone
  const auto [before, after] = expect_same_values(forms, whole_arguments_for(forms.plain));
  EXPECT_GE(before - after, 2 * (kSummedTrips - 1));
}

TEST(SumTrips, ValuesOfThePlainLoop) {
  const BothForms forms = summed(adding_terms(
      [](Tensor sum, Tensor x, Tensor y, Tensor) { return sum + dot_general(x, y, kOverRows); }));
  const std::vector<Literal> arguments = whole_arguments_for(forms.plain);
  const auto xs = arguments[2].data<float>(), ys = arguments[3].data<float>();
  std::vector<float> sum(arguments[0].data<float>().begin(), arguments[0].data<float>().end());
  for (std::size_t row = 0; row < kSummedTrips * kSummedRows; row++) {
    for (std::size_t i = 0; i < kSummedWidth; i++) {
      for (std::size_t j = 0; j < kSummedWidth; j++)
        sum[i * kSummedWidth + j] += xs[row * kSummedWidth + i] * ys[row * kSummedWidth + j];
    }
  }
  const Literal got = compile(forms.changed, {.optimize = false}).run(arguments)[0];
  EXPECT_TRUE(same_values(got, Literal::from(sum, {kSummedWidth, kSummedWidth})));
}

TEST(SumTrips, TermsOfOtherKindsStay) {
  const BothForms forms = summed(adding_in_a_loop([](Tensor sum, Tensor x, Tensor y, Tensor h) {
    return (dot_general(x, y, kOverRows) + (sum + rondo::sum(h * x))) +
           (transpose(dot_general(y, h, kOverRows)) + rondo::sum(y));
  }));
  const Function& trip = find_node(forms.changed, "fori_loop")->regions[0];
  // One of the sums is equal on each trip of the outer loop.
  EXPECT_EQ(products_outside(forms.changed) + products_outside(trip), 2);
  EXPECT_EQ(products_outside(find_node(trip, "scan")->regions[0]), 0);
  expect_same_values(forms, whole_arguments_for(forms.plain));
  const BothForms alone = summed(adding_terms([](Tensor sum, Tensor x, Tensor y, Tensor h) {
    return sum + (dot_general(x, y, kOverRows) + dot_general(h, x, kOverRows));
  }));
  EXPECT_EQ(products_within(alone), 0);
  expect_same_values(alone, whole_arguments_for(alone.plain));
}

/// The sum of the other terms would be another carry of the loop, and its carries are the state
/// that a stopped run returns.
TEST(SumTrips, BesideTermsOfOtherKindsAllStayInAnOutermostLoop) {
  const auto mixed = [](Tensor sum, Tensor x, Tensor y, Tensor h) {
    return sum + dot_general(x, y, kOverRows) + rondo::sum(h * x);
  };
  EXPECT_TRUE(summed(adding_terms(mixed)).same());
  EXPECT_FALSE(summed(adding_in_a_loop(mixed)).same());
}

TEST(SumTrips, ACarryThatIsUsedStays) {
  const auto product = [](Tensor x, Tensor y) { return dot_general(x, y, kOverRows); };
  const auto stays = [&](auto term) { return summed(adding_terms(term)).same(); };
  EXPECT_TRUE(stays(
      [&](Tensor sum, Tensor x, Tensor y, Tensor) { return maximum(sum + product(x, y), 0.0f); }));
  EXPECT_TRUE(
      stays([&](Tensor sum, Tensor x, Tensor y, Tensor) { return sum * 2.0f + product(x, y); }));
  EXPECT_TRUE(
      stays([&](Tensor sum, Tensor x, Tensor y, Tensor) { return sum + sum + product(x, y); }));
  EXPECT_TRUE(stays(
      [&](Tensor sum, Tensor x, Tensor y, Tensor) { return tap(sum, "sum") + product(x, y); }));
  EXPECT_TRUE(stays(
      [&](Tensor sum, Tensor x, Tensor y, Tensor) { return sum + tap(product(x, y), "product"); }));
  EXPECT_TRUE(
      stays([&](Tensor sum, Tensor x, Tensor y, Tensor) { return sum + exp(product(x, y)); }));
}

TEST(SumTrips, AProductInAnotherDtypeStays) {
  // s8 represents the products of each trip, but not their sum; and fractions are lost on each
  // trip.
  const BothForms narrow = summed(adding_terms([](Tensor sum, Tensor x, Tensor y, Tensor) {
    return sum + convert(dot_general(convert(x, DType::kS8), convert(y, DType::kS8), kOverRows),
                         DType::kF32);
  }));
  EXPECT_EQ(products_within(narrow), 1);
  expect_same_values(narrow, whole_arguments_for(narrow.plain));
  const BothForms truncated = summed(adding_terms([](Tensor sum, Tensor x, Tensor y, Tensor) {
    const Tensor product = dot_general(x * 0.25f, y, kOverRows);
    return sum + convert(convert(product, DType::kS32), DType::kF32);
  }));
  EXPECT_EQ(products_within(truncated), 1);
  expect_same_values(truncated, whole_arguments_for(truncated.plain));
}

TEST(SumTrips, AProductThatIsUsedElsewhereStays) {
  EXPECT_TRUE(summed(adding_terms([](Tensor sum, Tensor x, Tensor y, Tensor) {
                const Tensor product = dot_general(x, y, kOverRows);
                return sum + product + rondo::sum(product);
              })).same());
}

TEST(SumTrips, AProductThatUsesItsSumOftenStays) {
  const auto program = [](std::int64_t rows) {
    return trace(
        [&](Tensor sum, Tensor xs) {
          return scan(
                     [](Tensor sum, Tensor x) {
                       return std::pair(sum + dot_general(x, x, kOverRows), Tensor(0.0f));
                     },
                     sum, xs)
              .first;
        },
        kSummedWeights, f32({kSummedTrips, rows, kSummedWidth}));
  };
  EXPECT_FALSE(summed(program(100)).same());
  EXPECT_TRUE(summed(program(200)).same());
}

TEST(SumTrips, InLoopsWithAnIndex) {
  const BothForms forms = summed(trace(
      [&](Tensor sum, Tensor xs) {
        return fori_loop(
            0, kSummedTrips,
            [&](Tensor i, Tensor sum) { return sum + dot_general(xs[i], xs[i] * 2.0f, kOverRows); },
            sum);
      },
      kSummedWeights, kSummed));
  EXPECT_EQ(products_outside(forms.changed), 1);
  expect_same_values(forms, whole_arguments_for(forms.plain));
}

TEST(SumTrips, TheGradientOfARecurrentNetwork) {
  const auto loss = [](Tensor w, Tensor u, Tensor xs) {
    return sum(
        scan([&](Tensor h,
                 Tensor x) { return std::pair(tanh(matmul(x, w) + matmul(h, u)), Tensor(0.0f)); },
             zeros(kSummedState), xs)
            .first);
  };
  const BothForms forms = summed(trace(grad<0, 1>(loss), kSummedWeights, kSummedWeights, kSummed));
  const ir::Node* backward = nullptr;
  for (const ir::Node* node : forms.changed.body()) {
    const auto layout = ir::region_layout(node);
    if (layout && layout->reverse) backward = node;
  }
  ASSERT_TRUE(backward);
  EXPECT_EQ(products_outside(backward->regions[0]), 1);  // to the trip before
  EXPECT_EQ(products_outside(forms.changed), 2);
}

}  // namespace
}  // namespace rondo::testing
