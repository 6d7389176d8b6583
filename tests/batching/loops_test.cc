// Loops and branches under vmap, against the plain loop over lanes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "batching/lanes.h"
#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_like_loop;
using testing::expect_values;

TEST(BatchedWhile, StopsEachLaneAtItsOwnTime) {
  const auto f = vmap([](Tensor x) {
    return while_loop([](Tensor v) { return v < 3; }, [](Tensor v) { return v + 2; }, x);
  });
  expect_values<int>(f(constant({0, 1, 2, 3})), {4}, {4, 3, 4, 3});
}

TEST(BatchedWhile, TakesALimitOfEachLaneFromOutside) {
  const auto f = vmap([](Tensor limit) {
    return while_loop([&](Tensor v) { return v < limit; }, [](Tensor v) { return v + 2; },
                      Tensor(0));
  });
  expect_values<int>(f(constant({1, 3})), {2}, {2, 4});
}

TEST(BatchedWhile, TakesFromOutsideWhatIsKnownAndDiffersByLane) {
  const Tensor steps = constant({1, 2, 3}), limits = constant({5, 7});
  const auto upwards = [&](Tensor step) {
    return vmap([&](Tensor limit) {
      return while_loop([&](Tensor v) { return v < limit; }, [&](Tensor v) { return v + step; },
                        step);
    })(limits);
  };
  expect_values<int>(vmap(upwards)(steps), {3, 2}, {5, 7, 6, 8, 6, 9});
  const auto gradient = [&](Tensor x) {
    return vmap(grad([&](Tensor y) {
      return while_loop([&](Tensor v) { return v < 9.0; }, [&](Tensor v) { return v * x; }, y);
    }))(constant({1.0, 2.0}));
  };
  expect_values<double>(vmap(gradient)(constant({2.0, 3.0})), {2, 2}, {16, 8, 9, 9});
}

TEST(BatchedWhile, CountsCollatzTripsOfEachLane) {
  const auto f = jit(vmap([](Tensor n) {
    return std::get<1>(while_loop([](Tensor v, Tensor) { return v != 1; },
                                  [](Tensor v, Tensor count) {
                                    return std::tuple(where(v % 2 == 0, v / 2, 3 * v + 1),
                                                      count + 1);
                                  },
                                  std::tuple(n, Tensor(0))));
  }));
  std::vector<std::int64_t> starts;
  std::vector<int> trips;
  for (std::int64_t start = 1; start <= 1000; start++) {
    starts.push_back(start);
    int count = 0;
    for (std::int64_t n = start; n != 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) count++;
    trips.push_back(count);
  }
  expect_values<int>(f(constant(starts, {1000})), {1000}, trips);
}

// For a lane that is done the body computes infinity, then NaN; the lane keeps its bits.
TEST(BatchedWhile, FreezesLanesThatAreDone) {
  const auto f = [](std::span<const Tensor> x) -> std::vector<Tensor> {
    return {
        std::get<0>(while_loop([](Tensor v, Tensor) { return v > 0.5f; },
                               [](Tensor v, Tensor w) { return std::tuple(v - 1, log(v - 1) * w); },
                               std::tuple(x[0], x[0])))};
  };
  expect_like_loop(f, {Literal::from<float>(std::vector<float>{0.25f, 1.f, 3.f, 7.5f}, {4})}, {0});
}

TEST(BatchedWhile, KeepsACounterThatNoLaneOwns) {
  const auto f = [](Tensor x, Tensor rows) {
    return vmap(
        [](Tensor start, Tensor table) {
          return std::get<1>(
              while_loop([](Tensor i, Tensor v) { return (i < 8) & (v < 10); },
                         [&](Tensor i, Tensor v) { return std::tuple(i + 1, v + table[i]); },
                         std::tuple(Tensor(0), start)));
        },
        {.in_axes = {0, std::nullopt}})(x, rows);
  };
  const Function function = trace(f, f32({3}), f32({8}));
  // The counter stays a scalar: what is read is a slice, not a gather.
  const std::string text = to_hlo_text(function);
  EXPECT_EQ(text.find("gather("), std::string::npos) << text;
  expect_values<float>(
      compile(function).run(
          {Literal::from<float>(std::vector<float>{0, 9, 20}, {3}),
           Literal::from<float>(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, {8})})[0],
      {3}, {10, 10, 20});
}

