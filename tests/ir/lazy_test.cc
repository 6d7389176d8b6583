// When lazy tensors are computed, what they keep, and what they release.
#include "ir/lazy.h"

#include <sstream>
#include <thread>
#include <vector>

#include "counted_op.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/function_data.h"
#include "rondo/rondo.h"

namespace rondo::testing {
namespace {

using ::testing::HasSubstr;

/// How often kernels of kCounted run in `f`.
template <class F>
int runs_in(const F& f) {
  const int before = evaluations;
  f();
  return evaluations - before;
}

std::int64_t compiled() { return executable_cache().misses; }

Tensor start() { return Tensor(Literal::from<float>({1, 2, 3}, {3})); }

TEST(Lazy, ALoopThatLooksAtOneOfTwoStatesComputesEachStepOnce) {
  Tensor x = start(), v = start();
  float px = 1, pv = 1;  // the first element, step by step
  const std::int64_t before = compiled();
  const int runs = runs_in([&] {
    for (int i = 0; i < 2000; i++) {
      x = counted(x + v * 0.125f);
      v = counted(v - x * 0.125f);
      px = px + pv * 0.125f;
      pv = pv - px * 0.125f;
      ASSERT_EQ(x.eval().data<float>()[0], px);
    }
  });
  EXPECT_EQ(runs, 2 * 2000 - 1) << "the last v is never needed";
  EXPECT_LE(compiled() - before, 3);
}

TEST(Lazy, PartsOfOneTensorComputeItOnce) {
  const Tensor a = counted(start() * 2.0f);
  EXPECT_EQ(runs_in([&] {
              EXPECT_EQ(a[0].item<float>(), 2);
              EXPECT_EQ(a[1].item<float>(), 4);
              EXPECT_EQ(sum(a).item<float>(), 12);
            }),
            1);
}

TEST(Lazy, WhatNobodyHoldsIsNotKept) {
  const Tensor sum_of = sum(counted(start()));
  const Tensor twice = sum_of * 2.0f;
  EXPECT_EQ(twice.item<float>(), 12);
  EXPECT_EQ(runs_in([&] { EXPECT_EQ(sum_of.item<float>(), 6); }), 0);
}

TEST(Lazy, ANodeThatWaitsHoldsWhatItNeeds) {
  Tensor inner = counted(start());
  const Tensor later = inner + 1.0f;
  const Tensor now = inner * 2.0f;
  inner = Tensor();
  EXPECT_EQ(runs_in([&] {
              EXPECT_EQ(now[2].item<float>(), 6);
              EXPECT_EQ(later[2].item<float>(), 4);
            }),
            1);
}

TEST(Lazy, AnObserverSpeaksOnce) {
  const Tensor seen = counted(start(), kWatched);
  EXPECT_EQ(runs_in([&] {
              EXPECT_EQ((seen + 1.0f)[0].item<float>(), 2);
              EXPECT_EQ((seen + 2.0f)[0].item<float>(), 3);
              seen.eval();
            }),
            1);
}

TEST(Lazy, SeveralValuesAreOneRun) {
  const Tensor product = counted(start() * start());
  const std::vector<Tensor> both{product + 1.0f, product * 2.0f, Tensor(5.0f), product + 1.0f};
  EXPECT_EQ(runs_in([&] {
              const std::vector<Literal> values = ir::evaluate(both, {});
              EXPECT_EQ(values[0].data<float>()[1], 5);
              EXPECT_EQ(values[1].data<float>()[1], 8);
              EXPECT_EQ(values[2].item<float>(), 5);
              EXPECT_EQ(values[3].data<float>()[2], 10);
            }),
            1);
}

TEST(Lazy, LazyArgumentsOfOneJittedCallShareWhatTheyHaveInCommon) {
  const auto add = jit([](Tensor a, Tensor b, Tensor c) { return a + b + c; });
  const auto call = [&] {
    const Tensor product = counted(start() * start());
    return add(product + 1.0f, product + 2.0f, product + 3.0f);
  };
  EXPECT_EQ(runs_in([&] { EXPECT_EQ(call()[0].item<float>(), 9); }), 1);
}

TEST(Lazy, AValueThatIsKeptIsNotWrittenOver) {
  const Tensor held = counted(start());
  Tensor x = held;
  for (int i = 0; i < 3; i++) x = x + 1.0f;
  EXPECT_EQ(x[0].item<float>(), 4);
  EXPECT_EQ(held[0].item<float>(), 1);
}

TEST(Lazy, ManyResultsOfOneNodeAreKeptTogether) {
  const auto split = [](Tensor x) {
    return cond(
        sum(x) > 0.0f, [](Tensor y) { return std::tuple(counted(y), y * 2.0f); },
        [](Tensor y) { return std::tuple(y, y); }, x);
  };
  const auto both = split(start());
  const Tensor &one = std::get<0>(both), &two = std::get<1>(both);
  EXPECT_EQ(runs_in([&] {
              EXPECT_EQ(two[0].item<float>(), 2);
              EXPECT_EQ(one[0].item<float>(), 1);
              EXPECT_EQ((one + two)[1].item<float>(), 6);
            }),
            1);
}

TEST(Lazy, WhatIsKeptUnaskedHasABound) {
  // 4 MiB each: of 64 MiB that may be kept unrequested, 16 fit. The newest are kept.
  constexpr std::int64_t kElements = std::int64_t{1} << 20;
  std::vector<Tensor> held;
  Tensor x = full(f32({kElements}), 1.0f);
  for (int i = 0; i < 24; i++) {
    x = counted(x + 1.0f);
    held.push_back(x);
  }
  const Tensor last = sum(x);
  x = Tensor();
  EXPECT_EQ(runs_in([&] { EXPECT_EQ(last.item<float>(), 25.0f * kElements); }), 24);
  EXPECT_EQ(runs_in([&] {
              for (std::size_t i = held.size() - 16; i < held.size(); i++) held[i].eval();
            }),
            0);
  EXPECT_EQ(runs_in([&] { EXPECT_EQ(held[7][0].item<float>(), 9); }), 8);
}

TEST(Lazy, AStateIsKeptHoweverLarge) {
  // 96 MiB: more than the bound, and as large as the inputs of the evaluation.
  Tensor x = full(f64({std::int64_t{12} << 20}), 1.0), v = x * 0.5;
  x.eval();
  v.eval();
  EXPECT_EQ(runs_in([&] {
              for (int i = 0; i < 3; i++) {
                x = counted(x + v);
                v = counted(v + 1.0);
                x.eval();
              }
            }),
            2 * 3 - 1);
}

TEST(Lazy, HistoryIsLetGoOf) {
  const auto life = std::make_shared<int>();
  Tensor x = start(), v = start();
  for (int i = 0; i < 100; i++) {
    x = counted(x + v, kCounted, life);
    v = counted(v * 0.5f + x, kCounted, life);
    x.eval();
    // One node is pending; the executables of the first steps hold a few.
    EXPECT_LE(life.use_count(), 12) << i;
  }
  v.eval();
  clear_executable_cache();
  EXPECT_EQ(life.use_count(), 1) << "an evaluated tensor holds its value only";
}

TEST(Lazy, LongHistoriesEndWithoutRecursion) {
  Tensor x = start();
  for (int i = 0; i < 300'000; i++) x = x + 1.0f;
  const Tensor held = x;
  x = Tensor();
  const auto [a, b] = std::pair(held * 2.0f, held * 3.0f);
  EXPECT_EQ(a.type(), f32({3}));
}

TEST(Lazy, WhatATraceGivesDoesNotDependOnWhatWasEvaluated) {
  const auto text = [](bool evaluated) {
    const Tensor n = Tensor(2) + 3, small = Tensor(1.5f) * 2.0f;
    if (evaluated) {
      n.eval();
      small.eval();
    }
    const Tensor lazy = fori_loop(
        0, n, [&](Tensor, Tensor s) { return s * small; }, Tensor(1.0f));
    const Function traced = trace(
        [&](Tensor x) {
          return fori_loop(
              0, n, [&](Tensor, Tensor s) { return s * small; }, x);
        },
        f32());
    EXPECT_EQ(lazy.item<float>(), 243);
    return traced.str();
  };
  EXPECT_EQ(text(false), text(true));
}

TEST(Lazy, CombinersTakeValuesWhetherEvaluatedOrNot) {
  const auto total = [](bool evaluated) {
    const Tensor scale = Tensor(1.0f) + 1.0f;
    if (evaluated) scale.eval();
    return reduce(start(), 0.0f, {0}, [&](Tensor a, Tensor b) { return a + b * scale; })
        .item<float>();
  };
  EXPECT_EQ(total(false), 12);
  EXPECT_EQ(total(true), 12);
}

TEST(Lazy, AProgramKeepsWhatItIsWhenItsTensorsAreEvaluated) {
  const Tensor product = counted(start() * start());
  const Tensor x = ir::make_parameter(f32({3}), "x", 0, nullptr, {});
  const Function function = Function::make("f", {x}, {x + product});
  const std::string text = function.str();
  product.eval();
  EXPECT_EQ(function.str(), text);
  function.verify();
  EXPECT_EQ(compile(function).run({Literal::from<float>({1, 1, 1}, {3})})[0].data<float>()[2], 10);
}

TEST(Lazy, TensorsMadeInATraceOfConstantsHaveValues) {
  float seen = 0;
  const Tensor outer = counted(start());
  trace(
      [&](Tensor x) {
        const Tensor inside = sum(outer) + sqrt(Tensor(4.0f));
        seen = inside.item<float>();
        return x + inside;
      },
      f32());
  EXPECT_EQ(seen, 8);
}

TEST(Lazy, AnEscapedTensorSaysWhatIsWrong) {
  Tensor leaked, computed;
  while_loop([](Tensor i) { return i < 3; },
             [&](Tensor i) {
               leaked = i;
               computed = i * 2;
               return i + 1;
             },
             Tensor(0), {.name = "solve"});
  std::ostringstream out, of_computed;
  out << leaked;
  of_computed << computed;
  EXPECT_THAT(out.str(), HasSubstr("s32[]"));
  EXPECT_THAT(out.str(), HasSubstr("escaped"));
  EXPECT_THAT(out.str(), HasSubstr("the body of while_loop 'solve'"));
  EXPECT_THAT(of_computed.str(), HasSubstr("escaped"));
}

TEST(Lazy, AnEagerScopeMayEndOnAnotherThread) {
  auto scope = std::make_unique<EagerScope>();
  std::thread other([&] {
    scope.reset();
    const EagerScope here;
    EXPECT_EQ(runs_in([] { counted(start()); }), 1) << "this thread's scopes count";
  });
  other.join();
  EXPECT_EQ(runs_in([] { counted(start()); }), 0);
  const EagerScope again;
  EXPECT_EQ(runs_in([] { counted(start()); }), 1);
}

TEST(Lazy, TheCacheOfExecutablesIsBoundedByBytes) {
  const CacheStats before = executable_cache();
  clear_executable_cache();
  EXPECT_EQ(executable_cache().executables, 0);
  const auto evaluate_chain = [](int ops) {
    Tensor x = start();
    for (int i = 0; i < ops; i++) x = sin(x);
    x.eval();
  };
  evaluate_chain(1000);
  const std::int64_t one = executable_cache().bytes;
  EXPECT_GT(one, 200'000);
  EXPECT_EQ(executable_cache().executables, 1);
  limit_executable_cache(10 * one);
  for (int i = 0; i < 40; i++) evaluate_chain(1000 + i);
  EXPECT_LE(executable_cache().bytes, 10 * one);
  EXPECT_GE(executable_cache().executables, 8);
  const std::int64_t misses = compiled();
  evaluate_chain(1039);
  EXPECT_EQ(compiled(), misses);
  evaluate_chain(1000);
  EXPECT_EQ(compiled(), misses + 1);
  clear_executable_cache();
  EXPECT_EQ(executable_cache().bytes, 0);
  limit_executable_cache(before.limit);
}

}  // namespace
}  // namespace rondo::testing
