// Loops over arrays that are interchanged with their lanes: each block of lanes makes all its
// trips.
#include <cmath>
#include <numeric>

#include "executor/agreement.h"

namespace rondo {
namespace {

using testing::expect_agreement;
using testing::ramp;
using testing::runs_by_lane;

std::vector<std::int64_t> trips_of(const Function& f, const std::vector<Literal>& arguments,
                                   Executor executor) {
  RunStats stats;
  (void)compile(f, {.executor = executor}).run(arguments, {.stats = &stats});
  std::vector<std::int64_t> trips;
  for (const auto& loop : stats.loops) trips.push_back(loop.trips);
  return trips;
}

void expect_equal_trips(const Function& f, const std::vector<Literal>& arguments) {
  const auto want = trips_of(f, arguments, Executor::kReference);
  EXPECT_EQ(trips_of(f, arguments, Executor::kBytecode), want);
  EXPECT_EQ(trips_of(f, arguments, Executor::kCompiled), want);
}

TEST(LoopInterchange, OfACountedLoop) {
  const auto f = [](Tensor x) {
    return fori_loop(
        0, 20, [](Tensor i, Tensor y) { return y * 0.75f + convert(i, DType::kF32); }, x);
  };
  for (const std::int64_t lanes : {2, 3, 15, 16, 17, 64, 67, 130}) {
    const Literal x = ramp({lanes}, 0.25f, -3);
    const Function function = trace(f, x);
    EXPECT_TRUE(runs_by_lane(function));
    const auto got = expect_agreement(function, {x});
    for (std::int64_t lane = 0; lane < lanes; lane++) {
      float y = x.data<float>()[static_cast<std::size_t>(lane)];
      for (int i = 0; i < 20; i++) {
        const float scaled = y * 0.75f;
        y = scaled + static_cast<float>(i);
      }
      EXPECT_EQ(got[0].data<float>()[static_cast<std::size_t>(lane)], y) << lane;
    }
    expect_equal_trips(function, {x});
  }
}

TEST(LoopInterchange, OfSeveralCarriesAndArraysOfTwoAxes) {
  const auto f = [](Tensor x, Tensor bias) {
    const auto [y, z, n] =
        while_loop([](Tensor, Tensor, Tensor n) { return n < 7; },
                   [&](Tensor y, Tensor z, Tensor n) {
                     return std::tuple(z + bias, where(y > z, y - z, y * 0.5f), n + 2);
                   },
                   std::tuple(x, x * 0.5f + 1, Tensor(0)));
    return std::tuple(y, z, n);
  };
  const Literal x = ramp({5, 14}, 0.5f, -10), bias = ramp({14}, 1, -7);
  const auto broadcast = [&](Tensor a, Tensor b) { return f(a, broadcast_to(b, a.shape())); };
  const Function function = trace(broadcast, x, bias);
  EXPECT_TRUE(runs_by_lane(trace([&](Tensor a) { return std::get<0>(f(a, a)); }, x)));
  const auto got = expect_agreement(function, {x, bias});
  EXPECT_EQ(got[2].data<int>()[0], 8);
  expect_equal_trips(function, {x, bias});
}

TEST(LoopInterchange, OfALoopOverSlices) {
  const auto f = [](Tensor x, Tensor xs) {
    return scan(
               [](Tensor s, Tensor row) { return std::pair(s * 0.5f + row * row, std::tuple<>()); },
               x, xs)
        .first;
  };
  const Literal x = ramp({70}, 0.5f, -10), xs = ramp({9, 70}, 0.01f, -2);
  const Function function = trace(f, x, xs);
  EXPECT_TRUE(runs_by_lane(function));
  const auto got = expect_agreement(function, {x, xs});
  for (std::size_t lane = 0; lane < 70; lane++) {
    float s = x.data<float>()[lane];
    for (std::size_t t = 0; t < 9; t++) {
      const float row = xs.data<float>()[70 * t + lane], half = s * 0.5f, square = row * row;
      s = half + square;
    }
    EXPECT_EQ(got[0].data<float>()[lane], s) << lane;
  }
}

struct Escape {
  Tensor trip, count, re, im;
};

/// The Mandelbrot set as written for arrays.
Escape escape_of_all(Tensor x, Tensor y) {
  const auto inside = [](Escape s) { return s.re * s.re + s.im * s.im <= 4; };
  const Tensor none = x * 0;
  return while_loop([&](Escape s) { return (s.trip < 60) & any(inside(s)); },
                    [&](Escape s) {
                      const Tensor on = inside(s);
                      return Escape{s.trip + 1, s.count + convert(on, DType::kS32),
                                    where(on, s.re * s.re - s.im * s.im + x, s.re),
                                    where(on, 2 * s.re * s.im + y, s.im)};
                    },
                    Escape{0, convert(none, DType::kS32), none, none}, {.name = "escape"});
}

TEST(LoopInterchange, OfAWhileThatRunsWhileAnyLaneDoes) {
  for (const std::int64_t lanes : {2, 33, 64, 150}) {
    const Literal x = ramp({lanes}, 3.0f / static_cast<float>(lanes), -2.1f),
                  y = ramp({lanes}, 1.7f / static_cast<float>(lanes), -0.8f);
    const Function function =
        trace([](Tensor a, Tensor b) { return escape_of_all(a, b).count; }, x, y);
    EXPECT_TRUE(runs_by_lane(function));
    const auto got = expect_agreement(function, {x, y});
    int most = 0;
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); lane++) {
      float re = 0, im = 0;
      int count = 0;
      for (; re * re + im * im <= 4 && count < 60; count++) {
        const float next = re * re - im * im + x.data<float>()[lane];
        im = 2 * re * im + y.data<float>()[lane];
        re = next;
      }
      EXPECT_EQ(got[0].data<int>()[lane], count) << lane << " of " << lanes;
      most = std::max(most, count);
    }
    for (const Executor executor : {Executor::kBytecode, Executor::kCompiled})
      EXPECT_EQ(trips_of(function, {x, y}, executor), std::vector<std::int64_t>{most});
    expect_equal_trips(function, {x, y});
  }
}

