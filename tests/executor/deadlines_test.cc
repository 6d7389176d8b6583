// Loops over arrays that take seconds end soon after their deadline, and interchanged loops leave a
// state between trips of all lanes; a distant deadline changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "executor/agreement.h"
#include "rondo/rondo.h"
#include "support/expect.h"
#include "support/processor_time.h"

namespace rondo {
namespace {

using std::chrono::milliseconds;
using testing::caught;
using testing::growth;
using testing::runs_by_lane;
using testing::thread_seconds;
using testing::work_seconds;

constexpr Executor kExecutors[] = {Executor::kBytecode, Executor::kCompiled};

/// Far more than a run computes between two checks of its limits.
double soon() { return 250 * work_seconds(); }

/// For a program that would run for more than a second, on zeros. It may need 64 MB.
void expect_ended_in_time(const std::string& name, const Function& program) {
  std::vector<Literal> arguments;
  for (const TensorType& type : program.params()) arguments.push_back(Literal::zeros(type));
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    SCOPED_TRACE(name + (executor == Executor::kBytecode ? ", bytecode" : ", compiled"));
    const Executable compiled =
        compile(program, {.executor = executor, .memory_limit = std::int64_t{1} << 26});
    const double start = thread_seconds();
    EXPECT_THROW(compiled.run(arguments, {.deadline = milliseconds(20)}), DeadlineExceeded);
    EXPECT_LT(thread_seconds() - start, 0.02 + soon());
  }
}

Tensor long_chain(Tensor x) {
  for (int i = 0; i < 300; i++) x = sin(x) + 0.5f;
  return x;
}

TEST(Deadlines, OfOneLongLoopOverAnArray) {
  expect_ended_in_time("elements", trace(long_chain, f32({1 << 22})));
  expect_ended_in_time("rows", trace(long_chain, f32({1 << 11, 1 << 11})));
  expect_ended_in_time("transposed",
                       trace([](Tensor x) { return transpose(long_chain(x)); }, f32({3, 1 << 20})));
}

TEST(Deadlines, OfOneLongReduction) {
  const auto product = [](Tensor x) { return prod(long_chain(x)); };  // in order
  expect_ended_in_time("in order", trace(product, f32({1 << 22})));
  const auto tall = [](Tensor x) { return sum(long_chain(x), {0}); };
  expect_ended_in_time("two columns", trace(tall, f32({1 << 21, 2})));
  const auto narrow = [](Tensor x) { return sum(long_chain(x), {1}); };
  expect_ended_in_time("rows of two", trace(narrow, f32({1 << 21, 2})));
}

TEST(Deadlines, OfLanesThatStopOneByOne) {
  const auto halved = vmap([](Tensor x) {
    return while_loop([](Tensor s) { return s < 1e9f; }, [](Tensor s) { return sin(s) * s; }, x);
  });
  expect_ended_in_time("lanes", trace(halved, f32({1 << 16})));
}

/// x * kFactor + kSum, `times` times.
constexpr std::uint32_t kFactor = 1664525, kSum = 1013904223;
std::uint32_t congruential(std::uint32_t x, std::int64_t times) {
  std::uint32_t factor = kFactor, sum = kSum;
  for (; times > 0; times /= 2) {
    if (times % 2 == 1) x = x * factor + sum;
    sum += sum * factor;
    factor *= factor;
  }
  return x;
}

Literal deadline_numbers(std::int64_t lanes) {
  std::vector<std::uint32_t> values(static_cast<std::size_t>(lanes));
  for (std::size_t i = 0; i < values.size(); i++) values[i] = static_cast<std::uint32_t>(77 * i);
  return Literal::from(values, Shape{lanes});
}

/// A vectorized loop, which would run for hours.
Function long_loop(std::int64_t lanes) {
  const auto f = [](Tensor x) {
    const auto trip = [](Tensor, Tensor y) { return y * kFactor + kSum; };
    return fori_loop(0, std::int64_t{1} << 40, trip, x, {.name = "long"});
  };
  return trace(f, u32({lanes}));
}

void expect_state(const Interrupted& error, const Literal& x) {
  const std::string message = error.what();
  EXPECT_NE(message.find("the loop 'long' (deadlines_test.cc:"), std::string::npos) << message;
  EXPECT_NE(message.find("trip "), std::string::npos) << message;
  EXPECT_EQ(error.loop(), "long");
  EXPECT_GT(error.trip(), 0);
  ASSERT_EQ(error.carry().size(), 1u);
  const Literal& left = error.carry()[0].second;
  ASSERT_EQ(left.type(), x.type());
  for (std::size_t i = 0; i < x.data<std::uint32_t>().size(); i++) {
    ASSERT_EQ(left.data<std::uint32_t>()[i], congruential(x.data<std::uint32_t>()[i], error.trip()))
        << "lane " << i << " of trip " << error.trip();
  }
}

TEST(Deadlines, OfALoopThatRunsByLaneLeaveItsState) {
  constexpr std::int64_t kDivided = 1 << 16;  // with two threads the lanes are split
  for (const std::int64_t lanes :
       {std::int64_t{2}, std::int64_t{67}, std::int64_t{600}, kDivided}) {
    const Function function = long_loop(lanes);
    ASSERT_TRUE(runs_by_lane(function));
    const Literal x = deadline_numbers(lanes);
    for (const Executor executor : kExecutors) {
      if (lanes == kDivided && executor == Executor::kBytecode) continue;  // a chunk takes long
      for (const int threads : {1, 2}) {
        SCOPED_TRACE(::testing::Message() << lanes << " lanes, " << threads << " threads");
        const Executable program = compile(function, {.executor = executor});
        // Until a chunk of trips is done, which takes long on a slow machine.
        for (int limit = 20;; limit *= 2) {
          const double start = thread_seconds();
          const auto error = caught<DeadlineExceeded>(
              program, {x}, {.deadline = milliseconds(limit), .threads = threads});
          EXPECT_LT(thread_seconds() - start, 1e-3 * limit + soon());
          if (error.trip() == 0 && limit < 2000) continue;
          expect_state(error, x);
          break;
        }
      }
    }
  }
}

TEST(StopTokens, OfALoopThatRunsByLaneLeaveItsState) {
  const Function function = long_loop(70);
  const Literal x = deadline_numbers(70);
  for (const Executor executor : kExecutors) {
    for (const int threads : {1, 2}) {
      const Executable program = compile(function, {.executor = executor});
      const testing::StopsLater stop(0.1);
      const auto error =
          caught<Stopped>(program, {x}, {.stop_token = stop.token(), .threads = threads});
      EXPECT_LT(stop.seconds_since(), soon());
      expect_state(error, x);
    }
  }
}

/// Compares runs with limits that are not reached with one without limits.
void expect_bits_of_no_deadline(const Function& function, const std::vector<Literal>& arguments) {
  ASSERT_TRUE(runs_by_lane(function)) << compile(function).program();
  for (const Executor executor : kExecutors) {
    const Executable program = compile(function, {.executor = executor});
    const std::vector<Literal> want = program.run(arguments);
    const std::stop_source source;
    for (const RunOptions& options :
         {RunOptions{.deadline = std::chrono::hours(1)},
          RunOptions{.max_iterations = 1'000'000, .stop_token = source.get_token()}}) {
      const RunStats before = program.stats();
      const std::vector<Literal> got = program.run(arguments, options);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < got.size(); i++) testing::expect_equal(got[i], want[i]);
      const RunStats after = program.stats();
      ASSERT_EQ(after.loops.size(), before.loops.size());
      EXPECT_EQ(after.loops[0].trips, before.loops[0].trips);
    }
  }
}

