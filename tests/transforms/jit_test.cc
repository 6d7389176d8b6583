// One program for each structure of arguments; options of a call; programs on a function's own
// trees; the lines that errors name.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "errors/message.h"
#include "rondo/rondo.h"
#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_parts;
using testing::message_of;
using Rows = std::vector<std::vector<Tensor>>;
using Named = std::map<std::string, Tensor>;

struct Here {
  Tensor a, b;
};
struct There {
  Tensor a, b;
};
template <class T>
struct State {
  T x, v;
};
struct Numbers {
  float x = 0, v = 0;
};
struct Values {
  Literal x, v;
};
struct Moving {
  Tensor x, v;
};

int length_of(const Rows& rows) { return static_cast<int>(rows.size()); }

TEST(Jit, TellsEmptyContainersApart) {
  const auto g = jit([](Rows rows) { return Tensor(length_of(rows)); });
  EXPECT_EQ(g(Rows{{5}}).item<int>(), 1);
  EXPECT_EQ(g(Rows{{5}, {}}).item<int>(), 2);
  EXPECT_EQ(g(Rows{{}, {5}}).item<int>(), 2);
  EXPECT_EQ(g(Rows{{5}}).item<int>(), 1);
  EXPECT_EQ(g(Rows{}).item<int>(), 0);
}

TEST(Jit, TellsTheArgumentsOfLeavesApart) {
  const auto g = jit([](Named first, Named second) {
    return Tensor(static_cast<int>(10 * first.size() + second.size()));
  });
  const Named ab{{"a", 1}, {"b", 2}}, a{{"a", 1}}, bc{{"b", 2}, {"c", 3}}, c{{"c", 3}};
  EXPECT_EQ(g(ab, c).item<int>(), 21);
  EXPECT_EQ(g(a, bc).item<int>(), 12);
}

TEST(Jit, TellsTypesOfTheSameFieldsApart) {
  const auto g = jit([]<class T>(T s) {
    if constexpr (std::is_same_v<T, Here>)
      return s.a + s.b;
    else
      return s.a - s.b;
  });
  EXPECT_EQ(g(Here{5, 3}).item<int>(), 8);
  EXPECT_EQ(g(There{5, 3}).item<int>(), 2);
}

TEST(Jit, TellsAPairFromAVectorOfTwo) {
  const auto g = jit([](auto both) { return both; });
  const std::pair<Tensor, Tensor> pair = g(std::pair<Tensor, Tensor>(1, 2));
  const std::vector<Tensor> vector = g(std::vector<Tensor>{3, 4});
  ASSERT_EQ(vector.size(), 2u);
  EXPECT_EQ(pair.second.item<int>(), 2);
  EXPECT_EQ(vector[1].item<int>(), 4);
}

TEST(Jit, TellsATupleFromItsElements) {
  const auto g = jit([](auto... all) { return Tensor(static_cast<int>(sizeof...(all))); });
  EXPECT_EQ(g(std::tuple<Tensor, Tensor>(1, 2)).template item<int>(), 1);
  EXPECT_EQ(g(1, 2).template item<int>(), 2);
}

TEST(Jit, TracesOnceForOneStructure) {
  int traces = 0;
  const auto count_traces = [&traces](Rows rows) {
    traces++;
    return rows[0][0];
  };
  const auto g = jit(count_traces, {.check_captures = false});
  for (int i = 0; i < 3; i++) EXPECT_EQ(g(Rows{{i}, {}}).item<int>(), i);
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(g(std::vector<std::vector<int>>{{7}, {}}).item<int>(), 7);  // leaves may be numbers
  EXPECT_EQ(traces, 1);
}

TEST(Jit, RefusesACallOfOneThatWasMovedFrom) {
  auto g = jit([](Tensor x) { return x + 1; });
  const auto moved = std::move(g);
  EXPECT_EQ(moved(1).item<int>(), 2);
  EXPECT_REFUSED(g(1), "moved from", "Copy it");  // NOLINT(bugprone-use-after-move): the point
}

