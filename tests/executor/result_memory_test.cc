// Consecutive loops that carry an array in place work in the memory of the result that it becomes.
#include "executor/agreement.h"
#include "support/lowered.h"

namespace rondo::testing {
namespace {

constexpr std::int64_t kElements = 1000;
constexpr std::int64_t kBytes = kElements * 4;

/// Sets n elements from `first` on, the last of which depend on the first.
Tensor written(const Tensor& table, int first, int n) {
  return fori_loop(
      first, first + n,
      [](Tensor i, Tensor t) {
        return update(t, i, t[(i * 7) % kElements] * 0.5f + convert(i, DType::kF32));
      },
      table);
}

Literal counting_bytes() {
  std::vector<float> values(kElements);
  for (std::size_t i = 0; i < values.size(); i++) values[i] = static_cast<float>(i % 13);
  return Literal::from(values, {kElements});
}

const std::vector<TensorType> kTable{f32({kElements})};

TEST(ResultMemory, HoldsWhatLoopsOneAfterTheOtherCarry) {
  const Function of_the_argument = trace(
      [](Tensor x) { return written(written(written(x, 0, 9), 20, 100), 500, 400); }, kTable[0]);
  expect_agreement(of_the_argument, {counting_bytes()});
  EXPECT_EQ(Lowered(of_the_argument).copies(kBytes), 1);  // of the argument
  const Function of_a_value =
      trace([](Tensor x) { return written(written(x * 3.0f, 0, 9), 500, 400); }, kTable[0]);
  expect_agreement(of_a_value, {counting_bytes()});
  EXPECT_EQ(Lowered(of_a_value).copies(kBytes), 0);
  EXPECT_EQ(Lowered(of_a_value).program().arena_bytes, 0);
}

TEST(ResultMemory, IsNotWrittenWhileAnEarlierValueIsRead) {
  const auto check = [](auto f) { expect_agreement(trace(f, kTable[0]), {counting_bytes()}); };
  // The value between two loops is used again, later or as another result.
  check([](Tensor x) {
    const Tensor between = written(x, 0, 9);
    return written(between, 500, 400) + between;
  });
  check([](Tensor x) {
    const Tensor between = written(x, 0, 9);
    return std::pair(written(between, 500, 400), between);
  });
  check([](Tensor x) {
    const Tensor between = written(x, 0, 9), last = written(between, 500, 400);
    return std::tuple(last, last, between * 2.0f);
  });
  // Another loop between them has an unused carry that needs memory.
  check([](Tensor x) {
    const Tensor first = written(x, 0, 9);
    const auto [i, other, total] = while_loop([](Tensor i, Tensor, Tensor) { return i < 5; },
                                              [](Tensor i, Tensor other, Tensor total) {
                                                const Tensor next = reverse(other, {0}) * 1.5f;
                                                return std::tuple(i + 1, next, total + next[3]);
                                              },
                                              std::tuple(Tensor(0), x + 1.0f, Tensor(0.0f)));
    return std::pair(written(first, 500, 400), total);
  });
  // And one of the loops does not carry it in place.
  check([](Tensor x) {
    const Tensor turned = fori_loop(
        0, 5, [](Tensor, Tensor t) { return reverse(t, {0}) + 1.0f; }, written(x, 0, 9));
    return written(turned, 500, 400);
  });
}

}  // namespace
}  // namespace rondo::testing