Literal between(Shape shape, float first, float last) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  const float step = (last - first) / static_cast<float>(std::max<std::size_t>(values.size(), 1));
  for (std::size_t i = 0; i < values.size(); i++) values[i] = first + step * static_cast<float>(i);
  return Literal::from(values, shape);
}

Tensor pulled(Tensor i, Tensor y) { return y * 0.75f + sin(y) * 0.25f + convert(i, DType::kF32); }
std::pair<Tensor, Tensor> climbed(Tensor n, Tensor y) { return {n + 1, y * 1.01f + 0.125f}; }

TEST(Limits, ThatAreFarOffChangeNoBitOfAnyNumberOfLanes) {
  const auto counted = [](Tensor x) {
    return fori_loop(0, 12, pulled, x * 0.5f + 0.25f, {.name = "counted"});
  };
  const auto lanes_end = vmap([](Tensor x) {
    return while_loop([](Tensor, Tensor y) { return abs(y) < 3.0f; }, climbed,
                      std::pair(Tensor(0), x), {.name = "climb"});
  });
  const auto history = [](Tensor x) {
    const auto trip = [](Tensor y, Tensor gain) {
      const Tensor next = y * gain + 0.5f;
      return std::pair(next, next);
    };
    return scan(trip, x, iota(f32({7}), 0) * 0.125f);
  };
  const auto rows = vmap([](Tensor s) {
    const auto turned = [](Tensor, Tensor s) {
      return stack({s[0] * 0.96f - s[1] * 0.28f, s[0] * 0.28f + s[1] * 0.96f}, 0);
    };
    return fori_loop(0, 9, turned, s);
  });
  for (std::int64_t lanes = 2; lanes <= 67; lanes++) {
    SCOPED_TRACE(::testing::Message() << lanes << " lanes");
    const Literal x = between({lanes}, -4, 4);
    expect_bits_of_no_deadline(trace(counted, x), {x});
    expect_bits_of_no_deadline(trace(lanes_end, x), {x});
    expect_bits_of_no_deadline(trace(history, x), {x});
    if (lanes < 8) continue;  // fewer rows are not vectorized
    const Literal pairs = between({lanes, 2}, -4, 4);
    expect_bits_of_no_deadline(trace(rows, pairs), {pairs});
  }
  // With no rows or one there are no lanes.
  for (const std::int64_t lanes : {0, 1}) {
    const Literal x = between({lanes}, -4, 4);
    const Executable program = compile(trace(counted, x));
    testing::expect_equal(program.run({x}, {.deadline = std::chrono::hours(1)})[0],
                          program.run({x})[0]);
  }
}

