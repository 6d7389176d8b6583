// Loops on the compiled executor.
#include <chrono>
#include <string>

#include "executor/agreement.h"
#include "gradients/thermal.h"

namespace rondo::testing {
namespace {

TEST(Loops, AWhileOfScalars) {
  const Function f = trace(
      [](Tensor n, Tensor x) {
        auto [i, y] =
            while_loop([&](Tensor i, Tensor) { return i < n; },
                       [](Tensor i, Tensor y) { return std::tuple(i + 1, y * 0.999f + 0.01f); },
                       std::tuple(Tensor(0), x));
        return y;
      },
      s32(), f32());
  for (const int n : {0, 1, 7, 1000}) {
    float y = 0.5f;
    for (int i = 0; i < n; i++) {
      y = y * 0.999f;
      y = y + 0.01f;
    }
    const auto got = expect_agreement(f, {Literal::scalar(n), Literal::scalar(0.5f)});
    EXPECT_EQ(got[0].item<float>(), y) << n;
  }
}

TEST(Loops, TheThermalLoopAndItsGradient) {
  const auto forward = [](Tensor slab, Tensor quanta, Tensor tank, Tensor n) {
    return thermal({slab, quanta, tank}, n, {.max_trip_count = 64});
  };
  const auto loss = [&](Tensor slab, Tensor quanta, Tensor tank) {
    return thermal_loss(fori_loop(
        0, 20, [](Tensor, House h) { return thermal_step(h); }, House{slab, quanta, tank}));
  };
  const std::vector<Literal> start{Literal::scalar(33.3f), Literal::scalar(33.3f),
                                   Literal::scalar(70.f)};
  std::vector<Literal> with_trips = start;
  for (const int n : {0, 1, 20}) {
    with_trips.resize(3);
    with_trips.push_back(Literal::scalar(n));
    expect_agreement(trace(forward, f32(), f32(), f32(), s32()), with_trips);
  }
  expect_agreement(trace(grad<0, 1, 2>(loss), f32(), f32(), f32()), start);
}

TEST(Loops, CarriesThatAreSwapped) {
  const Function f = trace(
      [](Tensor n, Tensor a, Tensor b, Tensor x, Tensor y) {
        return while_loop([&](Tensor i, Tensor, Tensor, Tensor, Tensor) { return i < n; },
                          [](Tensor i, Tensor a, Tensor b, Tensor x, Tensor y) {
                            return std::tuple(i + 1, b, a, y, x);
                          },
                          std::tuple(Tensor(0), a, b, x, y));
      },
      s32(), f32(), f32(), f32({5}), f32({5}));
  const Literal x = Literal::from<float>({1, 2, 3, 4, 5}, {5}),
                y = Literal::from<float>({-1, -2, -3, -4, -5}, {5});
  for (const int n : {0, 1, 2, 3}) {
    const auto got =
        expect_agreement(f, {Literal::scalar(n), Literal::scalar(1.f), Literal::scalar(2.f), x, y});
    EXPECT_EQ(got[1].item<float>(), n % 2 ? 2.f : 1.f);
    EXPECT_TRUE(got[3].identical(n % 2 ? y : x));
  }
}

TEST(Loops, OneValueAsTheNextOfTwoCarries) {
  const Function f = trace(
      [](Tensor n, Tensor x, Tensor y) {
        return while_loop([&](Tensor i, Tensor, Tensor) { return i < n; },
                          [](Tensor i, Tensor x, Tensor y) {
                            const Tensor next = x * 2 + y;
                            return std::tuple(i + 1, next, next);
                          },
                          std::tuple(Tensor(0), x, y));
      },
      s32(), f32({3}), f32({3}));
  for (const int n : {0, 1, 2, 5}) {
    float x = 1, y = 10;
    for (int i = 0; i < n; i++) x = y = x * 2 + y;
    const auto got = expect_agreement(f, {Literal::scalar(n), Literal::from<float>({1, 1, 1}, {3}),
                                          Literal::from<float>({10, 10, 10}, {3})});
    EXPECT_EQ(got[1].data<float>()[1], x);
    EXPECT_EQ(got[2].data<float>()[2], y);
  }
}

TEST(Loops, RowsReadAndWrittenInPlace) {
  // Each trip writes a row that depends on the row before, and reads the one that it overwrites.
  const Function f = trace(
      [](Tensor table) {
        return fori_loop(
            1, 6,
            [](Tensor i, Tensor t) {
              const Tensor before = t[i - 1], here = t[i];
              return update(t, i, before * 0.5f + here);
            },
            table);
      },
      f32({6, 3}));
  std::vector<float> table(18);
  for (std::size_t i = 0; i < table.size(); i++) table[i] = static_cast<float>(i * i);
  std::vector<float> want = table;
  for (std::size_t i = 1; i < 6; i++) {
    for (std::size_t j = 0; j < 3; j++) want[i * 3 + j] += want[(i - 1) * 3 + j] * 0.5f;
  }
  const auto got = expect_agreement(f, {Literal::from(table, {6, 3})});
  EXPECT_TRUE(got[0].identical(Literal::from(want, {6, 3})));
}

TEST(Loops, AnArgumentIsNotWrittenOver) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(
            0, 3, [](Tensor i, Tensor y) { return update(y, i, y[i] + 1); }, x);
      },
      f32({4}));
  const Literal x = Literal::from<float>({1, 2, 3, 4}, {4});
  expect_agreement(f, {x});
  EXPECT_EQ(x.data<float>()[0], 1.f);
}