TEST(Jit, TakesEveryTreeOfWhatConvertsToATensor) {
  const auto move = jit([](Moving m) { return Moving{m.x + m.v, m.v}; });
  EXPECT_EQ(move(Moving{1.0f, 2.0f}).x.item<float>(), 3);
  EXPECT_EQ(move(Numbers{3, 4}).x.item<float>(), 7);
  EXPECT_EQ(move(Values{Literal::scalar(5.0f), Literal::scalar(6.0f)}).x.item<float>(), 11);
  const auto sum = jit([](std::vector<Moving> all, std::tuple<Moving, Tensor> last) {
    return all[0].x + all[1].v + std::get<0>(last).x + std::get<1>(last);
  });
  EXPECT_EQ(
      sum(std::vector<Numbers>{{1, 2}, {3, 4}}, std::tuple(Numbers{10, 0}, 100.0f)).item<float>(),
      115);
  // A template on the type of its leaves does not need an explicit parameter type.
  const auto scaled = jit([](const auto& s, Tensor k) { return State<Tensor>{s.x * k, s.v}; });
  EXPECT_EQ(scaled(State<float>{2, 3}, 5.0f).x.item<float>(), 10);
  EXPECT_EQ(
      scaled(State<Literal>{Literal::scalar(3.0f), Literal::scalar(0.0f)}, 5.0f).x.item<float>(),
      15);
  EXPECT_EQ(grad([](Moving m) { return m.x * m.v; })(Numbers{3, 4}).x.item<float>(), 4);
  EXPECT_EQ(trace([](Moving m) { return m.x; }, Numbers{3, 4}).params().size(), 2u);
}

const auto kCountTo = [](Tensor n) {
  return while_loop([n](Tensor i) { return i < n; }, [](Tensor i) { return i + 1; }, 0,
                    {.name = "count"});
};

TEST(Jit, RunsUnderTheOptionsOfACall) {
  const auto g = jit(kCountTo);
  EXPECT_EQ(g(10).item<int>(), 10);
  expect_parts(message_of<ExecutionError>([&] { g.with({.max_iterations = 3})(10); }),
               {"max_iterations = 3", "'count'"});
  RunStats stats;
  EXPECT_EQ(g.with({.stats = &stats})(10).item<int>(), 10);
  ASSERT_EQ(stats.loops.size(), 1u);
  EXPECT_EQ(stats.loops[0].trips, 10);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(g.with({.stop_token = stop.get_token()})(1 << 30), ExecutionError);
  EXPECT_THROW(g.with({.deadline = std::chrono::milliseconds(20)})(1 << 30), ExecutionError);
  // Nested options: those that are not set keep their values.
  EXPECT_THROW(g.with({.max_iterations = 3}).with({.stats = &stats})(10), ExecutionError);
  EXPECT_EQ(g.with({.max_iterations = 3}).with({.max_iterations = 30})(10).item<int>(), 10);
  EXPECT_EQ(g(10).item<int>(), 10);
}

TEST(Jit, HasOptionsOfItsOwn) {
  std::vector<std::string> taps;
  const auto tapped = [](Tensor x) { return tap(x * 2, "twice"); };
  JitOptions options;
  options.run.on_tap = [&](std::string_view name, const Literal& value) {
    taps.push_back(std::string(name) + " " + value.str());
  };
  const auto g = jit(tapped, options);
  EXPECT_EQ(g(4).item<int>(), 8);
  EXPECT_EQ(taps, std::vector<std::string>{"twice s32[] 8"});
  RunStats plain, passed;
  const auto twice = [](Tensor x) { return x * 3 + x * 3; };
  CompileOptions counted{.executor = Executor::kReference};
  (void)jit(twice, {.run = {.stats = &passed}, .compile = counted})(1.0f);
  counted.optimize = false;
  (void)jit(twice, {.run = {.stats = &plain}, .compile = counted})(1.0f);
  EXPECT_EQ(plain.op_evaluations, 3);  // two products and their sum: x * 3 was not merged
  EXPECT_LT(passed.op_evaluations, 3);
}

TEST(Jit, RefusesCapturesThatHaveChangedIfAskedTo) {
  Tensor weight = constant(std::vector<float>(20, 2.0f));
  const auto weigh = [&weight](Tensor x) { return sum(x * weight); };
  const auto frozen = jit(weigh, {.check_captures = false});
  const auto checked = jit(weigh, {.check_captures = true});
  EXPECT_EQ(frozen(1.0f).item<float>(), 40);
  EXPECT_EQ(checked(1.0f).item<float>(), 40);
  EXPECT_EQ(checked(2.0f).item<float>(), 80);
  weight = weight * 2;
  EXPECT_EQ(frozen(1.0f).item<float>(), 40);
  EXPECT_REFUSED(checked(1.0f), "another program than when it was traced first", "f32[20]",
                 "Pass what changes as an argument");
}

