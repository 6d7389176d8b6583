// Prefix scans that are loops: of columns, and of rows if the order of parts is free.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

std::vector<float> quarters(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; i++)
    values.push_back(static_cast<float>((i * 37 + 11) % 101) * 0.25f - 12);
  return values;
}

// Widths and lengths with every vector tail; these sums are exact.
TEST(RunningTotals, OfColumnsOfEveryWidth) {
  for (std::int64_t width = 0; width < 68; width++) {
    const std::int64_t length = 9 + width % 4;
    const std::vector<float> values = quarters(length * width);
    const Literal x = Literal::from(values, {length, width});
    const Function f = trace(
        [](Tensor x) { return std::tuple(cumsum(x * 2, 0), cummax(x, 0, true), cummin(x + 1, 0)); },
        x);
    SCOPED_TRACE(f.str());
    const std::vector<Literal> got = expect_agreement(f, {x});
    if (width > 1) {
      EXPECT_FALSE(calls_kernels(f));
    }
    for (std::int64_t j = 0; j < width; j++) {
      float sum = 0, most = -INFINITY, least = INFINITY;
      for (std::int64_t i = 0; i < length; i++) {
        const auto at = static_cast<std::size_t>(i * width + j),
                   from_end = static_cast<std::size_t>((length - 1 - i) * width + j);
        sum += 2 * values[at];
        most = std::max(most, values[from_end]);
        least = std::min(least, values[at] + 1);
        ASSERT_EQ(got[0].data<float>()[at], sum);
        ASSERT_EQ(got[1].data<float>()[from_end], most);
        ASSERT_EQ(got[2].data<float>()[at], least);
      }
    }
  }
}

TEST(RunningTotals, OfRowsOfEveryLength) {
  for (std::int64_t length = 1; length < 68; length++) {
    const std::vector<float> values = quarters(3 * length);
    const Literal x = Literal::from(values, {3, length});
    const Function f = trace(
        [](Tensor x) { return std::tuple(cummax(x - 1, 1), cumprod(x, 1, true), cumsum(x, 1)); },
        x);
    SCOPED_TRACE(f.str());
    const std::vector<Literal> got = expect_agreement(f, {x});
    for (std::size_t i = 0; i < 3; i++) {
      float most = -INFINITY, sum = 0;
      for (std::size_t j = 0; j < static_cast<std::size_t>(length); j++) {
        const std::size_t at = i * static_cast<std::size_t>(length) + j;
        most = std::max(most, values[at] - 1);
        sum += values[at];
        ASSERT_EQ(got[0].data<float>()[at], most);
        ASSERT_EQ(got[2].data<float>()[at], sum);
      }
    }
  }
}

TEST(RunningTotals, OfEachDtypeAndAxis) {
  for (const DType dtype :
       {DType::kPred, DType::kS8, DType::kU8, DType::kS16, DType::kU32, DType::kS64, DType::kU64,
        DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    for (const Shape& shape :
         {Shape{3, 11, 5}, Shape{20}, Shape{1, 12, 1}, Shape{2, 10, 1}, Shape{0, 9}, Shape{9, 0}}) {
      const Literal x =
          convert(Tensor(Literal::from(quarters(shape.elements()), shape)) / 4, dtype).eval();
      for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
        const Function f = trace(
            [&](Tensor x) {
              return std::tuple(cumsum(x, axis), cummax(x, axis), cummin(x, axis, true),
                                cumsum(x, axis, true));
            },
            x);
        SCOPED_TRACE(f.str());
        (void)expect_agreement(f, {x});
      }
    }
  }
}

TEST(RunningTotals, OfWhatIsNoNumber) {
  std::vector<float> values(std::size_t{12} * 19, -0.0f);
  values[40] = 0;
  values[60] = INFINITY;
  values[90] = -INFINITY;
  values[120] = NAN;
  const Literal x = Literal::from(values, {12, 19});
  const Function f = trace(
      [](Tensor x) { return std::tuple(cumsum(x, 0), cummax(x, 0), cummin(x, 1), cumprod(x, 0)); },
      x);
  const std::vector<Literal> got = expect_agreement(f, {x});
  EXPECT_TRUE(std::signbit(got[0].data<float>()[std::size_t{11} * 19]));
}

// The accumulated values are computed in the loops, and stored in no memory.
TEST(RunningTotals, StandInTheLoopsOfWhatTheyAdd) {
  const Function f = trace([](Tensor x) { return cumsum(exp(x) * 2, 0); }, f32({50, 40}));
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled})
    EXPECT_EQ(compile(f, {.executor = executor}).memory_plan().arena_bytes, 0);
  const Function step = trace(
      [](Tensor x) {
        return fori_loop(
            0, 5, [](Tensor, Tensor x) { return cummax(x, 0) - x * 0.5f; }, x);
      },
      f32({30, 20}));
  EXPECT_FALSE(calls_kernels(step)) << Lowered(step);
  (void)expect_agreement(step, {ramp({30, 20}, 0.25f, -9)});
}

}  // namespace
}  // namespace rondo::testing