TEST(LoopInterchange, GivesWhatIsTheSameForAllLanesAfterTheLongest) {
  const Literal x = ramp({40}, 0.05f, -1.1f), y = ramp({40}, 0.02f, 0.3f);
  const Function function = trace(escape_of_all, x, y);
  EXPECT_TRUE(runs_by_lane(trace([](Tensor a, Tensor b) { return escape_of_all(a, b).re; }, x, y)));
  (void)expect_agreement(function, {x, y});
  // All lanes are done from the start.
  const Literal far = ramp({40}, 1, 3);
  const auto none = [](Tensor v) {
    return while_loop(
        [](Tensor n, Tensor a) { return any(a < 2.0f) & (n < 9); },
        [](Tensor n, Tensor a) { return std::pair(n + 3, where(a < 2.0f, a + 0.3f, a)); },
        std::pair(Tensor(0), v));
  };
  const auto got = expect_agreement(trace(none, far), {far});
  EXPECT_EQ(got[0].data<int>()[0], 0);
  (void)expect_agreement(trace(none, x), {x});
}

TEST(LoopInterchange, KnowsWaysToSayThatALaneIsDone) {
  const Literal v = Literal::from([] {
    std::vector<int> starts(100);
    std::iota(starts.begin(), starts.end(), 1);
    return starts;
  }());
  const auto next = [](Tensor x) { return where(eq(x & 1, 1), 3 * x + 1, x >> 1); };
  using State = std::pair<Tensor, Tensor>;
  const auto not_equal = [&](Tensor x) {
    return while_loop([](Tensor a, Tensor) { return any(ne(a, 1)); },
                      [&](Tensor a, Tensor n) {
                        const Tensor on = ne(a, 1);
                        return State(where(on, next(a), a), n + convert(on, DType::kS32));
                      },
                      State(x, x * 0));
  };
  const auto equal = [&](Tensor x) {
    return while_loop([](Tensor a, Tensor) { return any(ne(a, 1)); },
                      [&](Tensor a, Tensor n) {
                        const Tensor done = eq(a, 1);
                        return State(where(done, a, next(a)), where(done, n, n + 1));
                      },
                      State(x, x * 0));
  };
  const auto not_all = [&](Tensor x) {
    return while_loop([](Tensor a, Tensor) { return !all(eq(a, 1)); },
                      [&](Tensor a, Tensor n) {
                        const Tensor done = eq(a, 1);
                        return State(where(done, a, next(a)), where(done, n, n + 1));
                      },
                      State(x, x * 0));
  };
  const auto flags = [&](Tensor x) {
    const auto [done, a, n] =
        while_loop([](Tensor done, Tensor, Tensor) { return any(!done); },
                   [&](Tensor done, Tensor a, Tensor n) {
                     const Tensor after = next(a);
                     return std::tuple(done | eq(after, 1), where(done, a, after),
                                       n + convert(!done, DType::kS32));
                   },
                   std::tuple(eq(x, 1), x, x * 0));
    return State(a, n);
  };
  const auto both = [&](Tensor x) {
    const auto on = [](Tensor a, Tensor n) { return ne(a, 1) & (n < 50); };
    return while_loop([&](Tensor a, Tensor n) { return any(on(a, n)); },
                      [&](Tensor a, Tensor n) {
                        return State(where(on(a, n), next(a), a),
                                     n + convert(on(a, n), DType::kS32));
                      },
                      State(x, x * 0));
  };
  std::vector<Function> ways{trace(not_equal, v), trace(equal, v), trace(not_all, v),
                             trace(flags, v), trace(both, v)};
  for (std::size_t way = 0; way < ways.size(); way++) {
    SCOPED_TRACE(way);
    EXPECT_TRUE(runs_by_lane(ways[way]));
    const auto got = expect_agreement(ways[way], {v});
    EXPECT_EQ(got[1].data<int>()[26], way == 4 ? 50 : 111);  // from 27, the well-known one
    expect_equal_trips(ways[way], {v});
  }
}

