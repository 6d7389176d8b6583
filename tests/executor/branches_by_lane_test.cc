// Branches with a predicate per lane: what no lane of a block takes is not computed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <tuple>
#include <utility>

#include "executor/agreement.h"

namespace rondo {
namespace {

using lower::Opcode;
using testing::expect_agreement;
using testing::Lowered;

const std::vector<Executor> kCompiledOnes{Executor::kBytecode, Executor::kCompiled};

/// Numbers of which about `takers` percent are above zero, with no two blocks alike.
Literal numbers_of(const Shape& shape, int takers) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  std::uint32_t state = 12345;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    const bool takes = static_cast<int>((state >> 8) % 100) < takers;
    value = (takes ? 1.0f : -1.0f) * (0.25f + static_cast<float>(state >> 20) / 4096.0f);
  }
  return Literal::from(values, shape);
}
Literal numbers_taken(std::int64_t lanes, int takers) { return numbers_of({lanes}, takers); }

/// Enough quotients to be expensive; the same in C++ and in a trace.
template <class T>
T expensive(T x) {
  T y = x;
  for (int i = 0; i < 30; i++) y = y * 0.75f + x / (y * y + 1.5f);
  return y;
}

Tensor expensive_above_zero(Tensor x) {
  return cond(
      x > 0.0f, [](Tensor v) { return expensive(v); }, [](Tensor v) { return v * 2.0f; }, x);
}

/// Whether a branch became a loop of at most one trip.
bool leaves_out(const Function& f, Executor executor = Executor::kBytecode) {
  return Lowered(f, {.executor = executor}).branches_left_out() > 0;
}

TEST(BranchesByLane, GiveEachLaneItsOwn) {
  for (const std::int64_t lanes : {2, 3, 16, 64, 67, 200}) {
    const Function f = trace(vmap(expensive_above_zero), f32({lanes}));
    EXPECT_TRUE(leaves_out(f));
    EXPECT_TRUE(testing::runs_by_lane(f));
    for (const int takers : {0, 2, 50, 100}) {
      const Literal x = numbers_taken(lanes, takers);
      const Literal got = expect_agreement(f, {x})[0];
      for (std::int64_t lane = 0; lane < lanes; lane++) {
        const float v = x.data<float>()[static_cast<std::size_t>(lane)];
        EXPECT_EQ(got.data<float>()[static_cast<std::size_t>(lane)],
                  v > 0 ? expensive(v) : v * 2.0f)
            << "lane " << lane << " of " << lanes;
      }
    }
  }
}

TEST(BranchesByLane, AreReported) {
  const std::string text =
      compile(trace(vmap(expensive_above_zero), f32({64})), {.executor = Executor::kBytecode})
          .program();
  EXPECT_NE(text.find("\n  conditional at "), std::string::npos) << text;
  EXPECT_NE(text.find("blocks of lanes of which none takes the branch leave it out\n"),
            std::string::npos);
}

TEST(BranchesByLane, OfFewOpsAreChosenFrom) {
  const auto f = [](Tensor x) {
    return cond(
        x > 0.0f, [](Tensor v) { return v * v + 1.0f; }, [](Tensor v) { return -v; }, x);
  };
  const Lowered lowered(trace(vmap(f), f32({64})));
  EXPECT_EQ(lowered.count(Opcode::kRepeat), 0) << lowered;
}

/// In lanes that take the branch: 50 trips.
Tensor fifty_trips_above_zero(Tensor x) {
  return cond(
      x > 0.0f,
      [](Tensor v) {
        return fori_loop(0, 50, [&](Tensor, Tensor y) { return y * 0.75f + v; }, v,
                         {.name = "inner"});
      },
      [](Tensor v) { return v; }, x);
}

TEST(BranchesByLane, OfWhichNoLaneTakesAnyRunNoLoop) {
  const std::int64_t lanes = 300;
  const Function f = trace(vmap(fifty_trips_above_zero), f32({lanes}));
  for (const Executor executor : kCompiledOnes) {
    const Executable run = compile(f, {.executor = executor});
    for (const int takers : {0, 1, 100}) {
      RunStats stats;
      const Literal x = numbers_taken(lanes, takers);
      const Literal got = run.run({x}, {.stats = &stats})[0];
      ASSERT_EQ(stats.loops.size(), 1u);
      EXPECT_EQ(stats.loops[0].name, "inner");
      EXPECT_EQ(stats.loops[0].trips, takers == 0 ? 0 : 50);
      for (std::size_t lane = 0; lane < got.data<float>().size(); lane++) {
        const float v = x.data<float>()[lane];
        float y = v;
        for (int i = 0; i < 50 && v > 0; i++) y = y * 0.75f + v;
        EXPECT_NEAR(got.data<float>()[lane], y, 1e-5f * std::abs(y));
      }
    }
  }
  for (const int takers : {0, 1, 50, 100})
    (void)expect_agreement(f, {numbers_taken(lanes, takers)});
}

