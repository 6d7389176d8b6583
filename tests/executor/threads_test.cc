// Programs that are one lane loop, on several threads.
#include <cmath>

#include "executor/agreement.h"

namespace rondo {
namespace {

/// Results and trips on 1, 2 and 5 threads are the same.
void expect_same_on_threads(const Function& f, const std::vector<Literal>& arguments) {
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Executable run = compile(f, {.executor = executor});
    RunStats one;
    const std::vector<Literal> want = run.run(arguments, {.stats = &one});
    for (const int threads : {2, 5}) {
      RunStats stats;
      RunOptions options;
      options.stats = &stats;
      options.threads = threads;
      const std::vector<Literal> got = run.run(arguments, options);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < got.size(); i++) EXPECT_TRUE(got[i].identical(want[i])) << i;
      ASSERT_EQ(stats.loops.size(), one.loops.size());
      for (std::size_t i = 0; i < one.loops.size(); i++)
        EXPECT_EQ(stats.loops[i].trips, one.loops[i].trips);
    }
  }
}

Literal ramp(std::int64_t lanes) {
  std::vector<float> values(static_cast<std::size_t>(lanes));
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = static_cast<float>(i % 1000) * 0.003f - 1.5f;
  return Literal::from(values, {lanes});
}

TEST(Threads, ShareTheLanesOfOneLoop) {
  // Not a multiple of a block, nor of a piece.
  const Literal x = ramp(200'003);
  const auto chain = [](Tensor v) { return abs(exp(v) * v - 0.5f) + iota(f32({200'003}), 0); };
  const auto loop = [](Tensor v) {
    return fori_loop(
        0, 10, [](Tensor, Tensor y) { return minimum(y * 0.99f + 0.1f, 2.0f); }, v);
  };
  const auto climb = [](Tensor v) {
    return while_loop([](Tensor a) { return a < 3.0f; }, [](Tensor a) { return a + 0.25f; }, v);
  };
  expect_same_on_threads(trace(chain, x), {x});
  expect_same_on_threads(trace(loop, x), {x});
  expect_same_on_threads(trace(vmap(climb), x), {x});
}

TEST(Threads, GiveTheErrorOfAPieceThatEndsEarly) {
  const auto climb = [](Tensor v) {
    return while_loop([](Tensor a) { return a < 3.0f; }, [](Tensor a) { return a + 0.25f; }, v,
                      {.max_trip_count = 17, .name = "climb"});
  };
  const Literal x = ramp(200'000);
  const Executable run = compile(trace(vmap(climb), x));
  RunOptions options;
  options.threads = 2;
  EXPECT_THROW(run.run({x}, options), ExecutionError);
}

}  // namespace
}  // namespace rondo