TEST(Limits, ThatAreFarOffChangeNoBitOverManyTrips) {
  // Inner loops make a trip long, so after few trips all lanes are at a state between trips.
  const auto inner = [](Tensor y) {
    return fori_loop(
        0, 100, [](Tensor, Tensor z) { return z * 0.75f + 1; }, y);
  };
  const auto counted = [&](Tensor x) {
    const auto trip = [&](Tensor i, std::pair<Tensor, Tensor> s) {
      return std::pair(inner(s.first) + s.second, s.second * 0.5f + convert(i, DType::kF32));
    };
    return fori_loop(0, 250, trip, std::pair(x, Tensor(0.0f)), {.name = "counted"});
  };
  const auto lanes_end = vmap([&](Tensor x) {
    return while_loop([](Tensor n, Tensor y) { return convert(n, DType::kF32) < 240 - abs(y); },
                      [&](Tensor n, Tensor y) { return std::pair(n + 1, inner(y) + 0.25f); },
                      std::pair(Tensor(0), x), {.name = "climb"});
  });
  for (const std::int64_t lanes : {9, 70}) {
    const Literal x = between({lanes}, -4, 40);
    expect_bits_of_no_deadline(trace(counted, x), {x});
    expect_bits_of_no_deadline(trace(lanes_end, x), {x});
  }
}

// An operand that differs by row requires two loops, and the lanes of a chunk are one.
TEST(Limits, ThatAreFarOffChangeNoBitOfLanesBesideRows) {
  const Function f = trace(
      [](Tensor x, Tensor k) {
        const Tensor row = convert(iota(s32({4, 20}), 0) + k, DType::kF32);
        return fori_loop(
            0, 5, [&](Tensor, Tensor y) { return y * 0.5f + row; }, x);
      },
      f32({4, 20}), s32());
  expect_bits_of_no_deadline(f, {testing::ramp({4, 20}, 0.25f, -3), Literal::scalar(3)});
}

