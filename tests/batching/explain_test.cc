// What explain_batching reports, what lanes report, and what vmap costs.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "support/expect.h"

namespace rondo {
namespace {

std::int64_t evaluations(const Function& function, const std::vector<Literal>& arguments) {
  RunStats stats;
  compile(function, {.executor = Executor::kReference}).run(arguments, {.stats = &stats});
  return stats.op_evaluations;
}

/// Op evaluations per additional trip.
template <class F>
std::int64_t per_trip(const F& run) {
  return (run(60) - run(20)) / 40;
}

Literal ramp(std::int64_t n, float step) {
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < n; i++) numbers.push_back(step * static_cast<float>(i + 1));
  return Literal::from<float>(numbers, {n});
}

TEST(BatchedCost, OfAScanTripIsThatOfOneLane) {
  const auto step = [](Tensor c, Tensor x) { return std::pair(sin(c) * x + c, c * x); };
  const auto run_one = [&](std::int64_t n) {
    const auto f = [&](Tensor c, Tensor xs) { return scan(step, c, xs); };
    return evaluations(trace(f, f32(), f32({n})), {Literal::scalar(1.f), ramp(n, 0.01f)});
  };
  const auto run_lanes = [&](std::int64_t n) {
    const auto f = vmap([&](Tensor c, Tensor xs) { return scan(step, c, xs); });
    return evaluations(trace(f, f32({5}), f32({5, n})), {ramp(5, 1), Literal::zeros(f32({5, n}))});
  };
  EXPECT_LE(per_trip(run_lanes), per_trip(run_one));
}

TEST(BatchedCost, OfAWhileTripIsItsBodyItsConditionAndASelectACarry) {
  // The limit is the number of trips.
  const auto one = [](Tensor limit) {
    return while_loop([&](Tensor x, Tensor) { return x < limit; },
                      [](Tensor x, Tensor y) { return std::tuple(x + 1, y * 0.5f + sin(x)); },
                      std::tuple(Tensor(0.f), Tensor(1.f)));
  };
  const auto run_one = [&](std::int64_t n) {
    return evaluations(trace(one, f32()), {Literal::scalar(static_cast<float>(n))});
  };
  const auto run_lanes = [&](std::int64_t n) {
    return evaluations(
        trace(vmap(one), f32({3})),
        {Literal::from<float>(std::vector<float>{1, static_cast<float>(n), 5}, {3})});
  };
  // Two selects, and any(active).
  EXPECT_LE(per_trip(run_lanes), per_trip(run_one) + 2 + 1);
  const auto run_unused = [&](std::int64_t n) {
    const auto f = vmap([&](Tensor limit) { return std::get<0>(one(limit)); });
    return evaluations(
        trace(f, f32({3})),
        {Literal::from<float>(std::vector<float>{1, static_cast<float>(n), 5}, {3})});
  };
  EXPECT_LT(per_trip(run_unused), per_trip(run_lanes));
}

TEST(Observers, ReportOncePerLaneWithItsNumber) {
  const auto f = vmap([](Tensor n) {
    return while_loop([](Tensor v) { return v > 0; }, [](Tensor v) { return tap(v, "v") - 1; }, n);
  });
  std::map<std::string, std::vector<int>> told;
  RunOptions options;
  options.on_tap = [&](std::string_view name, const Literal& value) {
    told[std::string(name)].push_back(value.item<int>());
  };
  compile(trace(f, s32({3}))).run({Literal::from<int>(std::vector<int>{2, 0, 3}, {3})}, options);
  EXPECT_EQ(told, (std::map<std::string, std::vector<int>>{{"v[0]", {2, 1}}, {"v[2]", {3, 2, 1}}}));
}

TEST(Observers, ReportTheNumbersOfNestedLanes) {
  const auto f = vmap(vmap([](Tensor x) {
    return cond(
        x > 0, [](Tensor v) { return tap(v, "t"); }, [](Tensor v) { return v; }, x);
  }));
  std::vector<std::string> told;
  RunOptions options;
  options.on_tap = [&](std::string_view name, const Literal& value) {
    told.push_back(std::string(name) + "=" + std::to_string(value.item<int>()));
  };
  compile(trace(f, s32({2, 2})))
      .run({Literal::from<int>(std::vector<int>{1, -2, 3, 4}, {2, 2})}, options);
  EXPECT_EQ(told, (std::vector<std::string>{"t[0, 0]=1", "t[1, 0]=3", "t[1, 1]=4"}));
}

TEST(Observers, PrintALinePerLaneWithItsNumber) {
  const auto f = vmap([](Tensor n) {
    return while_loop([](Tensor v) { return v > 0; },
                      [](Tensor v) { return print(v, "{{v}} = {:.1f}") - 1; }, n);
  });
  const Executable run = compile(trace(f, f32({3})));
  ::testing::internal::CaptureStdout();
  run.run({Literal::from<float>(std::vector<float>{1.5f, 0, 1}, {3})});
  std::fflush(stdout);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "[0] {v} = 1.5\n[2] {v} = 1.0\n[0] {v} = 0.5\n");
}