TEST(RunScope, HoldsForAllEvaluationOnTheThread) {
  const auto g = jit(kCountTo);
  {
    RunScope scope({.max_iterations = 3});
    EXPECT_THROW(g(10), ExecutionError);
    EXPECT_THROW(kCountTo(10).eval(), ExecutionError);
    EXPECT_THROW(compile(trace(kCountTo, s32())).run({Literal::scalar(10)}), ExecutionError);
    EXPECT_EQ(g.with({.max_iterations = 30})(10).item<int>(), 10);  // a call's options come first
    {
      RunScope wider({.max_iterations = 20});
      EXPECT_EQ(g(10).item<int>(), 10);
    }
    EXPECT_THROW(g(10), ExecutionError);
    std::thread([&] { EXPECT_EQ(g(10).item<int>(), 10); }).join();
  }
  EXPECT_EQ(g(10).item<int>(), 10);
}

TEST(RunScope, MayEndOnAnotherThread) {
  auto scope = std::make_unique<RunScope>(RunOptions{.max_iterations = 3});
  std::thread([&] { scope.reset(); }).join();
  EXPECT_EQ(kCountTo(10).item<int>(), 10);
  RunScope later({.max_iterations = 5});
  EXPECT_THROW(kCountTo(11).eval(), ExecutionError);
}

TEST(CompileAs, TakesAndReturnsTheFunctionsOwnTrees) {
  const auto step = [](Moving m, Tensor dt) { return Moving{m.x + m.v * dt, m.v}; };
  const auto run = compile_as(step, Numbers{0, 0}, f32());
  const Moving moved = run(Moving{1.0f, 2.0f}, 0.5f);
  EXPECT_EQ(moved.x.item<float>(), 2);
  EXPECT_EQ(run(Numbers{1, 4}, Literal::scalar(0.5f)).x.item<float>(), 3);
  EXPECT_EQ(run(Numbers{1, 4}, 2).x.item<float>(), 9);  // a C++ number takes the parameter's dtype
  const auto twice = compile_as([](Tensor x) { return std::tuple(x * 2, x); }, f32({2}));
  const std::tuple<Literal, Literal> both = twice(Literal::from<float>({1, 2}, {2}));
  EXPECT_EQ(std::get<0>(both).data<float>()[1], 4);
  const auto templated = compile_as(
      [](State<Tensor> s) {
        return State<Tensor>{s.v, s.x};
      },
      State<float>{});
  const State<Literal> swapped = templated(State<float>{1, 2});
  EXPECT_EQ(swapped.x.item<float>(), 2);
}

TEST(CompileAs, RefusesOtherTreesAndTypes) {
  const auto count = compile_as([](Rows rows) { return Tensor(length_of(rows)); }, Rows{{1}, {}});
  EXPECT_EQ(count(Rows{{4}, {}}).item<int>(), 2);
  expect_parts(message_of<ExecutionError>([&] { count(Rows{{4}}); }),
               {"another structure than the specs", "lost: arg[0][1] (empty)"});
  const auto add = compile_as([](Tensor x) { return x + 1; }, f32({2}));
  expect_parts(message_of<ExecutionError>([&] {
                 add(constant({1.0f, 2.0f, 3.0f}));
               }),
               {"'arg0'", "f32[3]", "f32[2]"});
  EXPECT_THROW(compile_as(kCountTo, s32()).with({.max_iterations = 3})(10), ExecutionError);
}

TEST(CallErrors, NameTheLineOfTheCall) {
  const auto id = [](Tensor x) { return x; };
  const auto g = jit(id);
  EXPECT_REFUSED(g(Tensor()), "empty");
  EXPECT_REFUSED(trace([](Tensor) { return Tensor(); }, f32()), "empty");
  EXPECT_REFUSED(grad([](Tensor x) { return x; })(constant({1.0f, 2.0f})), "scalar");
  EXPECT_REFUSED(vjp([](Tensor x) { return x; }, Tensor()), "empty");
  const auto gradient = grad(id);
  EXPECT_REFUSED(gradient(constant({1.0f, 2.0f})), "scalar");
  const auto jacobian = jacfwd(id);
  EXPECT_REFUSED(jacobian(arange(3)), "jacfwd");
}