TEST(LoopInterchange, IsNotMadeWhereLanesGoOnForOneAnother) {
  const Literal v = ramp({50}, 0.5f, 1);
  // Lanes that are done still change.
  const auto moves = [](Tensor x) {
    return while_loop([](Tensor a) { return any(a > 1.0f); }, [](Tensor a) { return a * 0.5f; }, x);
  };
  // They change again when the trip number says so.
  const auto later = [](Tensor x) {
    const auto on = [](Tensor n, Tensor a) { return (a > 1.0f) | (n > 3); };
    return while_loop(
        [&](Tensor n, Tensor a) { return (n < 8) & any(on(n, a)); },
        [&](Tensor n, Tensor a) { return std::pair(n + 1, where(on(n, a), a * 0.5f, a)); },
        std::pair(Tensor(0), x));
  };
  // One lane ends all.
  const auto until_one = [](Tensor x) {
    return while_loop([](Tensor a) { return all(a < 90.0f); },
                      [](Tensor a) { return where(a < 90.0f, a * 1.5f, a); }, x);
  };
  // -0 + 0 is 0.
  const auto minus_zero = [](Tensor x) {
    return while_loop([](Tensor a) { return any(a > 2.0f); },
                      [](Tensor a) { return a + where(a > 2.0f, Tensor(-1.0f), Tensor(0.0f)); },
                      x * -0.0f + where(x > 20.0f, x, x * -0.0f));
  };
  // The mask of running lanes depends on the trip: one half of the lanes, the other one, all.
  const auto by_trip = [](Tensor x) {
    const Tensor place = arange(50, DType::kF32);
    const Tensor limits = stack({where(place < 25.0f, Tensor(0.0f), Tensor(99.0f)),
                                 where(place < 25.0f, Tensor(99.0f), Tensor(0.0f)),
                                 zeros(f32({50})), full(f32({50}), 99.0f)},
                                0) *
                          where(x[0] > 0.0f, Tensor(1.0f), Tensor(2.0f));
    return while_loop([&](Tensor n, Tensor a) { return any(a > limits[n]); },
                      [](Tensor n, Tensor a) { return std::pair(n + 1, clamp(a, a, a)); },
                      std::pair(Tensor(0), x));
  };
  EXPECT_EQ(expect_agreement(trace(by_trip, v), {v})[0].item<int>(), 3);
  for (const Function& f : {trace(moves, v), trace(later, v), trace(until_one, v),
                            trace(minus_zero, v), trace(by_trip, v)}) {
    EXPECT_FALSE(runs_by_lane(f));
    (void)expect_agreement(f, {v});
    expect_equal_trips(f, {v});
  }
}

TEST(LoopInterchange, OfLoopsInLoops) {
  // A counted loop in a counted loop.
  const auto counted = [](Tensor x) {
    return fori_loop(
        0, 6,
        [](Tensor i, Tensor y) {
          const Tensor inner = fori_loop(
              0, i + 1, [](Tensor, Tensor z) { return z * 0.5f + 1; }, y);
          return y + inner;
        },
        x);
  };
  const Literal x = ramp({70}, 0.3f, -4);
  EXPECT_TRUE(runs_by_lane(trace(counted, x)));
  (void)expect_agreement(trace(counted, x), {x});
  expect_equal_trips(trace(counted, x), {x});
  // Lanes that stop one by one, in each trip of a loop over the same lanes, and again within them.
  const auto halve = [](Tensor a) {
    return while_loop([](Tensor b) { return abs(b) > 1.0f; }, [](Tensor b) { return b * 0.5f; }, a);
  };
  const auto inner = [&](Tensor a) {
    return fori_loop(
        0, 5, [&](Tensor, Tensor b) { return halve(b) * 3.0f + 0.25f; }, a);
  };
  EXPECT_TRUE(runs_by_lane(trace(vmap(inner), x)));
  (void)expect_agreement(trace(vmap(inner), x), {x});
  const auto outer = [&](Tensor a) {
    return while_loop([](Tensor b, Tensor n) { return (abs(b) < 40.0f) & (n < 9); },
                      [&](Tensor b, Tensor n) { return std::pair(halve(b) * 7.0f + 3, n + 1); },
                      std::pair(a, Tensor(0)));
  };
  EXPECT_TRUE(runs_by_lane(trace(vmap(outer), x)));
  (void)expect_agreement(trace(vmap(outer), x), {x});
}