TEST(Loops, ALoopThatCarriesOnWhatTheLoopAroundItCarries) {
  // The inner loop reuses the outer one's array; the value after it needs separate memory.
  const Function f = trace(
      [](Tensor x, Tensor w) {
        return fori_loop(
            0, 4,
            [&](Tensor, Tensor y) {
              const Tensor inner = fori_loop(
                  0, 3, [&](Tensor, Tensor z) { return z * w + 1; }, y);
              const Tensor row = cumsum(inner, 0), a = sort(row * -1), b = sort(row * 2);
              return reverse(a, {0}) + reverse(b, {0}) * row * 0.01;
            },
            x);
      },
      f64({200}), f64({200}));
  std::vector<double> x, w;
  for (int i = 0; i < 200; i++) {
    x.push_back((i * 37 % 101) * 0.25 - 1);
    w.push_back(0.5 - (i * 29 % 61) * 0.0078125);
  }
  expect_agreement(f, {Literal::from(x), Literal::from(w)});
}

TEST(Loops, ALoopInABranchThatWritesItsResult) {
  const Function f = trace(
      [](Tensor p, Tensor x) {
        const auto filled = [](Tensor x) {
          return fori_loop(
              0, 5, [](Tensor i, Tensor t) { return update(t, i, t[i] * 2); }, x);
        };
        const Tensor y = cond(
            p, filled, [](Tensor x) { return x - 1; }, x);
        const Tensor a = sort(x * -1), b = sort(x * 2);
        return y + a * b;
      },
      pred(), f64({5}));
  for (const bool p : {true, false})
    expect_agreement(f, {Literal::scalar(p), Literal::from<double>({1, 2, 3, 4, 5}, {5})});
}

TEST(Loops, BranchesInLoops) {
  const Function f = trace(
      [](Tensor n, Tensor x) {
        const auto body = [](Tensor i, Tensor y) {
          const auto more = [&] { return y + 1; };
          const auto backwards = [&] { return reverse(y, {0}); };
          const auto same = [&] { return y; };
          return switch_case(i % 3, std::tuple(more, backwards, same));
        };
        return fori_loop(0, n, body, x);
      },
      s32(), f32({4}));
  for (const int n : {0, 1, 2, 3, 7})
    expect_agreement(f, {Literal::scalar(n), Literal::from<float>({1, 2, 3, 4}, {4})});
}

TEST(Loops, EndTheRunWhereALimitIsExceeded) {
  const Function f = trace(
      [](Tensor n) {
        return while_loop([&](Tensor i) { return i < n; }, [](Tensor i) { return i + 1; },
                          Tensor(0), {.name = "count"});
      },
      s32());
  const Executable compiled = compile(f, {.executor = Executor::kBytecode});
  EXPECT_EQ(compiled.run({Literal::scalar(100)}, {.max_iterations = 100})[0].item<int>(), 100);
  try {
    compiled.run({Literal::scalar(101)}, {.max_iterations = 100});
    FAIL() << "nothing was thrown";
  } catch (const ExecutionError& error) {
    EXPECT_NE(std::string(error.what()).find("count"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("trip 101"), std::string::npos) << error.what();
  }
  EXPECT_EQ(compiled.stats().loops.at(0).trips, 100);
  EXPECT_THROW(
      compiled.run({Literal::scalar(2'000'000'000)}, {.deadline = std::chrono::milliseconds(20)}),
      ExecutionError);
}

TEST(Loops, CountTheirTrips) {
  const Function f = trace(
      [](Tensor n) {
        return fori_loop(0, n,
                         [](Tensor i, Tensor x) {
                           return fori_loop(0, i, [](Tensor j, Tensor x) { return x + j; }, x,
                                            {.name = "inner"});
                         },
                         Tensor(0), {.name = "outer"});
      },
      s32());
  RunStats stats;
  compile(f, {.executor = Executor::kBytecode}).run({Literal::scalar(5)}, {.stats = &stats});
  ASSERT_EQ(stats.loops.size(), 2u);
  EXPECT_EQ(stats.loops[0].trips, 5);
  EXPECT_EQ(stats.loops[1].trips, 10);
}

TEST(Loops, OfCombinersAreCountedToo) {
  // Each element is added by as many trips.
  const auto add = [](Tensor total, Tensor x) {
    const auto one = [](Tensor, Tensor y) { return y + 1; };
    return fori_loop(0, x, one, total, {.name = "ones"});
  };
  const auto trip = [&](Tensor, Tensor y) { return y + reduce(arange(4), Tensor(0), {0}, add); };
  const Function f =
      trace([&](Tensor n) { return fori_loop(0, n, trip, Tensor(0), {.name = "outer"}); }, s32());
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    RunStats stats;
    const Literal got =
        compile(f, {.executor = executor}).run({Literal::scalar(5)}, {.stats = &stats})[0];
    EXPECT_EQ(got.item<int>(), 30);
    ASSERT_EQ(stats.loops.size(), 2u);
    EXPECT_EQ(stats.loops[0].name, "outer");
    EXPECT_EQ(stats.loops[0].trips, 5);
    EXPECT_EQ(stats.loops[1].name, "ones");
    EXPECT_EQ(stats.loops[1].trips, 30);
  }
}

}  // namespace
}  // namespace rondo::testing