TEST(Structure, ComparesAndHashes) {
  const auto of = [](const auto& tree) { return TreeStructure::of(tree); };
  EXPECT_EQ(of(Rows{{1}, {}}), of(Rows{{2}, {}}));
  EXPECT_EQ(of(Rows{{1}, {}}).hash(), of(Rows{{2}, {}}).hash());
  EXPECT_NE(of(Rows{{1}, {}}), of(Rows{{1}}));
  EXPECT_NE(of(Rows{{1}, {}}), of(Rows{{}, {1}}));
  EXPECT_NE(of(Rows{{1}, {}}).hash(), of(Rows{{}, {1}}).hash());
  EXPECT_NE(of(Here{}), of(There{}));
  EXPECT_NE(of(Named{{"a", 1}}), of(Named{{"b", 1}}));
  EXPECT_EQ(of(std::tuple(1, 2.0f)), of(std::tuple<Tensor, Tensor>()));  // leaves do not count
  EXPECT_EQ(of(State<float>{}), of(State<Tensor>{}));
  EXPECT_NE(of(State<float>{}), of(Numbers{}));
  EXPECT_NE(of(std::vector<std::tuple<>>(2)), of(std::vector<std::tuple<>>(3)));
  EXPECT_EQ(of(Rows{{1}, {}}).leaf_paths("r"), std::vector<std::string>{"r[0][0]"});
  EXPECT_EQ(of(Rows{{1}, {}}).empty_paths("r"), std::vector<std::string>{"r[1]"});
}

TEST(Structure, OfBranchesCarriesTangentsAndCotangents) {
  const Tensor p = Tensor(1) > 0;
  EXPECT_REFUSED(cond(
                     p,
                     [] {
                       return Rows{{1}, {}};
                     },
                     [] { return Rows{{2}}; }),
                 "the true branch", "lost: result[1] (empty)");
  EXPECT_REFUSED(while_loop([](Rows r) { return r[0][0] < 3; },
                            [](Rows r) { return Rows{{r[0][0] + 1}}; }, Rows{{0}, {}}),
                 "changes the carry", "lost: carry[1] (empty)");
  const auto first = [](Rows rows) { return rows[0][0] * 2; };
  EXPECT_REFUSED(jvp(first, std::tuple(Rows{{1.0f}, {}}), std::tuple(Rows{{1.0f}})), "tangents",
                 "lost: tangent[0][1] (empty)");
  const auto [out, pull] = vjp([](Rows rows) { return rows; }, Rows{{1.0f}, {}});
  const auto& pullback = pull;  // a structured binding cannot be captured
  EXPECT_REFUSED(pullback(Rows{{1.0f}}), "cotangent", "lost: cotangent[1] (empty)");
}

// ---- calls after the first ----

JitOptions compiled() {
  return {.compile = {.contract = false, .executor = Executor::kCompiled}, .check_captures = false};
}

TEST(JitAgain, TakesEachKindOfArgument) {
  const auto f =
      jit([](std::pair<Tensor, Tensor> p, Tensor c) { return p.first * p.second + c; }, compiled());
  const Tensor lazy = Tensor(2.f) + 1.f;
  for (int i = 0; i < 3; i++) {
    const float x = static_cast<float>(i);
    EXPECT_EQ(f(std::pair(x, 3.f), 1.f).item<float>(), x * 3 + 1);
    EXPECT_EQ(f(std::pair(Literal::scalar(x), 3.f), Tensor(1.f)).item<float>(), x * 3 + 1);
    EXPECT_EQ(f(std::pair(lazy, lazy), x).item<float>(), 9 + x);
    // Another program of the same function between them.
    const Tensor v = f(std::pair(constant({1.f, 2.f}), x), 1.f);
    EXPECT_EQ(v.eval().data<float>()[1], 2 * x + 1);
    EXPECT_EQ(f(std::pair(static_cast<double>(i), 3.), 1.).item<double>(), x * 3 + 1);
  }
}

TEST(JitAgain, GivesTreesAndArrays) {
  struct Moments {
    Tensor mean;
    std::array<Tensor, 2> others;
  };
  const auto f = jit(
      [](Tensor x) {
        const Tensor m = sum(x) / 1000.f;
        return Moments{m, {x - m, sum(x * x)}};
      },
      compiled());
  std::vector<float> x(1000);
  for (int again = 0; again < 3; again++) {
    double total = 0;
    for (std::size_t i = 0; i < x.size(); i++)
      total += x[i] = static_cast<float>(i % 7) + static_cast<float>(again);
    const Moments got = f(constant(x, {1000}));
    const float mean = static_cast<float>(total) / 1000.f;
    EXPECT_EQ(got.mean.item<float>(), mean);
    EXPECT_EQ(got.others[0].eval().data<float>()[999], x[999] - mean);
  }
}