TEST(LoopInterchange, InALoopThatIsNoneOfLanes) {
  // The outer loop adds up all lanes; the inner one is vectorized in each of its trips.
  const auto f = [](Tensor x) {
    const auto halve = [](Tensor a, Tensor most) {
      return while_loop([&](Tensor b) { return abs(b) > most; }, [](Tensor b) { return b * 0.5f; },
                        a, {.name = "halve"});
    };
    return fori_loop(
        0, 4,
        [&](Tensor, Tensor y) {
          const Tensor all = sum(y);
          const Tensor scaled = vmap(halve, {.in_axes = {0, std::nullopt}})(y + all, Tensor(2.0f));
          return fori_loop(
              0, 3, [](Tensor, Tensor z) { return z * 1.25f; }, scaled);
        },
        x, {.name = "outer"});
  };
  const Literal x = ramp({70}, 0.3f, -4);
  const Function function = trace(f, x);
  (void)expect_agreement(function, {x});
  expect_equal_trips(function, {x});
}

TEST(LoopInterchange, LimitsEndTheLoopBetweenTripsOfAllLanes) {
  const auto f = [](Tensor x) {
    return fori_loop(0, 50, [](Tensor, Tensor y) { return y + 1; }, x, {.name = "count"});
  };
  const Function function = trace(f, s32({3}));
  const Literal x = Literal::from<int>({1, 20, 300}, {3});
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    const Executable run = compile(function, {.executor = executor});
    EXPECT_EQ(run.run({x})[0].data<int>()[2], 350);
    try {
      run.run({x}, {.max_iterations = 5});
      FAIL() << "the limit did not hold";
    } catch (const TooManyIterations& error) {
      EXPECT_EQ(error.trip(), 5);
      EXPECT_EQ(error.loop(), "count");
      ASSERT_FALSE(error.carry().empty());
      EXPECT_EQ(error.carry().back().second.str(), "s32[3] {6, 25, 305}");
    }
  }
}

TEST(LoopInterchange, AnObserverSeesAllLanesOfATrip) {
  const auto f = [](Tensor x) {
    return fori_loop(
        0, 3, [](Tensor, Tensor y) { return tap(y + 1, "y"); }, x);
  };
  const Function function = trace(f, s32({4}));
  EXPECT_FALSE(runs_by_lane(function));
  int seen = 0;
  RunOptions options;
  options.on_tap = [&](std::string_view, const Literal& value) {
    EXPECT_EQ(value.type(), s32({4}));
    seen++;
  };
  (void)compile(function).run({Literal::from<int>({1, 2, 3, 4})}, options);
  EXPECT_EQ(seen, 3);
}

TEST(LoopInterchange, APromiseThatIsBrokenIsAnError) {
  const auto f = [](Tensor x) {
    return while_loop([](Tensor a) { return any(a < 10.0f); },
                      [](Tensor a) { return where(a < 10.0f, a + 1.0f, a); }, x,
                      {.max_trip_count = 5, .name = "climb"});
  };
  const Function function = trace(f, f32({70}));
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    const Executable run = compile(function, {.executor = executor});
    EXPECT_EQ(run.run({ramp({70}, 0, 5)})[0].data<float>()[69], 10.0f);
    EXPECT_THROW(run.run({ramp({70}, 0.1f, 4)}), ExecutionError);
  }
}

TEST(LoopInterchange, MultipliesIntegersByConstants) {
  for (const DType dtype : {DType::kS16, DType::kS32, DType::kU32, DType::kS64, DType::kU64}) {
    const Literal x = (convert(iota(s64({70}), 0) * 123'456'789 - 77, dtype)).eval();
    for (const std::int64_t factor :
         {0, 1, 2, 3, 5, 7, 8, 9, 1 << 14, (1 << 14) + 1, 1 << 30, (1 << 30) + 1, -1, -2, -3}) {
      const auto f = [&](Tensor v) {
        const Tensor by = convert(Tensor(factor), dtype);
        return fori_loop(
            0, 3, [&](Tensor, Tensor y) { return y * by + 1; }, v);
      };
      SCOPED_TRACE(::testing::Message() << dtype_name(dtype) << " by " << factor);
      (void)expect_agreement(trace(f, x), {x});
    }
  }
}

}  // namespace
}  // namespace rondo