TEST(Limits, OfLoopsInLanesNameAllLoops) {
  const auto inner = [](Tensor a) {
    return while_loop([](Tensor b) { return b > 0; }, [](Tensor b) { return b * 3 + 1; }, a,
                      {.name = "inner"});
  };
  const auto f = [&](Tensor x) {
    const auto trip = [&](Tensor i, Tensor y) { return vmap(inner)(y + convert(i, DType::kU64)); };
    return fori_loop(0, 10, trip, x, {.name = "outer"});
  };
  // On trip 2 of the outer loop all lanes are 1, from where they never reach 0.
  for (const auto& [lanes, threads] : {std::pair(70, 1), std::pair(1 << 15, 2)}) {
    const Function function = trace(f, u64({lanes}));
    ASSERT_TRUE(runs_by_lane(function));
    const Literal x = Literal::zeros(u64({lanes}));
    for (const Executor executor : kExecutors) {
      const Executable program = compile(function, {.executor = executor});
      const auto timed = caught<DeadlineExceeded>(
          program, {x}, {.deadline = milliseconds(20), .threads = threads});
      const auto counted =
          caught<TooManyIterations>(program, {x}, {.max_iterations = 100, .threads = threads});
      for (const Interrupted& error : {Interrupted(timed), Interrupted(counted)}) {
        const std::string message = error.what();
        EXPECT_NE(message.find("in the loop 'outer' (deadlines_test.cc:"), std::string::npos)
            << message;
        EXPECT_EQ(error.loop(), "outer");
        EXPECT_EQ(error.trip(), 0);  // the first chunk has not ended
        ASSERT_FALSE(error.carry().empty());
        EXPECT_EQ(error.carry().back().second.data<std::uint64_t>()[69], 0u);
      }
      // The clock may also end a run between two blocks of lanes, max_iterations only in the loop.
      const std::string message = counted.what();
      EXPECT_NE(message.find("the loop 'inner' (deadlines_test.cc:"), std::string::npos) << message;
      EXPECT_NE(message.find("trip 101"), std::string::npos) << message;
    }
  }
}

TEST(Limits, OfALoopInACombinerNameItAndItsTrips) {
  const Function f = trace(
      [](Tensor x) {
        return reduce(x, Tensor(0.0), {0}, [](Tensor a, Tensor b) {
          return while_loop([](Tensor y) { return y >= 0; }, [](Tensor y) { return y + 1; }, a + b,
                            {.name = "endless"});
        });
      },
      f64({5}));
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    try {
      (void)compile(f, {.executor = executor})
          .run({Literal::zeros(f64({5}))}, {.max_iterations = 100});
      FAIL() << "it ended";
    } catch (const TooManyIterations& error) {
      EXPECT_EQ(error.loop(), "endless");
      EXPECT_EQ(error.trip(), 100);
    }
  }
}

TEST(Deadlines, OfALoopByLaneInAnotherLoop) {
  const auto f = [](Tensor x) {
    const auto trip = [](Tensor, Tensor y) {
      const Tensor all = sum(y);
      return fori_loop(0, std::int64_t{1} << 40,
                       [](Tensor, Tensor z) { return z * kFactor + kSum; }, y + all,
                       {.name = "inner"});
    };
    return fori_loop(0, 3, trip, x, {.name = "outer"});
  };
  const Function function = trace(f, u32({300}));
  for (const Executor executor : kExecutors) {
    const Executable program = compile(function, {.executor = executor});
    const double start = thread_seconds();
    const auto error =
        caught<DeadlineExceeded>(program, {deadline_numbers(300)}, {.deadline = milliseconds(100)});
    EXPECT_LT(thread_seconds() - start, 0.1 + soon());
    EXPECT_NE(std::string(error.what()).find("the loop 'inner'"), std::string::npos)
        << error.what();
    EXPECT_EQ(error.loop(), "outer");
    EXPECT_EQ(error.trip(), 0);
    ASSERT_FALSE(error.carry().empty());
    testing::expect_equal(error.carry().back().second, deadline_numbers(300));
  }
}

