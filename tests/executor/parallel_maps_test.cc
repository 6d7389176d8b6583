// Maps whose items are split over threads, whatever an item computes.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "executor/agreement.h"
#include "executor/on_threads.h"

namespace rondo {
namespace {

using testing::expect_others_to_help;
using testing::expect_same_on_threads;
using testing::on_threads;
using testing::ramp;

constexpr std::int64_t kItems = 37;

/// Makes as many trips as a number requires.
Tensor halved_until_small(const Tensor& v) {
  return while_loop([](Tensor s) { return s > 1e-3f; }, [](Tensor s) { return s * 0.995f; }, v,
                    {.name = "halve"});
}

/// Arrays that a loop carries, two of them in memory.
Tensor relaxed(const Tensor& row) {
  return fori_loop(
      0, 60,
      [](Tensor i, Tensor s) {
        return s * 0.99f + reverse(s, {0}) * 0.01f + convert(i, DType::kF32) * 1e-4f;
      },
      row);
}

Function mapped(const std::function<Tensor(Tensor)>& item, const TensorType& xs) {
  return trace([&](Tensor x) { return map([&](Tensor v) { return item(v); }, x); }, xs);
}

TEST(ParallelMaps, OfLoopsGiveTheSameBits) {
  const Literal numbers = ramp({kItems}, 0.125f, 0.5f), rows = ramp({kItems, 40}, 0.01f, -3);
  expect_same_on_threads(mapped(halved_until_small, f32({kItems})), {numbers});
  expect_same_on_threads(mapped(relaxed, f32({kItems, 40})), {rows});
  const auto nested = [](const Tensor& row) { return sum(map(halved_until_small, abs(row))); };
  expect_same_on_threads(mapped(nested, f32({kItems, 40})), {rows});
  const auto chosen = [](const Tensor& row) {
    return cond(
        sum(row) > 0.0f, relaxed, [](Tensor r) { return r * 2.0f; }, row);
  };
  expect_same_on_threads(mapped(chosen, f32({kItems, 40})), {rows});
}

TEST(ParallelMaps, OfKernelsGiveTheSameBits) {
  const Literal matrices = ramp({kItems, 24, 24}, 1e-3f, -5);
  const auto product = [](const Tensor& m) { return matmul(m, sort(m, 1)) + m; };
  expect_same_on_threads(mapped(product, f32({kItems, 24, 24})), {matrices});
  const auto slope = grad([](Tensor row) { return sum(relaxed(row) * row); });
  expect_same_on_threads(mapped(slope, f32({kItems, 40})), {ramp({kItems, 40}, 0.01f, -3)});
  const auto drawn = [](const Tensor& seed) {
    return sum(
        random::normal(random::fold_in(random::key(7), convert(seed, DType::kS32)), f32({500})));
  };
  expect_same_on_threads(mapped(drawn, f32({kItems})), {ramp({kItems}, 1, 0)});
}

// Kernels call the comparator, whose loops are counted over all threads.
TEST(ParallelMaps, OfKernelsThatCallRegionsGiveTheSameBits) {
  const auto folded = [](const Tensor& row) {
    return reduce(row, 0.0f, {0}, [](Tensor a, Tensor b) {
      return fori_loop(
          0, 3, [&](Tensor, Tensor s) { return s * 0.5f + b; }, a);
    });
  };
  expect_same_on_threads(mapped(folded, f32({kItems, 40})), {ramp({kItems, 40}, 0.01f, -3)});
}

// xs and ys of several shapes along another axis, in reverse, and several ys per item.
TEST(ParallelMaps, WriteEveryRow) {
  const Function f = trace(
      [](Tensor x, Tensor k) {
        return scan(
                   [&](std::tuple<>, Tensor row) {
                     const Tensor last = relaxed(row);
                     return std::pair(std::tuple<>(), std::tuple(last * k, sum(last, {0}, true)));
                   },
                   std::tuple<>(), x, {.reverse = true, .unroll = 2, .axis = 1})
            .second;
      },
      f32({40, kItems}), f32());
  expect_same_on_threads(f, {ramp({40, kItems}, 0.01f, -3), Literal::scalar(0.5f)});
  const auto want = compile(f, {.contract = false, .executor = Executor::kReference})
                        .run({ramp({40, kItems}, 0.01f, -3), Literal::scalar(0.5f)});
  const auto got = compile(f, {.contract = false})
                       .run({ramp({40, kItems}, 0.01f, -3), Literal::scalar(0.5f)}, on_threads(3));
  for (std::size_t i = 0; i < want.size(); i++) testing::expect_equal(got[i], want[i]);
}

TEST(ParallelMaps, AreSharedByThreads) {
  const auto long_item = [](const Tensor& v) {
    return fori_loop(
        0, 20'000, [](Tensor, Tensor s) { return s * 0.999f + 0.01f; }, v);
  };
  const Literal numbers = ramp({64}, 0.125f, 0.5f);
  expect_others_to_help(mapped(long_item, f32({64})), {numbers});
  expect_others_to_help(mapped(halved_until_small, f32({64})), {numbers});
  const auto product = [](const Tensor& m) { return matmul(m, m); };
  expect_others_to_help(mapped(product, f32({64, 96, 96})), {ramp({64, 96, 96}, 1e-6f, 0)});
}

/// What a run throws, with the loop and trip that it names.
template <class Thrown>
std::string thrown(const Executable& program, const std::vector<Literal>& arguments,
                   const RunOptions& options) {
  try {
    program.run(arguments, options);
  } catch (const Thrown& error) {
    std::string text = error.what();
    if constexpr (std::is_base_of_v<Interrupted, Thrown>)
      text += "|" + error.loop() + "|" + std::to_string(error.trip());
    return text;
  }
  return "nothing was thrown";
}

/// Items 5, 20 and 30 run longer than the others.
Literal three_longer() {
  std::vector<float> values(64, 0.01f);
  values[5] = values[20] = values[30] = 100;
  return Literal::from(values, {64});
}

TEST(ParallelMaps, FailForTheFirstItemThatFails) {
  const Function f = trace(
      [](Tensor x) {
        return map(
            [](Tensor v) {
              return while_loop([](Tensor s) { return s > 1e-3f; },
                                [](Tensor s) { return s * 0.995f; }, v,
                                {.max_trip_count = 1000, .name = "halve"});
            },
            x, {.name = "items"});
      },
      f32({64}));
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Executable program = compile(f, {.executor = executor});
    const std::string want = thrown<ExecutionError>(program, {three_longer()}, on_threads(1));
    EXPECT_NE(want.find("trip 6"), std::string::npos) << want;
    for (int round = 0; round < 10; round++)
      EXPECT_EQ(thrown<ExecutionError>(program, {three_longer()}, on_threads(4)), want);
  }
}

TEST(ParallelMaps, EndAtTheLimitsOfARun) {
  const Function f =
      trace([](Tensor x) { return map(halved_until_small, x, {.name = "items"}); }, f32({64}));
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Executable program = compile(f, {.executor = executor});
    for (const std::int64_t most : {50, 1000}) {  // trips of the map, of the loop in item 5
      const auto with = [&](int threads) {
        return thrown<TooManyIterations>(program, {three_longer()},
                                         {.max_iterations = most, .threads = threads});
      };
      const std::string want = with(1);
      EXPECT_NE(want.find(most == 50 ? "items" : "trip 6"), std::string::npos) << want;
      EXPECT_EQ(with(4), want);
    }
    const RunOptions past{.deadline = std::chrono::milliseconds(0), .threads = 4};
    EXPECT_THROW(program.run({three_longer()}, past), DeadlineExceeded);
  }
}

TEST(ParallelMaps, AreLeftToOneThreadWhereMemoryIsLimited) {
  const auto item = [](const Tensor& v) { return sum(relaxed(iota(f32({20'000}), 0) * v)); };
  const Function f = mapped(item, f32({8}));
  const Literal x = ramp({8}, 1e-3f, 0.5f);
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Executable free = compile(f, {.executor = executor});
    RunStats one, four;
    const Literal want = free.run({x}, {.stats = &one})[0];
    RunOptions options = on_threads(4);
    options.stats = &four;
    free.run({x}, options);
    EXPECT_GT(four.peak_bytes, one.peak_bytes);
    const std::int64_t limit = one.peak_bytes + 4096;
    const Executable limited = compile(f, {.executor = executor, .memory_limit = limit});
    EXPECT_TRUE(limited.run({x}, options)[0].identical(want));
    EXPECT_LE(four.peak_bytes, limit);
  }
}

// Reports come in the order of the trips.
TEST(ParallelMaps, ThatReportAreNotShared) {
  const Function f = trace(
      [](Tensor x) { return map([](Tensor v) { return tap(halved_until_small(v), "v"); }, x); },
      f32({kItems}));
  const Literal numbers = ramp({kItems}, 0.125f, 0.5f);
  std::vector<float> seen;
  RunOptions options = on_threads(4);
  options.on_tap = [&](std::string_view, const Literal& value) {
    seen.push_back(value.item<float>());
  };
  const Literal got = compile(f).run({numbers}, options)[0];
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(kItems));
  for (std::size_t i = 0; i < seen.size(); i++) EXPECT_EQ(seen[i], got.data<float>()[i]);
}

}  // namespace
}  // namespace rondo