TEST(BranchesByLane, StandInLoopsWhoseLanesStopOneByOne) {
  // Collatz, where odd numbers take a branch whose loop would not end for even ones.
  const auto f = [](Tensor n) {
    return while_loop(
        [](Tensor x, Tensor, Tensor) { return x > 1; },
        [](Tensor x, Tensor steps, Tensor detours) {
          const Tensor detour = cond(
              eq(x % 2, 1),
              [](Tensor v) {
                return while_loop(
                           [](Tensor y, Tensor) { return ne(y, 1); },
                           [](Tensor y, Tensor trips) { return std::pair(y - 2, trips + 1); },
                           std::pair(v, 0 * v))
                    .second;
              },
              [](Tensor v) { return 0 * v; }, x);
          return std::tuple(where(eq(x % 2, 0), x / 2, 3 * x + 1), steps + 1, detours + detour);
        },
        std::tuple(n, 0 * n, 0 * n));
  };
  std::vector<std::int64_t> starts(150);
  for (std::size_t i = 0; i < starts.size(); i++) starts[i] = static_cast<std::int64_t>(i) % 27;
  const Function batched = trace(vmap(f), s64({150}));
  EXPECT_TRUE(testing::runs_by_lane(batched));
  EXPECT_TRUE(leaves_out(batched));
  const auto got = expect_agreement(batched, {Literal::from(starts)});
  for (std::size_t lane = 0; lane < starts.size(); lane++) {
    std::int64_t x = starts[lane], steps = 0, detours = 0;
    for (; x > 1; x = x % 2 == 0 ? x / 2 : 3 * x + 1, steps++) {
      for (std::int64_t y = x; x % 2 == 1 && y != 1; y -= 2) detours++;
    }
    EXPECT_EQ(got[1].data<std::int64_t>()[lane], steps);
    EXPECT_EQ(got[2].data<std::int64_t>()[lane], detours);
  }
}

TEST(BranchesByLane, AreAnyOfSeveral) {
  // Of four branches the first, the last and one in between are expensive.
  const auto f = [](Tensor which, Tensor x) {
    return switch_case(
        which,
        std::tuple([](Tensor v) { return expensive(v); }, [](Tensor v) { return v + 1.0f; },
                   [](Tensor v) { return expensive(v + 2.0f); },
                   [](Tensor v) { return expensive(v * 3.0f); }),
        x);
  };
  const std::int64_t lanes = 133;
  const Function batched = trace(vmap(f), s32({lanes}), f32({lanes}));
  EXPECT_TRUE(leaves_out(batched));
  const Literal x = numbers_taken(lanes, 100);
  for (const int branches : {1, 2, 3, 4, 6}) {
    std::vector<std::int32_t> which(static_cast<std::size_t>(lanes));
    for (std::size_t i = 0; i < which.size(); i++)
      which[i] = static_cast<std::int32_t>(i * i) % branches - (branches == 6 ? 1 : 0);
    const Literal got = expect_agreement(batched, {Literal::from(which), x})[0];
    for (std::size_t i = 0; i < which.size(); i++) {
      const float v = x.data<float>()[i];
      const int taken = std::clamp(which[i], 0, 3);
      const float want = taken == 0   ? expensive(v)
                         : taken == 1 ? v + 1.0f
                         : taken == 2 ? expensive(v + 2.0f)
                                      : expensive(v * 3.0f);
      EXPECT_EQ(got.data<float>()[i], want) << "branch " << taken;
    }
  }
}