// A lane that is done would go on to read past the table, to overflow, and to write past its end.
TEST(BatchedWhile, FreezesIndicesAndIntegersToo) {
  const auto f = [](std::span<const Tensor> x) -> std::vector<Tensor> {
    const auto [i, n, row] =
        while_loop([&](Tensor i, Tensor, Tensor) { return i < x[0]; },
                   [&](Tensor i, Tensor n, Tensor row) {
                     return std::tuple(i + 1, n * 1'000'003 + x[1][i], update(row, i * 2, n));
                   },
                   std::tuple(Tensor(0), Tensor(1), zeros(s32({6}))));
    return {i, n, row};
  };
  const Literal trips = Literal::from<int>(std::vector<int>{3, 0, 9, 1}, {4});
  const Literal table = Literal::from<int>(std::vector<int>{5, 7, 11}, {3});
  expect_like_loop(f, {trips, table}, {0, std::nullopt});
}

// Lane 1 is done after a trip, with a state from which the inner loop would make a million trips.
TEST(BatchedWhile, RunsNoInnerLoopForLanesThatAreDone) {
  const auto f = [](Tensor until) {
    return while_loop([&](Tensor v) { return v < until; },
                      [&](Tensor v) {
                        const Tensor steps = where(v == 5, 1'000'000, 2);
                        const Tensor added =
                            while_loop([&](Tensor i) { return i < steps; },
                                       [](Tensor i) { return i + 1; }, 0 * v, {.name = "inner"});
                        return v + where(until == 5, 5, added);
                      },
                      Tensor(0));
  };
  const Executable run = compile(trace(vmap(f), s32({2})));
  RunStats stats;
  const Literal ends =
      run.run({Literal::from<int>(std::vector<int>{8, 5}, {2})}, {.stats = &stats})[0];
  expect_values<int>(ends, {2}, {8, 5});
  for (const LoopStats& loop : stats.loops) {
    if (loop.name == "inner") {
      EXPECT_EQ(loop.trips, 4 * 2);
    }
  }
  EXPECT_EQ(stats.loops.size(), 2u);
}

TEST(BatchedWhile, SelectsInTextOnlyForCarriesThatNeedIt) {
  // The counter is the same in all lanes, the total differs, and the last value is unused.
  const auto f = [](Tensor limit) {
    const auto [i, total, last] =
        while_loop([&](Tensor, Tensor t, Tensor) { return t < limit; },
                   [](Tensor i, Tensor t, Tensor) { return std::tuple(i + 1, t + i, t); },
                   std::tuple(Tensor(1), Tensor(0), Tensor(0)));
    return total;
  };
  const auto count = [](const std::string& text, const std::string& what) {
    int times = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      times++;
    return times;
  };
  const std::string text = to_hlo_text(trace(vmap(f), s32({4})));
  EXPECT_EQ(count(text, " while("), 1) << text;
  EXPECT_EQ(count(text, " select("), 1) << text;
  const std::string one = to_hlo_text(trace(f, s32()));
  EXPECT_EQ(count(one, " select("), 0) << one;
}

TEST(BatchedWhile, NestsInBothOrders) {
  const auto steps = [](Tensor start, Tensor factor) {
    return std::get<1>(while_loop([](Tensor v, Tensor) { return v < 100; },
                                  [&](Tensor v, Tensor n) {
                                    const Tensor next =
                                        while_loop([](Tensor u) { return u % 4 != 0; },
                                                   [](Tensor u) { return u + 1; }, v * factor + 1);
                                    return std::tuple(next, n + 1);
                                  },
                                  std::tuple(start, Tensor(0))));
  };
  const std::vector<int> starts{1, 40, 200}, factors{1, 2, 5, 50};
  std::vector<int> want, turned;
  const auto plain = [](int v, int factor) {
    int n = 0;
    for (; v < 100; n++) {
      v = v * factor + 1;
      while (v % 4 != 0) v++;
    }
    return n;
  };
  for (const int start : starts) {
    for (const int factor : factors) want.push_back(plain(start, factor));
  }
  for (const int factor : factors) {
    for (const int start : starts) turned.push_back(plain(start, factor));
  }
  const auto by_factor = vmap(steps, {.in_axes = {std::nullopt, 0}});
  const auto by_start = vmap(steps, {.in_axes = {0, std::nullopt}});
  const Tensor a = constant(starts, {3}), b = constant(factors, {4});
  expect_values<int>(jit(vmap(by_factor, {.in_axes = {0, std::nullopt}}))(a, b), {3, 4}, want);
  expect_values<int>(jit(vmap(by_start, {.in_axes = {std::nullopt, 0}}))(a, b), {4, 3}, turned);
}

