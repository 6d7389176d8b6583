// Programs whose large loops run on several threads.
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include "executor/on_threads.h"

namespace rondo {
namespace {

using testing::expect_others_to_help;
using testing::expect_same_on_threads;
using testing::on_threads;
using testing::StopsLater;
using testing::thread_seconds;
using testing::work_seconds;

/// Not a multiple of a block of lanes, of the partial results of a sum, nor of a chunk.
constexpr std::int64_t kLanes = 70'003;

Literal rising_lanes(std::int64_t lanes) {
  std::vector<float> values(static_cast<std::size_t>(lanes));
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = static_cast<float>(i % 1000) * 0.003f - 1.5f;
  return Literal::from(values, {lanes});
}

Literal thread_table(std::int64_t rows, std::int64_t columns) {
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = static_cast<float>(i * 7919 % 1009) * 0.002f - 1.0f;
  return Literal::from(values, {rows, columns});
}

Tensor climb(Tensor v) {
  return while_loop([](Tensor a) { return a < 3.0f; }, [](Tensor a) { return a + 0.25f; }, v,
                    {.name = "climb"});
}

/// A pass over elements, a sum, a while over lanes, and another pass with the sum.
Tensor several_loops(Tensor x) {
  const Tensor y = abs(exp(x) * x - 0.5f);
  const Tensor mean = sum(y) / static_cast<float>(kLanes);
  return vmap(climb)(y - 2.0f) * mean + sin(y);
}

TEST(Threads, ShareTheLanesOfOneLoop) {
  const Literal x = rising_lanes(kLanes);
  const auto chain = [](Tensor v) { return abs(exp(v) * v - 0.5f) + iota(f32({kLanes}), 0); };
  const auto loop = [](Tensor v) {
    return fori_loop(
        0, 10, [](Tensor, Tensor y) { return minimum(y * 0.99f + 0.1f, 2.0f); }, v);
  };
  expect_same_on_threads(trace(chain, x), {x});
  expect_same_on_threads(trace(loop, x), {x});
  expect_same_on_threads(trace(vmap(climb), x), {x});
}

TEST(Threads, ShareTheLoopsOfAProgramOfSeveral) {
  const Literal x = rising_lanes(kLanes);
  expect_same_on_threads(trace(several_loops, x), {x});
}

TEST(Threads, KeepTheOrderOfSums) {
  for (const std::int64_t lanes : {kLanes, std::int64_t{1} << 17}) {
    const Literal x = rising_lanes(lanes);
    const auto in_f32 = [](Tensor v) {
      const Tensor e = exp(v * 3.0f) - v;
      return std::tuple(sum(e), sum(convert(e, DType::kF64)), max(e), min(-e), sum(e * e));
    };
    const auto of_numbers = [&](Tensor v) {
      const Tensor number = iota(s32({lanes}), 0);
      return std::tuple(sum(number * number), max(number ^ 77), all(v * v < 2.5f),
                        sum(convert(number, DType::kF64)), sum(iota(f64({lanes}), 0)));
    };
    expect_same_on_threads(trace(in_f32, x), {x});
    expect_same_on_threads(trace(of_numbers, x), {x});
  }
}

TEST(Threads, ShareRowsAndColumns) {
  const Literal x = thread_table(517, 611), y = thread_table(611, 90);
  const auto rows = [](Tensor v) {
    const Tensor shifted = exp(v - reshape(max(v, {1}), {517, 1}));
    return shifted / reshape(sum(shifted, {1}), {517, 1});
  };
  const auto columns = [](Tensor v) { return sum(sin(v) * 3.0f, {0}) + transpose(v)[5][0]; };
  const auto turned = [](Tensor v) { return transpose(exp(v)) + 1.0f; };
  expect_same_on_threads(trace(rows, x), {x});
  expect_same_on_threads(trace(columns, x), {x});
  expect_same_on_threads(trace(turned, x), {x});
  expect_same_on_threads(trace([](Tensor a, Tensor b) { return tanh(matmul(a, b)); }, x, y),
                         {x, y});
}

TEST(Threads, ShareTheLoopsInALoopAndItsBranches) {
  const Literal x = rising_lanes(kLanes);
  const auto relax = [](Tensor v) {
    return fori_loop(0, 6,
                     [](Tensor i, std::pair<Tensor, Tensor> carry) {
                       const auto [y, total] = carry;
                       const Tensor next = cond((i & 1) == 0, [](Tensor a) { return exp(-a * a); },
                                                [](Tensor a) { return sin(a) * 2.0f; }, y);
                       const Tensor mean = sum(next) / static_cast<float>(kLanes);
                       return std::pair(next - mean * 0.5f, total + mean);
                     },
                     std::pair(v, Tensor(0.0f)), {.name = "relax"});
  };
  expect_same_on_threads(trace(relax, x), {x});
  const auto until_small = [](Tensor v) {
    return while_loop([](Tensor a) { return sum(a * a) > 100.0f; },
                      [](Tensor a) { return sin(a) * 0.7f + a * 0.1f; }, v, {.name = "shrink"});
  };
  expect_same_on_threads(trace(until_small, x), {x});
}

TEST(Threads, ShareTheStepsOfATraining) {
  const Literal x = thread_table(3000, 37), y = thread_table(3000, 1), w = thread_table(37, 1);
  const auto train = [](Tensor weights, Tensor inputs, Tensor wanted) {
    const auto loss = [&](Tensor now) {
      const Tensor error = tanh(matmul(inputs, now)) - wanted;
      return sum(error * error) / 3000.0f;
    };
    return fori_loop(
        0, 5, [&](Tensor, Tensor now) { return now - 0.05f * grad(loss)(now); }, weights);
  };
  expect_same_on_threads(trace(train, w, x, y), {w, x, y});
}

TEST(Threads, HaveHelpWithEachLargeLoop) {
  const std::int64_t lanes = 1 << 18;
  const Literal x = rising_lanes(lanes);
  const auto in_a_loop = [](Tensor v) {
    return fori_loop(
        0, 3, [&](Tensor, Tensor a) { return sin(a) - sum(exp(a)) / static_cast<float>(lanes); },
        v);
  };
  expect_others_to_help(trace([](Tensor v) { return sum(exp(sin(v))); }, x), {x});
  expect_others_to_help(trace(in_a_loop, x), {x});
  const Literal rows = thread_table(512, 512);
  expect_others_to_help(trace([](Tensor v) { return transpose(sum(exp(v), {1}) + exp(v)); }, rows),
                        {rows});
}

TEST(Threads, GiveTheErrorOfAPieceThatEndsEarly) {
  const auto promised = [](Tensor v) {
    return while_loop([](Tensor a) { return a < 3.0f; }, [](Tensor a) { return a + 0.25f; }, v,
                      {.max_trip_count = 17, .name = "climb"});
  };
  const auto program = [&](Tensor v) {
    const auto step = [&](Tensor, Tensor a) {
      return vmap(promised)(a - 3.0f) - sum(a) / static_cast<float>(kLanes);
    };
    return fori_loop(0, 4, step, v, {.name = "steps"});
  };
  const Literal x = rising_lanes(kLanes);
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Executable run = compile(trace(program, x), {.executor = executor});
    std::string message[2];
    for (const int threads : {1, 2}) {
      try {
        run.run({x}, on_threads(threads));
        ADD_FAILURE() << "it keeps a promise that is broken";
      } catch (const ExecutionError& error) {
        message[threads - 1] = error.what();
      }
    }
    EXPECT_NE(message[0].find("promised max_trip_count"), std::string::npos) << message[0];
    EXPECT_EQ(message[1], message[0]);
  }
}

/// Each trip takes some tenths of a second.
Tensor slow_steps(Tensor trips, Tensor v) {
  return fori_loop(0, trips,
                   [](Tensor, Tensor a) {
                     for (int i = 0; i < 60; i++) a = sin(a) + 0.5f;
                     return a - sum(a) * 1e-9f;
                   },
                   v, {.name = "slow"});
}

/// A run on two threads that `limit` ends.
void expect_ended_by(const Executable& run, const Literal& x,
                     const std::function<void(RunOptions&)>& limit) {
  RunOptions options = on_threads(2);
  options.max_iterations = 1'000'000;
  run.run({Literal::scalar(0), x}, options);  // so that no compilation is timed
  limit(options);
  try {
    run.run({Literal::scalar(1000), x}, options);
    ADD_FAILURE() << "it runs to its end";
  } catch (const Interrupted& ended) {
    EXPECT_EQ(ended.loop(), "slow");
    options = {};
    options.max_iterations = 1'000'000;
    const auto so_far = static_cast<std::int32_t>(ended.trip());
    ASSERT_EQ(ended.carry().size(), 1u);
    EXPECT_TRUE(
        ended.carry()[0].second.identical(run.run({Literal::scalar(so_far), x}, options)[0]));
  }
}

TEST(Threads, EndInsideATripWithTheLastStateThatWasWhole) {
  const Literal x = rising_lanes(1 << 20);
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Executable run =
        compile(trace(slow_steps, Literal::scalar(0), x), {.executor = executor});
    const double start = thread_seconds();
    expect_ended_by(run, x, [](RunOptions& o) { o.deadline = std::chrono::milliseconds(20); });
    // Including the runs with which the state is compared.
    EXPECT_LT(thread_seconds() - start, 500 * work_seconds());
    const StopsLater stop(0.05);
    expect_ended_by(run, x, [&](RunOptions& o) { o.stop_token = stop.token(); });
    EXPECT_LT(stop.seconds_since(), 500 * work_seconds());
  }
}