TEST(BranchesByLane, StandInOneAnotherAndInTheOtherBranch) {
  const auto f = [](Tensor x) {
    return cond(
        x > 0.5f, [](Tensor v) { return v; },
        [](Tensor v) {
          return cond(
              v > 0.0f, [](Tensor u) { return expensive(u); },
              [](Tensor u) {
                return cond(
                    u > -0.5f, [](Tensor w) { return expensive(-w); },
                    [](Tensor w) { return fifty_trips_above_zero(-w); }, u);
              },
              v);
        },
        x);
  };
  const Function batched = trace(vmap(f), f32({100}));
  EXPECT_TRUE(leaves_out(batched));
  for (const int takers : {0, 3, 50}) {
    const Literal x = numbers_taken(100, takers);
    const Literal got = expect_agreement(batched, {x})[0];
    for (std::size_t i = 0; i < 100; i++) {
      const float v = x.data<float>()[i];
      float want = v > 0.5f ? v : v > 0 ? expensive(v) : expensive(-v);
      if (v <= -0.5f) {
        want = -v;
        for (int t = 0; t < 50; t++) want = want * 0.75f + -v;
      }
      EXPECT_EQ(got.data<float>()[i], want);
    }
  }
}

TEST(BranchesByLane, GiveRowsOfFewElements) {
  const auto f = [](Tensor x, Tensor row) {
    return cond(
        x > 0.0f, [](Tensor v, Tensor r) { return expensive(r) + v; },
        [](Tensor, Tensor r) { return r; }, x, row);
  };
  const Function batched = trace(vmap(f), f32({70}), f32({70, 3}));
  EXPECT_TRUE(leaves_out(batched));
  const Literal x = numbers_taken(70, 20), rows = testing::ramp({70, 3}, 0.01f, -0.4f);
  const Literal got = expect_agreement(batched, {x, rows})[0];
  for (std::size_t i = 0; i < 210; i++) {
    const float v = x.data<float>()[i / 3], r = rows.data<float>()[i];
    EXPECT_EQ(got.data<float>()[i], v > 0 ? expensive(r) + v : r);
  }
}

TEST(BranchesByLane, CountAsNoLoop) {
  const auto f = [](Tensor x) {
    return fori_loop(0, 10, [](Tensor, Tensor y) { return expensive_above_zero(y) - 0.5f; }, x,
                     {.name = "outer"});
  };
  const Literal x = numbers_taken(90, 30);
  const Function in_a_loop = trace(vmap(f), f32({90}));
  const Function alone = trace(vmap(expensive_above_zero), f32({90}));
  (void)expect_agreement(in_a_loop, {x});
  for (const Executor executor : kCompiledOnes) {
    RunOptions limits;
    RunStats stats;
    limits.stats = &stats;
    limits.deadline = std::chrono::hours(1);
    limits.max_iterations = 10;
    const Executable looped = compile(in_a_loop, {.executor = executor});
    EXPECT_TRUE(leaves_out(in_a_loop, executor));
    EXPECT_TRUE(looped.run({x}, limits)[0].identical(looped.run({x})[0]));
    ASSERT_EQ(stats.loops.size(), 1u);
    EXPECT_EQ(stats.loops[0].trips, 10);
    limits.max_iterations = 0;
    const Executable branch = compile(alone, {.executor = executor});
    EXPECT_TRUE(branch.run({x}, limits)[0].identical(branch.run({x})[0]));
    EXPECT_TRUE(stats.loops.empty());
    limits.max_iterations = 9;
    EXPECT_THROW(looped.run({x}, limits), TooManyIterations);
  }
}

TEST(BranchesByLane, AroundAllLoopsLeaveTheStateOfThose) {
  const auto f = [](Tensor x) {
    return cond(
        x > 0.0f,
        [](Tensor v) {
          return while_loop([](Tensor y) { return y < 100.0f; }, [](Tensor y) { return y + 1.0f; },
                            v, {.name = "inner"});
        },
        [](Tensor v) { return v; }, x);
  };
  const Function batched = trace(vmap(f), f32({3}));
  for (const Executor executor : kCompiledOnes) {
    const Executable run = compile(batched, {.executor = executor});
    EXPECT_TRUE(leaves_out(batched, executor));
    try {
      run.run({Literal::from<float>({0.5f, -1.0f, 97.5f}, {3})}, {.max_iterations = 5});
      FAIL() << "the limit did not hold";
    } catch (const TooManyIterations& error) {
      EXPECT_EQ(error.trip(), 5);
      EXPECT_EQ(error.loop(), "inner");
      ASSERT_FALSE(error.carry().empty());
      EXPECT_EQ(error.carry().back().second.str(), "f32[3] {5.5, -1, 100.5}");
    }
  }
}