TEST(Observers, ReportProgressOfLanes) {
  std::vector<std::string> told;
  RunOptions options;
  options.on_progress = [&](const Progress& now) {
    told.push_back(std::string(now.loop) + " " + std::to_string(now.trip) + "/" +
                   std::to_string(*now.of));
  };
  const auto f = vmap([](Tensor i) { return progress(i, Tensor(9)); });
  compile(trace(f, s32({2}))).run({Literal::from<int>(std::vector<int>{3, 4}, {2})}, options);
  EXPECT_EQ(told, (std::vector<std::string>{"progress[0] 3/9", "progress[1] 4/9"}));
}

TEST(ExplainBatching, TellsWhichLoopsRunOverLanesAndWhy) {
  const auto g = [](Tensor x) {
    const auto [i, v] = while_loop([](Tensor, Tensor u) { return u < 10; },
                                   [](Tensor j, Tensor u) { return std::tuple(j + 1, u * 2 + 1); },
                                   std::tuple(Tensor(0), x));
    return cond(
        v > 12, [](Tensor u) { return u; }, [](Tensor u) { return -u; }, v);
  };
  const std::string text = explain_batching(g, constant({1.f, 2.f}));
  EXPECT_NE(text.find("vmap over 2 lanes"), std::string::npos) << text;
  EXPECT_NE(text.find("explain_test.cc"), std::string::npos) << text;
  EXPECT_NE(text.find("runs over lanes"), std::string::npos) << text;
  EXPECT_NE(text.find("its predicate differs by lane"), std::string::npos) << text;
}

TEST(ExplainBatching, TellsByLineWhichOpsAreBatched) {
  const int line = __LINE__ + 2;
  const auto f = [](Tensor x, Tensor w) {
    const Tensor same = exp(w) * 2;
    const Tensor other = sin(x) * same + x;
    return fori_loop(
        0, 3, [&](Tensor, Tensor s) { return s * same - 1; }, other);
  };
  const std::string text =
      explain_batching(vmap(f, {.in_axes = {0, std::nullopt}}), constant({1.f, 2.f}), 3.f);
  const auto told = [&](int at, const std::string& what) {
    const std::string want = "explain_test.cc:" + std::to_string(at) + ": " + what + "\n";
    EXPECT_NE(text.find(want), std::string::npos) << want << " is not in\n" << text;
  };
  told(line, "exp, multiply: the same in all lanes");
  told(line + 1, "sin, multiply, add: batched");
  told(line + 3, "multiply, subtract: batched");
  EXPECT_NE(text.find("fori_loop: counted as for one lane"), std::string::npos) << text;
}

}  // namespace
}  // namespace rondo