TEST(JitAgain, CountsAsAUseAndForgetsWhatIsCleared) {
  int traces = 0;
  const auto f = jit(
      [&traces](Tensor x) {
        traces++;
        return x * 2;
      },
      compiled());
  EXPECT_EQ(f(1.f).item<float>(), 2.f);
  const CacheStats before = executable_cache();
  for (int i = 0; i < 10; i++) EXPECT_EQ(f(3.f).item<float>(), 6.f);
  EXPECT_EQ(executable_cache().hits, before.hits + 10);
  EXPECT_EQ(executable_cache().misses, before.misses);
  clear_executable_cache();
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(f(4.f).item<float>(), 8.f);
  EXPECT_EQ(traces, 2);
}

TEST(JitAgain, StaysInTheCacheWhileItIsUsed) {
  const CacheStats start = executable_cache();
  clear_executable_cache();
  int traces = 0;
  const auto used = jit(
      [&traces](Tensor x) {
        traces++;
        return x * 2;
      },
      compiled());
  EXPECT_EQ(used(1.f).item<float>(), 2.f);
  limit_executable_cache(4 * executable_cache().bytes);
  const auto other = jit([](Tensor x) { return x + 1; }, compiled());
  for (std::int64_t n = 1; n < 40; n++) {
    EXPECT_EQ(used(1.f).item<float>(), 2.f);
    EXPECT_EQ(other(zeros(f32({n}))).eval().data<float>()[0], 1.f);
  }
  EXPECT_EQ(traces, 1);
  EXPECT_LT(executable_cache().executables, 20);
  limit_executable_cache(start.limit);
}

TEST(JitAgain, RunsUnderTheOptionsInForce) {
  const auto f = jit(
      [](Tensor x) {
        return while_loop([](Tensor y) { return y < 100; }, [](Tensor y) { return y + 1; },
                          tap(x, "x"));
      },
      compiled());
  EXPECT_EQ(f(0.f).item<float>(), 100.f);
  std::vector<float> seen;
  {
    RunScope scope({.max_iterations = 10, .on_tap = [&](std::string_view, const Literal& value) {
                      seen.push_back(value.item<float>());
                    }});
    EXPECT_EQ(f(95.f).item<float>(), 100.f);
    EXPECT_THROW(static_cast<void>(f(1.f)), TooManyIterations);
  }
  EXPECT_EQ(seen, (std::vector<float>{95.f, 1.f}));
  EXPECT_THROW(static_cast<void>(f.with({.max_iterations = 10})(1.f)), TooManyIterations);
  EXPECT_EQ(f(1.f).item<float>(), 100.f);
  // In a trace it is like a call of the function.
  const Function outer = trace([&](Tensor x) { return x + f(2.f); }, f32());
  EXPECT_EQ(compile(outer).run({Literal::scalar(1.f)})[0].item<float>(), 101.f);
}

TEST(JitAgain, RunsOnManyThreadsAtOnce) {
  const auto f = jit([](Tensor a, Tensor b) { return a * b + 1; }, compiled());
  std::vector<std::thread> threads;
  std::vector<int> right(16, 0);
  for (std::size_t t = 0; t < right.size(); t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; i++) {
        const float x = static_cast<float>(t * 1000) + static_cast<float>(i);
        right[t] += f(x, 2.f).item<float>() == x * 2 + 1;
        if (i % 50 == 49 && t == 0) clear_executable_cache();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : right) EXPECT_EQ(count, 200);
}

TEST(Jit, AProgramStaysWhileWhatItCallsEmptiesTheCache) {
  int calls = 0;
  const auto empty_cache = [&](std::string_view, const Literal&) {
    calls++;
    clear_executable_cache();
  };
  const auto f =
      jit([](Tensor x) { return tap(x * 2, "x") + 1; },
          {.run = {.on_tap = empty_cache}, .compile = {.executor = Executor::kCompiled}});
  for (int i = 0; i < 4; i++) EXPECT_EQ(f(1.5f).item<float>(), 4);
  EXPECT_EQ(calls, 4);
}

}  // namespace
}  // namespace rondo