TEST(BranchesByLane, WithLargeKernelsRunWhereAnyLaneTakesThem) {
  // Each lane multiplies its own matrix; all lanes that take the branch run it, or none does.
  const auto f = [](Tensor x, Tensor m) {
    return cond(
        x > 0.0f,
        [](Tensor v, Tensor a) {
          return matmul(a, slice(a, {0, 0}, {8, 8})) * v;
        },
        [](Tensor, Tensor a) { return a; }, x, m);
  };
  const Function batched = trace(vmap(f), f32({6}), f32({6, 9, 8}));
  const Lowered lowered(batched);
  EXPECT_EQ(lowered.count(Opcode::kIf), 1) << lowered;
  EXPECT_EQ(lowered.count_inside(Opcode::kLanes, Opcode::kIf), 0) << lowered;
  EXPECT_GT(lowered.count(Opcode::kFma), 0) << lowered;
  EXPECT_EQ(lowered.count_inside(Opcode::kIf, Opcode::kFma), lowered.count(Opcode::kFma))
      << lowered;
  const Literal matrices = testing::ramp({6, 9, 8}, 0.01f, -1.5f);
  for (const int takers : {0, 50, 100}) {
    const Literal x = numbers_taken(6, takers);
    const Literal got = expect_agreement(batched, {x, matrices})[0];
    const auto m = matrices.data<float>();
    for (std::size_t i = 0; i < got.data<float>().size(); i++) {
      const std::size_t lane = i / 72, row = i / 8 % 9, column = i % 8;
      double want = 0;
      for (std::size_t k = 0; k < 8; k++)
        want += double{m[lane * 72 + row * 8 + k]} * double{m[lane * 72 + k * 8 + column]};
      const float v = x.data<float>()[lane];
      EXPECT_NEAR(got.data<float>()[i], v > 0 ? want * v : m[i], 1e-4);
    }
  }
}

TEST(SelectToBranch, AreMadeOfWhatOneSideOfAWhereNeeds) {
  const auto f = [](Tensor x) { return where(x > 0.0f, expensive(x), x * 2.0f); };
  for (const Shape& shape : {Shape{3}, Shape{200}, Shape{5, 40}}) {
    const Function of_arrays = trace(f, TensorType{DType::kF32, shape});
    EXPECT_TRUE(leaves_out(of_arrays));
    for (const int takers : {0, 2, 50, 100}) {
      const Literal x = numbers_of(shape, takers);
      const Literal got = expect_agreement(of_arrays, {x})[0];
      for (std::size_t i = 0; i < got.data<float>().size(); i++) {
        const float v = x.data<float>()[i];
        EXPECT_EQ(got.data<float>()[i], v > 0 ? expensive(v) : v * 2.0f);
      }
    }
  }
}

TEST(SelectToBranch, OfBothSidesAndOfSeveralResultsAreTwoBranches) {
  const auto f = [](Tensor x, Tensor y) {
    return fori_loop(
        0, 3,
        [](Tensor, Tensor u, Tensor v, Tensor) {
          const Tensor p = u > v, a = expensive(u), b = expensive(v + 3.0f);
          return std::tuple(where(p, a, b), where(p, a - v, u), where(p, v, b * u));
        },
        std::tuple(x, y, x));
  };
  const std::int64_t lanes = 150;
  const Function function = trace(f, f32({lanes}), f32({lanes}));
  EXPECT_EQ(Lowered(function).branches_left_out(), 2) << Lowered(function);
  const Literal x = numbers_taken(lanes, 50), y = testing::ramp({lanes}, 0.01f, -0.7f);
  const auto got = expect_agreement(function, {x, y});
  for (std::size_t i = 0; i < 150; i++) {
    float u = x.data<float>()[i], v = y.data<float>()[i], w = u;
    for (int t = 0; t < 3; t++) {
      const float a = expensive(u), b = expensive(v + 3.0f);
      const bool p = u > v;
      const float before = u, other = v;
      u = p ? a : b;
      v = p ? a - other : before;
      w = p ? other : b * before;
    }
    EXPECT_EQ(got[0].data<float>()[i], u);
    EXPECT_EQ(got[1].data<float>()[i], v);
    EXPECT_EQ(got[2].data<float>()[i], w);
  }
}