TEST(Deadlines, InsideATripOverALongArrayNameTheLoop) {
  // Each element depends on adjacent ones: a trip passes over the whole array.
  const auto f = [](Tensor x) {
    const auto trip = [](Tensor, Tensor y) { return long_chain((y + roll(y, 1, 0)) * 0.5f); };
    return fori_loop(0, 1000, trip, x, {.name = "smoothed"});
  };
  const Function function = trace(f, f32({1 << 20}));
  EXPECT_FALSE(runs_by_lane(function));
  const Literal x = between({1 << 20}, -1, 1);
  for (const Executor executor : kExecutors) {
    const Executable program = compile(function, {.executor = executor});
    const auto error = caught<DeadlineExceeded>(program, {x}, {.deadline = milliseconds(5)});
    EXPECT_EQ(error.loop(), "smoothed");
    const std::string message = error.what();
    EXPECT_NE(message.find("the loop 'smoothed' (deadlines_test.cc:"), std::string::npos)
        << message;
    EXPECT_NE(message.find("trip "), std::string::npos) << message;
    ASSERT_FALSE(error.carry().empty());
    if (error.trip() == 0) testing::expect_equal(error.carry().back().second, x);
  }
}

TEST(Progress, OfALoopThatRunsByLane) {
  const Executable program = compile(long_loop(500), {.executor = Executor::kCompiled});
  std::vector<std::int64_t> trips;
  std::stop_source source;
  RunOptions options{.stop_token = source.get_token()};
  options.on_progress = [&](const rondo::Progress& now) {
    EXPECT_EQ(now.loop, "long");
    EXPECT_EQ(now.of, std::int64_t{1} << 40);
    trips.push_back(now.trip);
    if (trips.size() == 2) source.request_stop();
  };
  expect_state(caught<Stopped>(program, {deadline_numbers(500)}, options), deadline_numbers(500));
  ASSERT_EQ(trips.size(), 2u);
  EXPECT_GT(trips[0], 1);
  EXPECT_GT(trips[1], trips[0]);
}

TEST(Limits, LeaveTheStateOfSmallArrays) {
  // The elements depend on each other: the loop has one lane, entirely in registers.
  const auto f = [](Tensor x) {
    const auto trip = [](Tensor i, Tensor y) { return y * 3 + roll(y, 1, 0) - i; };
    return fori_loop(0, 50, trip, x, {.name = "small"});
  };
  const Function function = trace(f, s32({3}));
  const Literal x = Literal::from<int>({1, -20, 300}, {3});
  std::vector<std::uint32_t> want = {1, static_cast<std::uint32_t>(-20), 300};
  for (std::uint32_t i = 0; i < 30; i++)
    want = {want[0] * 3 + want[2] - i, want[1] * 3 + want[0] - i, want[2] * 3 + want[1] - i};
  for (const Executor executor : kExecutors) {
    const auto error = caught<TooManyIterations>(compile(function, {.executor = executor}), {x},
                                                 {.max_iterations = 30});
    EXPECT_EQ(error.trip(), 30);
    ASSERT_EQ(error.carry().size(), 1u);
    ASSERT_EQ(error.carry()[0].second.type(), s32({3}));
    for (std::size_t i = 0; i < 3; i++)
      EXPECT_EQ(static_cast<std::uint32_t>(error.carry()[0].second.data<int>()[i]), want[i]) << i;
  }
}

