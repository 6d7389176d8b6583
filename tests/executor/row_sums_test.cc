// Sums over axes that no one loop goes through, of arrays that are computed: broadcasts, slices.
#include <algorithm>
#include <cmath>
#include <functional>

#include "executor/agreement.h"

namespace rondo {
namespace {

using testing::expect_agreement;

constexpr std::int64_t kRows = 5, kLength = 901;

Literal numbers(Shape shape, float first) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = first + std::sin(static_cast<float>(i * i % 1009));
  return Literal::from(values, shape);
}

std::int64_t arena_bytes(const Function& function, bool contract) {
  return compile(function, {.contract = contract, .executor = Executor::kBytecode})
      .memory_plan()
      .arena_bytes;
}

/// The difference of each element of the matrix and its column's number.
double difference(const Literal& matrix, const Literal& column, std::int64_t i) {
  return static_cast<double>(matrix.data<float>()[static_cast<std::size_t>(i)] -
                             column.data<float>()[static_cast<std::size_t>(i / kLength)]);
}

TEST(RowSums, OfFloatsNeedNoArrayWhereTheirOrderIsFree) {
  const auto f = [](Tensor x, Tensor c) { return sum(square(x - expand_dims(c, 1))); };
  const Literal x = numbers({kRows, kLength}, 1), c = numbers({kRows}, -1);
  const Function function = trace(f, x, c);
  EXPECT_EQ(arena_bytes(function, true), 0);
  EXPECT_GE(arena_bytes(function, false), kRows * kLength * 4);
  double want = 0;
  for (std::int64_t i = 0; i < kRows * kLength; i++) want += std::pow(difference(x, c, i), 2);
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const float got = compile(function, {.executor = executor}).run({x, c})[0].item<float>();
    EXPECT_NEAR(got, want, 1e-6 * want);
  }
  (void)expect_agreement(function, {x, c});
}

TEST(RowSums, OfIntegersAndExtremesNeverNeedAnArray) {
  const Literal x = numbers({kRows, kLength}, 1), c = numbers({kRows}, -1);
  const auto greatest = [](Tensor x, Tensor c) { return max(x - expand_dims(c, 1)); };
  const auto count = [](Tensor x, Tensor c) {
    return sum(convert(x > expand_dims(c, 1) + 2, DType::kS32)) + 7;
  };
  const auto all_less = [](Tensor x, Tensor c) { return all(x < expand_dims(c, 1) + 3); };
  double most = -INFINITY;
  int above = 7;
  bool less = true;
  for (std::int64_t i = 0; i < kRows * kLength; i++) {
    most = std::max(most, difference(x, c, i));
    const float of_row = c.data<float>()[static_cast<std::size_t>(i / kLength)],
                element = x.data<float>()[static_cast<std::size_t>(i)];
    above += element > of_row + 2;
    less = less && element < of_row + 3;
  }
  for (const Function& function :
       {trace(greatest, x, c), trace(count, x, c), trace(all_less, x, c)})
    EXPECT_LE(arena_bytes(function, false), 64) << function.str();
  EXPECT_EQ(expect_agreement(trace(greatest, x, c), {x, c})[0].item<float>(),
            static_cast<float>(most));
  EXPECT_EQ(expect_agreement(trace(count, x, c), {x, c})[0].item<int>(), above);
  EXPECT_EQ(expect_agreement(trace(all_less, x, c), {x, c})[0].item<bool>(), less);
}

TEST(RowSums, GoOnFromRowToRowWithinAxesThatStay) {
  const auto f = [](Tensor x, Tensor weights) { return sum(x * weights, {1, 2}); };
  const Literal x = numbers({3, kRows, kLength}, 0.25f), weights = numbers({kLength}, 1);
  const Function function = trace(f, x, weights);
  EXPECT_EQ(arena_bytes(function, true), 0);
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Literal got = compile(function, {.executor = executor}).run({x, weights})[0];
    for (std::size_t k = 0; k < 3; k++) {
      double want = 0;
      for (std::size_t i = 0; i < kRows * kLength; i++) {
        want += static_cast<double>(x.data<float>()[k * kRows * kLength + i] *
                                    weights.data<float>()[i % kLength]);
      }
      EXPECT_NEAR(got.data<float>()[k], want, 1e-4 * (1 + std::abs(want)));
    }
  }
  (void)expect_agreement(function, {x, weights});
}

TEST(RowSums, OfShortRowsAreMadeOfTheWholeArray) {
  const auto f = [](Tensor x, Tensor c) { return max(x - expand_dims(c, 1)); };
  const Literal x = numbers({200, 20}, 1), c = numbers({200}, -1);
  const Function function = trace(f, x, c);
  EXPECT_GE(arena_bytes(function, true), 200 * 20 * 4);
  (void)expect_agreement(function, {x, c});
}

}  // namespace
}  // namespace rondo