TEST(SelectToBranch, TakeSafeOperandsWithThem) {
  // The same predicate makes the computation of lanes that select the other side safe.
  const auto f = [](Tensor x) {
    const Tensor p = x > 0.0f;
    return where(p, expensive(sqrt(where(p, x, 1.0f))), x);
  };
  const Function function = trace(f, f32({90}));
  const Lowered lowered(function);
  EXPECT_EQ(lowered.branches_left_out(), 1) << lowered;
  EXPECT_EQ(lowered.count(Opcode::kSqrt), 1) << lowered;
  EXPECT_EQ(lowered.count_inside(Opcode::kRepeat, Opcode::kSqrt), 1) << lowered;
  const Literal x = numbers_taken(90, 50);
  const Literal got = expect_agreement(function, {x})[0];
  for (std::size_t i = 0; i < 90; i++) {
    const float v = x.data<float>()[i];
    EXPECT_EQ(got.data<float>()[i], v > 0 ? expensive(std::sqrt(v)) : v);
  }
}

TEST(SelectToBranch, LeaveWhatOthersNeedWhereItIs) {
  // The quotients are also a result, and used in the predicate.
  const auto used = [](Tensor x) {
    const Tensor y = expensive(x);
    return std::pair(where(x > 0.0f, y, x), y + 1.0f);
  };
  const auto asked = [](Tensor x) {
    const Tensor y = expensive(x);
    return where(y > 0.0f, y, x);
  };
  EXPECT_FALSE(leaves_out(trace(used, f32({100}))));
  EXPECT_FALSE(leaves_out(trace(asked, f32({100}))));
  (void)expect_agreement(trace(used, f32({100})), {numbers_taken(100, 40)});
  (void)expect_agreement(trace(asked, f32({100})), {numbers_taken(100, 40)});
}

TEST(SelectToBranch, StandInLoopsAndInOneAnother) {
  // A branch of two nested vmaps becomes a select, and so does one inside it.
  const auto step = [](Tensor x) {
    return cond(
        x > 0.25f,
        [](Tensor v) { return expensive(where(v > 0.75f, expensive(v) - v, v)) * 0.25f; },
        [](Tensor v) { return v + 0.125f; }, x);
  };
  const auto f = [&](Tensor x) {
    return fori_loop(
        0, 6, [&](Tensor, Tensor y) { return step(y) - 0.5f; }, x);
  };
  const Function function = trace(vmap(vmap(f)), f32({7, 19}));
  EXPECT_TRUE(leaves_out(function));
  const Literal x = numbers_of({7, 19}, 60);
  const Literal got = expect_agreement(function, {x})[0];
  for (std::size_t i = 0; i < std::size_t{7} * 19; i++) {
    float y = x.data<float>()[i];
    for (int t = 0; t < 6; t++) {
      const float v = y > 0.75f ? expensive(y) - y : y;
      y = (y > 0.25f ? expensive(v) * 0.25f : y + 0.125f) - 0.5f;
    }
    EXPECT_EQ(got.data<float>()[i], y);
  }
}

TEST(BranchesByLane, HaveTheSameBitsOnTwoThreads) {
  const std::int64_t lanes = 1 << 15;
  const Function f = trace(vmap(expensive_above_zero), f32({lanes}));
  const Literal x = numbers_taken(lanes, 10);
  for (const Executor executor : kCompiledOnes) {
    const Executable run = compile(f, {.executor = executor});
    EXPECT_TRUE(run.run({x}, {.threads = 2})[0].identical(run.run({x})[0]));
  }
}

TEST(BranchesByLane, HaveTheGradientsOfTheReference) {
  const auto loss = [](Tensor x) { return expensive_above_zero(x) * x; };
  const Function each = trace(vmap(grad(loss)), f32({70}));
  const Function all = trace(grad([&](Tensor x) { return sum(vmap(loss)(x)); }), f32({70}));
  EXPECT_TRUE(leaves_out(each));
  for (const int takers : {0, 5, 100}) {
    const Literal x = numbers_taken(70, takers);
    const Literal got = expect_agreement(each, {x})[0], summed = expect_agreement(all, {x})[0];
    for (std::size_t i = 0; i < 70; i++)
      EXPECT_LE(testing::ulps(got.data<float>()[i], summed.data<float>()[i]), 16) << i;
  }
}

}  // namespace
}  // namespace rondo
