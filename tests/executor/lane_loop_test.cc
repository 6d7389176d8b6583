// Loops whose lanes stop one by one.
#include "executor/agreement.h"

namespace rondo {
namespace {

using testing::expect_agreement;
using testing::expect_equal;
using testing::Lowered;
using testing::runs_by_lane;

Literal stepped(std::int64_t lanes, float step, float first) {
  return testing::ramp({lanes}, step, first);
}

struct Orbit {
  Tensor re, im, trips;
};

/// Trips until z leaves the circle; its last value.
Orbit escape(Tensor re, Tensor im) {
  return while_loop(
      [](Orbit z) { return (z.re * z.re + z.im * z.im <= 4.0f) & (z.trips < 100); },
      [&](Orbit z) {
        return Orbit{z.re * z.re - z.im * z.im + re, 2.0f * z.re * z.im + im, z.trips + 1};
      },
      Orbit{re * 0.0f, im * 0.0f, Tensor(0)}, {.name = "escape"});
}

TEST(LaneLoop, RunsEachLaneByItself) {
  for (const std::int64_t lanes : {2, 3, 16, 64, 67, 200}) {
    const Literal re = stepped(lanes, 3.0f / static_cast<float>(lanes), -2.1f);
    const Literal im = stepped(lanes, 1.7f / static_cast<float>(lanes), -0.8f);
    const Function f = trace(vmap(escape), f32({lanes}), f32({lanes}));
    const Lowered lowered(f);
    EXPECT_TRUE(lowered.is_vectorized()) << lowered;
    EXPECT_EQ(lowered.vectorized_loops(), std::vector{lanes}) << lowered;
    const auto got = expect_agreement(f, {re, im});
    for (std::int64_t lane = 0; lane < lanes; lane++) {
      const auto at = static_cast<std::size_t>(lane);
      float x = 0, y = 0;
      int trips = 0;
      for (; x * x + y * y <= 4.0f && trips < 100; trips++) {
        const float next = x * x - y * y + re.data<float>()[at];
        y = 2.0f * x * y + im.data<float>()[at];
        x = next;
      }
      EXPECT_EQ(got[2].data<int>()[at], trips) << lane << " of " << lanes;
    }
  }
}

TEST(LaneLoop, CountsTheTripsOfTheLaneThatMakesMost) {
  const auto f = [](Tensor n) {
    return while_loop([&](Tensor i) { return i < n; }, [](Tensor i) { return i + 1; }, Tensor(0),
                      {.name = "count"});
  };
  std::vector<int> limits(130, 3);
  limits[5] = 40;
  limits[129] = 17;
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    const Executable run = compile(trace(vmap(f), s32({130})), {.executor = executor});
    RunStats stats;
    const Literal last = run.run({Literal::from(limits)}, {.stats = &stats})[0];
    EXPECT_TRUE(last.identical(Literal::from(limits)));
    ASSERT_EQ(stats.loops.size(), 1u);
    EXPECT_EQ(stats.loops[0].trips, 40);
  }
}

TEST(LaneLoop, WhatIsTheSameForAllLanesGoesOnWithThoseThatRun) {
  // The trip number is the same for all lanes; used here, unused there.
  const auto f = [](Tensor limit) {
    return while_loop(
        [&](Tensor, Tensor x) { return x < limit; },
        [](Tensor i, Tensor x) { return std::pair(i + 1, x + convert(i, DType::kF32)); },
        std::pair(Tensor(0), Tensor(0.0f)));
  };
  const auto only_x = [&](Tensor limit) { return f(limit).second; };
  const Literal limits = stepped(70, 1.5f, -3.0f);
  (void)expect_agreement(trace(vmap(f), f32({70})), {limits});
  const Function second = trace(vmap(only_x), f32({70}));
  EXPECT_TRUE(runs_by_lane(second));
  (void)expect_agreement(second, {limits});
}

TEST(LaneLoop, OfDoublesAndIntegersAndOfLanesThatNeverBegin) {
  const auto collatz = [](Tensor n) {
    return while_loop([](Tensor x, Tensor) { return x > 1; },
                      [](Tensor x, Tensor steps) {
                        return std::pair(where(eq(x % 2, 0), x / 2, 3 * x + 1), steps + 1.0);
                      },
                      std::pair(n, Tensor(0.0)));
  };
  std::vector<std::int64_t> starts(100);
  for (std::size_t i = 0; i < starts.size(); i++) starts[i] = static_cast<std::int64_t>(i) - 3;
  const Function f = trace(vmap(collatz), s64({100}));
  EXPECT_TRUE(runs_by_lane(f));
  const auto got = expect_agreement(f, {Literal::from(starts)});
  EXPECT_EQ(got[1].data<double>()[27 + 3], 111);  // of 27, the well-known one
  EXPECT_EQ(got[1].data<double>()[0], 0);
}

TEST(LaneLoop, ALimitedRunKeepsTheStateBetweenTripsOfAllLanes) {
  const auto f = [](Tensor n) {
    return while_loop([&](Tensor i) { return i < n; }, [](Tensor i) { return i + 1; }, Tensor(0),
                      {.name = "count"});
  };
  const Executable run = compile(trace(vmap(f), s32({3})), {.executor = Executor::kCompiled});
  try {
    run.run({Literal::from<int>({2, 50, 7}, {3})}, {.max_iterations = 5});
    FAIL() << "the limit did not hold";
  } catch (const TooManyIterations& error) {
    EXPECT_EQ(error.trip(), 5);
    EXPECT_EQ(error.loop(), "count");
    ASSERT_FALSE(error.carry().empty());
    EXPECT_EQ(error.carry().back().second.str(), "s32[3] {2, 5, 5}");
  }
}

// A value that is the initial value of lanes and is also read at other positions.
TEST(LaneLoop, AFirstValueThatIsATableToo) {
  const auto turned = [](Tensor x) {
    const Tensor first = sqrt(x);  // computed per lane at the start, and in memory for the others
    return fori_loop(
        0, 3, [&](Tensor, Tensor s) { return s * 0.5f + reverse(first, {0}); }, first);
  };
  const auto taken = [](Tensor x) {
    const Tensor first = sqrt(x), places = iota(s32({34}), 0);
    return fori_loop(
        0, 3, [&](Tensor i, Tensor s) { return s * 0.5f + take(first, 33 - places + i * 0, 0); },
        first);
  };
  const Literal x = stepped(34, 0.75f, 1);
  std::vector<float> want;
  for (std::size_t i = 0; i < 34; i++) {
    want.push_back(std::sqrt(x.data<float>()[i]));
    for (int trip = 0; trip < 3; trip++)
      want[i] = want[i] * 0.5f + std::sqrt(x.data<float>()[33 - i]);
  }
  for (const Function& function : {trace(turned, f32({34})), trace(taken, f32({34}))}) {
    for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
      for (const bool optimize : {false, true}) {
        const CompileOptions options{.optimize = optimize, .contract = false, .executor = executor};
        const Lowered lowered(function, options);
        EXPECT_TRUE(optimize || lowered.is_vectorized()) << lowered;
        expect_equal(compile(function, options).run(std::vector<Literal>{x})[0],
                     Literal::from(want));
      }
    }
  }
}

}  // namespace
}  // namespace rondo
