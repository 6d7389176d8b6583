// Steps of an ordinary C++ loop that are evaluated by the plan of the first ones, and graphs that
// differ from the last one in one respect.
#include "run/lazy_plan.h"

#include <cstdint>
#include <thread>
#include <vector>

#include "counted_op.h"
#include "gtest/gtest.h"
#include "ir/structure.h"
#include "rondo/rondo.h"

namespace rondo::testing {
namespace {

/// How many structures of graphs `f` computes: evaluation by a plan computes none.
template <class F>
std::uint64_t structures_in(const F& f) {
  const std::uint64_t before = ir::structures_made();
  f();
  return ir::structures_made() - before;
}

TEST(LazyPlan, ALoopComputesTheStructureOfItsFirstStepsOnly) {
  Tensor x(1.0f), v(0.5f);
  float px = 1, pv = 0.5f;
  EXPECT_LE(structures_in([&] {
              for (int i = 0; i < 100; i++) {
                x = x + v * 0.125f;
                v = v - x * 0.125f;
                px = px + pv * 0.125f;
                pv = pv - px * 0.125f;
                ASSERT_EQ(x.item<float>(), px);
                ASSERT_EQ(v.item<float>(), pv);
              }
            }),
            4u);
}

TEST(LazyPlan, ALoopMayAskForTensorsOfAnyLines) {
  const Tensor x(1.0f);
  EXPECT_LE(structures_in([&] {
              for (int i = 0; i < 20; i++) {
                for (std::uint32_t program = 0; program < 8; program++) {
                  SourceLocation at = SourceLocation::current();
                  at.line = 16 * program;
                  Tensor y = x;
                  for (std::uint32_t op = 0; op < program; op++) y = y + 1.0f;
                  ASSERT_EQ((-Operand(y, at)).item<float>(), -1 - static_cast<float>(program));
                }
              }
            }),
            16u);
}

TEST(LazyPlan, ReductionsAndSeveralTensorsInOneStepAreDoneAgainAsWell) {
  Tensor x = constant(std::vector<float>{1, 2, 3, 4});
  const auto both = jit([](Tensor a, Tensor b) { return a + b; });
  std::vector<float> plain{1, 2, 3, 4};
  EXPECT_LE(structures_in([&] {
              for (int i = 0; i < 50; i++) {
                x = x * 0.5f + 1.0f;
                for (float& p : plain) p = p * 0.5f + 1.0f;
                const float least = plain[0], total = plain[0] + plain[1] + plain[2] + plain[3];
                ASSERT_EQ(both(min(x), sum(x)).item<float>(), least + total);
              }
            }),
            6u);
}

/// x + (x, or an equal tensor, or its half), always evaluated by the same line.
float twice(const Tensor& x, const Tensor& y) { return (x + y).item<float>(); }

TEST(LazyPlan, AGraphOfOtherAttributesOrTypesIsAnotherGraph) {
  for (int i = 0; i < 12; i++) {
    const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
    const Tensor x = constant(numbers);
    const std::int64_t begin = i % 3, size = 2 + i % 2;
    const Tensor part = slice(x, {begin}, {begin + size});
    float expected = 0;
    for (std::int64_t k = begin; k < begin + size; k++)
      expected += numbers[static_cast<std::size_t>(k)];
    ASSERT_EQ(sum(part).item<float>(), expected) << i;
  }
}

TEST(LazyPlan, WhetherANodeIsSharedOrTwoAreEqualIsSeen) {
  for (int i = 0; i < 8; i++) {
    const Tensor start(Literal::scalar(static_cast<float>(i)));
    const int before = evaluations;
    const Tensor a = counted(start), b = i % 2 ? counted(start) : a;
    const Tensor c = i % 4 < 2 ? counted(start) : b;
    ASSERT_EQ(twice(a + b, c), 3.0f * static_cast<float>(i));
    // Equal nodes of one program may be computed once.
    ASSERT_LE(evaluations - before, 3);
    ASSERT_GE(evaluations - before, 1);
    const int computed = evaluations;
    ASSERT_EQ(a.item<float>() + b.item<float>() + c.item<float>(), 3.0f * static_cast<float>(i));
    ASSERT_EQ(evaluations, computed) << "what is held is kept";
  }
}

TEST(LazyPlan, WhatIsHeldIsKeptThoughTheLastStepHeldOthers) {
  for (int i = 0; i < 12; i++) {
    const Tensor start(Literal::scalar(static_cast<float>(i)));
    Tensor a = counted(start), b = counted(a + 1.0f);
    const Tensor c = counted(b * 2.0f);
    Tensor held = i % 3 == 0 ? a : i % 3 == 1 ? b : Tensor(0.0f);
    a = Tensor();
    b = Tensor();
    ASSERT_EQ(c.item<float>(), 2.0f * (static_cast<float>(i) + 1));
    const int computed = evaluations;
    ASSERT_EQ(held.item<float>(), i % 3 == 0   ? static_cast<float>(i)
                                  : i % 3 == 1 ? static_cast<float>(i + 1)
                                               : 0);
    ASSERT_EQ(evaluations, computed);
  }
}

TEST(LazyPlan, StepsInAnotherOrderGiveTheSame) {
  for (int i = 0; i < 10; i++) {
    const float p = static_cast<float>(i);
    const Tensor start(Literal::scalar(p));
    Tensor a, b;
    if (i % 2) {
      a = start * 2.0f;
      b = start + 3.0f;
    } else {
      b = start + 3.0f;
      a = start * 2.0f;
    }
    ASSERT_EQ((a - b).item<float>(), p * 2 - (p + 3));
  }
}

TEST(LazyPlan, AnObserverIsCalledInEachStep) {
  const auto life = std::make_shared<int>(0);
  for (int i = 0; i < 5; i++) {
    const int before = evaluations;
    const Tensor seen = counted(Tensor(Literal::scalar(1.0f)), kWatched);
    ASSERT_EQ((seen + 1.0f).item<float>(), 2.0f);
    ASSERT_EQ(seen.item<float>(), 1.0f);
    ASSERT_EQ(evaluations - before, 1);
  }
}

TEST(LazyPlan, HistoryIsLetGoOfInEachStep) {
  const auto life = std::make_shared<int>(0);
  Tensor x(1.0f);
  for (int i = 0; i < 20; i++) {
    x = counted(counted(x, kCounted, life) + 1.0f, kCounted, life);
    ASSERT_EQ(x.item<float>(), static_cast<float>(i + 2));
    // The cached structure holds the attributes of the first nodes, once per program.
    ASSERT_LE(life.use_count(), 1 + 8);
  }
}

TEST(LazyPlan, LimitsOfAScopeHoldForStepsThatAreDoneAgain) {
  Tensor x(1.0f);
  const auto step = [&] {
    x = while_loop([](Tensor i) { return i < 10.0f; }, [](Tensor i) { return i + 1.0f; }, x * 0.0f);
    return x.item<float>();
  };
  for (int i = 0; i < 4; i++) ASSERT_EQ(step(), 10.0f);
  const RunScope scope({.max_iterations = 3});
  EXPECT_THROW(step(), ExecutionError);
}

TEST(LazyPlan, TheCacheForgetsPlansToo) {
  Tensor x(1.0f);
  const auto step = [&] {
    x = x * 0.5f;
    return x.item<float>();
  };
  float p = 1;
  for (int i = 0; i < 6; i++) {
    ASSERT_EQ(step(), p *= 0.5f);
    if (i == 3) clear_executable_cache();
  }
  const std::int64_t hits = executable_cache().hits;
  step();
  EXPECT_EQ(executable_cache().hits, hits + 1) << "a step that is done again is a hit";
}

TEST(LazyPlanThreads, EachThreadGoesOnWithGraphsThatOthersEvaluate) {
  constexpr int kThreads = 4, kSteps = 200;
  for (int round = 0; round < 10; round++) {
    std::vector<Tensor> shared;
    Tensor x(1.0f);
    for (int i = 0; i < kSteps; i++) shared.push_back(x = x * 0.5f + 1.0f);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; t++) {
      threads.emplace_back([&shared, t] {
        float p = 1;
        for (int i = 0; i < kSteps; i++) {
          p = p * 0.5f + 1.0f;
          if ((i + t) % 3 != 0) continue;
          EXPECT_EQ((shared[static_cast<std::size_t>(i)] + 1.0f).item<float>(), p + 1);
          EXPECT_EQ(shared[static_cast<std::size_t>(i)].item<float>(), p);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace rondo::testing