TEST(Limits, OfAnInnerLoopLeaveTheStateInWhichItsTripBeganAndTellNothingTwice) {
  // Trip i of the outer loop makes 2 * i trips inside.
  const auto f = [](Tensor x) {
    const auto outer = [](Tensor i, Tensor y) {
      const auto inner = [](Tensor j, Tensor y) { return y * 3 + j; };
      return fori_loop(0, 2 * i, inner, tap(y, "y"), {.name = "inner"});
    };
    return fori_loop(0, 1000, outer, x, {.name = "outer"});
  };
  const Function function = trace(f, s32({3}));
  const Literal x = Literal::from<int>({1, 2, 3}, {3});
  std::vector<std::uint32_t> want = {1, 2, 3};
  for (std::uint32_t i = 0; i < 16; i++) {
    for (std::uint32_t j = 0; j < 2 * i; j++) {
      for (std::uint32_t& y : want) y = y * 3 + j;
    }
  }
  for (const bool timed : {false, true}) {
    for (const Executor executor :
         {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
      int taps = 0;
      RunOptions options{.max_iterations = 30};
      options.on_tap = [&](std::string_view, const Literal&) { taps++; };
      if (timed) options.deadline = std::chrono::hours(1);
      const auto error =
          caught<TooManyIterations>(compile(function, {.executor = executor}), {x}, options);
      EXPECT_EQ(error.loop(), "outer");
      EXPECT_EQ(error.trip(), 16);
      EXPECT_EQ(taps, 17);
      ASSERT_EQ(error.carry().size(), 1u);
      for (std::size_t k = 0; k < 3; k++) {
        EXPECT_EQ(static_cast<std::uint32_t>(error.carry()[0].second.data<int>()[k]), want[k]);
      }
    }
  }
}

TEST(Limits, LookOnceAtWhatIsReadTwiceByEachOpBeforeTheLoop) {
  const auto f = [](Tensor x) {
    Tensor init = broadcast_to(x, {70});
    for (int i = 0; i < 40; i++) init = maximum(init * 0.5f, init - 1.0f);
    return fori_loop(
        0, 5, [](Tensor, Tensor y) { return y * 0.5f + 1.0f; }, init);
  };
  expect_bits_of_no_deadline(trace(f, f32()), {Literal::scalar(3.0f)});
}

TEST(Limits, ThatAreFarOffTakeNoTime) {
  const auto f = [](Tensor x) {
    const auto trip = [](Tensor, Tensor y) { return y * 0.999f + abs(y - 0.5f) * 0.001f; };
    return fori_loop(0, 300, trip, x);
  };
  const Function function = trace(f, f32({16384}));
  ASSERT_TRUE(runs_by_lane(function));
  const Literal x = between({16384}, -1, 1);
  const Executable program = compile(function, {.executor = Executor::kCompiled});
  const auto run = [&](const RunOptions& options) {
    return [&program, &x, options] { (void)program.run({x}, options); };
  };
  // 1.04 times; trip by trip through all lanes it would be three times as much.
  EXPECT_LT(growth(run({}), run({.deadline = std::chrono::hours(1)}), 2), 2);
}

TEST(Deadlines, KeepToTheMemoryLimit) {
  const std::int64_t lanes = 70'000;
  const auto climb = [](Tensor v) {
    return while_loop([](Tensor a) { return a < 3.0f; }, [](Tensor a) { return a + 0.25f; }, v);
  };
  const Function program = trace(vmap(climb), f32({lanes}));
  const Literal x = Literal::zeros(program.params()[0]);
  const RunOptions limits{.deadline = std::chrono::hours(1)};
  for (const Executor executor : kExecutors) {
    const MemoryPlan plan = compile(program, {.executor = executor}).memory_plan();
    const std::int64_t plain = plan.arena_bytes + plan.result_bytes;
    const auto with_limit = [&](std::int64_t bytes) {
      return compile(program, {.executor = executor, .memory_limit = bytes});
    };
    const Executable tight = with_limit(plain), wide = with_limit(plain + 8 * lanes);
    const Literal want = tight.run({x})[0];
    for (int i = 0; i < 2; i++) {
      testing::expect_error<ExecutionError>(
          [&] { tight.run({x}, limits); },
          {"takes", "in runs with a deadline", "memory_limit is " + std::to_string(plain)});
    }
    RunStats stats;
    RunOptions counted = limits;
    counted.stats = &stats;
    EXPECT_TRUE(wide.run({x}, counted)[0].identical(want));
    EXPECT_LE(stats.peak_bytes - x.type().bytes(), plain + 8 * lanes);
  }
}

}  // namespace
}  // namespace rondo