TEST(BatchedScan, StaysAScan) {
  const auto f = [](std::span<const Tensor> x) -> std::vector<Tensor> {
    const auto [carry, ys] =
        scan([&](Tensor c, Tensor v) { return std::pair(c + v * x[2], c * v); }, x[0], x[1]);
    return {carry, ys};
  };
  const Literal init = Literal::from<float>(std::vector<float>{1, 2, 3}, {3});
  const Literal xs =
      Literal::from<float>(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {3, 4});
  const Literal one = Literal::scalar(2.0f),
                four = Literal::from<float>(std::vector<float>{1, 2, 3, 4}, {4});
  expect_like_loop(f, {init, xs, one}, {0, 0, std::nullopt});
  expect_like_loop(f, {init, four, one}, {0, std::nullopt, std::nullopt});
  expect_like_loop(f, {one, xs, one}, {std::nullopt, 0, std::nullopt});
  expect_like_loop(f, {one, four, init}, {std::nullopt, std::nullopt, 0});
}

TEST(BatchedFori, TakesBoundsOfEachLane) {
  for (const bool reverse : {false, true}) {
    for (const std::int64_t step : {1, 3}) {
      const auto f = [=](std::span<const Tensor> x) -> std::vector<Tensor> {
        return {fori_loop(x[0], x[1], [](Tensor i, Tensor v) { return v * 3 + i; }, x[2],
                          {.step = step, .reverse = reverse})};
      };
      const Literal low = Literal::from<int>(std::vector<int>{0, 2, -3, 5}, {4});
      const Literal high = Literal::from<int>(std::vector<int>{7, 2, 4, 1}, {4});
      const Literal start = Literal::from<int>(std::vector<int>{1, 2, 3, 4}, {4});
      const Literal zero = Literal::scalar(0), six = Literal::scalar(6);
      expect_like_loop(f, {zero, six, start}, {std::nullopt, std::nullopt, 0});
      expect_like_loop(f, {zero, high, start}, {std::nullopt, 0, 0});
      expect_like_loop(f, {low, six, start}, {0, std::nullopt, 0});
      expect_like_loop(f, {low, high, zero}, {0, 0, std::nullopt});
    }
  }
}

TEST(BatchedBranch, TakesTheBranchOfEachLane) {
  const auto f = [](std::span<const Tensor> x) -> std::vector<Tensor> {
    return {cond(
                x[0] > 0, [](Tensor v, Tensor w) { return log(v) * w; },
                [](Tensor v, Tensor w) { return exp(v) + w; }, x[0], x[1]),
            switch_case(convert(x[0], DType::kS32),
                        std::tuple([](Tensor v) { return v; }, [](Tensor v) { return v * 2; },
                                   [](Tensor v) { return v * v; }),
                        x[1])};
  };
  const Literal x = Literal::from<float>(std::vector<float>{-1, 0.5f, 1, 2, 7}, {5});
  const Literal w = Literal::from<float>(std::vector<float>{1, 2, 3, 4, 5}, {5});
  const Literal one = Literal::scalar(1.5f);
  expect_like_loop(f, {x, w}, {0, 0});
  expect_like_loop(f, {x, one}, {0, std::nullopt});
  expect_like_loop(f, {one, w}, {std::nullopt, 0});
}

// The loop in a branch ends when the lanes that take it are done.
TEST(BatchedBranch, LoopsInABranchRunForLanesThatTakeIt) {
  const auto f = [](std::span<const Tensor> x) -> std::vector<Tensor> {
    return {cond(
        x[0] > 0,
        [](Tensor v) {
          return while_loop([](Tensor u) { return u != 0; }, [](Tensor u) { return u - 1; }, v);
        },
        [](Tensor v) { return v; }, x[0])};
  };
  expect_like_loop(f, {Literal::from<float>(std::vector<float>{-0.5f, 3, 1, -2.25f}, {4})}, {0});
}

}  // namespace
}  // namespace rondo
