// Products of all trips of a loop at once, in compiled programs that may reorder sums.
#include <chrono>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

constexpr std::int64_t kTripsOfAll = 12, kRowsOfAll = 8, kWidthOfAll = 64;

Literal small_numbers(const std::vector<std::int64_t>& dims, unsigned seed) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    values.push_back(static_cast<float>(seed >> 8) / 16777216.0f * 0.2f - 0.1f);
  }
  return Literal::from(values, dims);
}

auto network_of_trips() {
  return [](Tensor w, Tensor u, Tensor xs) {
    return sum(square(scan(
                          [&](Tensor h, Tensor x) {
                            const Tensor sum = matmul(x, w) + matmul(h, u);
                            const Tensor next = sum / (1.0f + abs(sum));
                            return std::pair(next, next);
                          },
                          zeros(f32({kRowsOfAll, kWidthOfAll})), xs, {.name = "network"})
                          .second));
  };
}

Function gradient() {
  return trace(value_and_grad<0, 1>(network_of_trips()), f32({kWidthOfAll, kWidthOfAll}),
               f32({kWidthOfAll, kWidthOfAll}), f32({kTripsOfAll, kRowsOfAll, kWidthOfAll}));
}

std::vector<Literal> arguments() {
  return {small_numbers({kWidthOfAll, kWidthOfAll}, 1),
          small_numbers({kWidthOfAll, kWidthOfAll}, 2),
          small_numbers({kTripsOfAll, kRowsOfAll, kWidthOfAll}, 3)};
}

TEST(Trips, GradientsAgreeWithTheReference) {
  const Function function = gradient();
  const std::vector<Literal> want =
      compile(function, {.executor = Executor::kReference}).run(arguments());
  const Executable native = compile(function, {.executor = Executor::kCompiled});
  const std::vector<Literal> got = native.run(arguments()),
                             bytecode = compile(function, {.executor = Executor::kBytecode})
                                            .run(arguments());
  for (std::size_t i = 0; i < want.size(); i++) {
    expect_equal(bytecode[i], got[i]);
    const auto a = got[i].data<float>(), b = want[i].data<float>();
    for (std::size_t k = 0; k < a.size(); k++)
      ASSERT_NEAR(a[k], b[k], 1e-5 * (1 + std::abs(b[k]))) << "result " << i << ", element " << k;
  }
  // The loops are still those of the user.
  for (const LoopStats& loop : native.stats().loops)
    EXPECT_EQ(loop.trips, kTripsOfAll) << loop.name;
  EXPECT_EQ(native.stats().loops.size(), 2u);
  expect_agreement(function, arguments());  // trip by trip, in the reference's order
}

TEST(Trips, TakeNoMoreThanTheMemoryLimit) {
  const Function function =
      trace(network_of_trips(), f32({kWidthOfAll, kWidthOfAll}), f32({kWidthOfAll, kWidthOfAll}),
            f32({kTripsOfAll, kRowsOfAll, kWidthOfAll}));
  CompileOptions options{.executor = Executor::kCompiled};
  const std::int64_t batched = compile(function, options).memory_plan().arena_bytes;
  const std::int64_t result_bytes = compile(function, options).memory_plan().result_bytes;
  options.contract = false;
  ASSERT_GT(batched, compile(function, options).memory_plan().arena_bytes);
  options.contract = true;
  options.memory_limit = result_bytes + batched - 1;
  const Executable limited = compile(function, options);
  EXPECT_LT(limited.memory_plan().arena_bytes, batched);
  const std::vector<Literal> want = compile(function).run(arguments()),
                             got = limited.run(arguments());
  EXPECT_NEAR(got[0].item<float>(), want[0].item<float>(), 1e-4);
}

TEST(Trips, ARunWithALimitKeepsTheSumsSoFar) {
  const Function function = trace(
      [](Tensor sum, Tensor xs) {
        return scan(
                   [](Tensor sum, Tensor x) {
                     return std::pair(sum + dot_general(x, x, DotDims{{}, {}, {0}, {0}}),
                                      Tensor(0.0f));
                   },
                   sum, xs, {.name = "sums"})
            .first;
      },
      f32({kWidthOfAll, kWidthOfAll}), f32({kTripsOfAll, kRowsOfAll, kWidthOfAll}));
  const std::vector<Literal> given = {small_numbers({kWidthOfAll, kWidthOfAll}, 4),
                                      small_numbers({kTripsOfAll, kRowsOfAll, kWidthOfAll}, 5)};
  const auto xs = given[1].data<float>();
  const auto sum_of = [&](std::size_t trips) {
    std::vector<double> sum(given[0].data<float>().begin(), given[0].data<float>().end());
    for (std::size_t row = 0; row < trips * kRowsOfAll; row++) {
      for (std::size_t i = 0; i < kWidthOfAll; i++) {
        for (std::size_t j = 0; j < kWidthOfAll; j++)
          sum[i * kWidthOfAll + j] += double(xs[row * kWidthOfAll + i]) * xs[row * kWidthOfAll + j];
      }
    }
    return sum;
  };
  const auto expect_sum = [&](const Literal& got, std::size_t trips) {
    const std::vector<double> want = sum_of(trips);
    for (std::size_t i = 0; i < want.size(); i++)
      ASSERT_NEAR(got.data<float>()[i], want[i], 1e-5) << i;
  };
  const Executable executable = compile(function);
  expect_sum(executable.run(given)[0], kTripsOfAll);
  try {
    executable.run(given, {.max_iterations = 5});
    FAIL() << "it ran to its end";
  } catch (const TooManyIterations& ended) {
    ASSERT_EQ(ended.trip(), 5);
    ASSERT_EQ(ended.carry().size(), 1u);
    expect_sum(ended.carry()[0].second, 5);
  }
}

TEST(Trips, RunsWithLimitsKeepToTheMemoryLimitToo) {
  const std::int64_t
      batched = compile(gradient(), {.executor = Executor::kCompiled}).memory_plan().arena_bytes,
      stepwise = compile(gradient(), {.contract = false, .executor = Executor::kCompiled})
                     .memory_plan()
                     .arena_bytes;
  ASSERT_LT(batched, stepwise);
  const RunOptions limited{.deadline = std::chrono::hours(1)};
  const auto with_limit = [](std::int64_t bytes) {
    const std::int64_t result_bytes = compile(gradient()).memory_plan().result_bytes;
    return compile(gradient(),
                   {.executor = Executor::kCompiled, .memory_limit = result_bytes + bytes});
  };
  const Executable tight = with_limit(batched);
  EXPECT_NO_THROW(tight.run(arguments()));
  for (int i = 0; i < 2; i++) EXPECT_THROW(tight.run(arguments(), limited), ExecutionError);
  EXPECT_NO_THROW(with_limit(stepwise).run(arguments(), limited));
}

}  // namespace
}  // namespace rondo::testing