TEST(Threads, StayWithinTheMemoryLimit) {
  const Literal x = rising_lanes(kLanes);
  const Function f = trace(several_loops, x);
  const auto peak_of = [&](std::optional<std::int64_t> limit, int threads) {
    RunStats stats;
    RunOptions options = on_threads(threads);
    options.stats = &stats;
    compile(f, {.executor = Executor::kCompiled, .memory_limit = limit}).run({x}, options);
    return stats.peak_bytes;
  };
  const MemoryPlan plan = compile(f, {.executor = Executor::kCompiled}).memory_plan();
  const std::int64_t needed = plan.arena_bytes + plan.result_bytes;
  EXPECT_GT(peak_of(std::nullopt, 2), peak_of(std::nullopt, 1));
  EXPECT_EQ(peak_of(needed, 2), peak_of(needed, 1));
}

TEST(Threads, ServeManyCallersOfOneProgram) {
  const Literal x = rising_lanes(kLanes);
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Executable run = compile(trace(several_loops, x), {.executor = executor});
    const Literal want = run.run({x})[0];
    std::atomic<int> equal = 0;
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 8; caller++) {
      callers.emplace_back([&, caller] {
        for (int i = 0; i < 4; i++)
          equal += run.run({x}, on_threads(2 + caller % 3))[0].identical(want) ? 1 : 0;
      });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(equal, 8 * 4);
  }
}

}  // namespace
}  // namespace rondo
