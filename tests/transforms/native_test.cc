// rondo::native compared with the equivalent C++ functions.
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <thread>
#include <tuple>
#include <vector>

#include "errors/message.h"
#include "rondo/rondo.h"

namespace rondo::testing {
namespace {

template <class Exception, class Call>
void expect_throw(const Call& call, const std::vector<std::string>& parts) {
  expect_parts(message_of<Exception>(call), parts);
}

constexpr Executor kExecutors[] = {Executor::kCompiled, Executor::kBytecode, Executor::kReference};

JitOptions on(Executor executor) { return {.compile = {.contract = false, .executor = executor}}; }

TEST(Native, IsAFunctionOfNumbers) {
  for (Executor executor : kExecutors) {
    const auto f = native<float(float, float)>(
        [](Tensor a, Tensor b) { return sqrt(a * a + b * b); }, on(executor));
    EXPECT_EQ(f(3, 4), 5.f);
    EXPECT_EQ(f(-5, 12), 13.f);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(f(nan, 1)));
  }
}

TEST(Native, TakesEachKindOfNumber) {
  for (Executor executor : kExecutors) {
    const auto negated = native<bool(bool)>([](Tensor x) { return !x; }, on(executor));
    EXPECT_EQ(negated(true), false);
    EXPECT_EQ(negated(false), true);
    const auto add8 = native<std::int8_t(std::int8_t, std::int8_t)>(
        [](Tensor a, Tensor b) { return a + b; }, on(executor));
    EXPECT_EQ(add8(100, 100), static_cast<std::int8_t>(200));
    const auto shift =
        native<std::uint64_t(std::uint64_t)>([](Tensor x) { return x >> 63; }, on(executor));
    EXPECT_EQ(shift(~std::uint64_t{0}), 1u);
    const auto mixed = native<double(std::uint16_t, long)>(
        [](Tensor a, Tensor b) { return convert(a, DType::kF64) / convert(b, DType::kF64); },
        on(executor));
    EXPECT_EQ(mixed(3, 4), 0.75);
    const auto turned = native<std::complex<float>(std::complex<float>)>(
        [](Tensor x) { return x * x; }, on(executor));
    EXPECT_EQ(turned({1, 2}), std::complex<float>(-3, 4));
    const auto half = native<float16(float16)>([](Tensor x) { return x * 0.5f; }, on(executor));
    EXPECT_EQ(static_cast<float>(half(float16(3.f))), 1.5f);
  }
}

TEST(Native, AnArrayIsOneTensor) {
  using Vector = std::array<double, 3>;
  using Matrix = std::array<std::array<double, 3>, 2>;
  for (Executor executor : kExecutors) {
    const auto product = native<std::array<double, 2>(const Matrix&, const Vector&)>(
        [](Tensor m, Tensor v) {
          EXPECT_EQ(m.type(), f64({2, 3}));
          EXPECT_EQ(v.type(), f64({3}));
          return matmul(m, v);
        },
        on(executor));
    const Matrix m{{{1, 2, 3}, {4, 5, 6}}};
    const std::array<double, 2> got = product(m, {7, 8, 9});
    EXPECT_EQ(got[0], 1 * 7 + 2 * 8 + 3 * 9);
    EXPECT_EQ(got[1], 4 * 7 + 5 * 8 + 6 * 9);
    // Every length of a vector's tail.
    const auto doubled = native<std::array<float, 67>(const std::array<float, 67>&)>(
        [](Tensor x) { return x + x; }, on(executor));
    std::array<float, 67> x;
    for (std::size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i) - 30;
    const std::array<float, 67> y = doubled(x);
    for (std::size_t i = 0; i < x.size(); i++) EXPECT_EQ(y[i], 2 * x[i]);
    const auto none = native<std::array<float, 0>(std::array<float, 0>)>(
        [](Tensor each) { return each * 2; }, on(executor));
    EXPECT_EQ(none({}).size(), 0u);
  }
}

struct HostHouse {
  float slab, tank;
  std::array<float, 4> rooms;
  std::int32_t step;
};
struct House {
  Tensor slab, tank, rooms, step;
};

HostHouse stepped(HostHouse h) {
  for (int i = 0; i < 10; i++) {
    const float flow = (h.tank - h.slab) * 0.25f;
    for (float& room : h.rooms) room = room + flow;
    h = {h.slab + flow, h.tank - flow, h.rooms, h.step + 1};
  }
  return h;
}

TEST(Native, StructsGoInAndOut) {
  for (Executor executor : kExecutors) {
    const auto f = native<HostHouse(const HostHouse&)>(
        [](House h) {
          return fori_loop(
              0, 10,
              [](Tensor, House s) {
                const Tensor flow = (s.tank - s.slab) * 0.25f;
                return House{s.slab + flow, s.tank - flow, s.rooms + flow, s.step + 1};
              },
              h);
        },
        on(executor));
    const HostHouse start{20, 70, {1, 2, 3, 4}, 5};
    const HostHouse got = f(start), want = stepped(start);
    EXPECT_EQ(got.slab, want.slab);
    EXPECT_EQ(got.tank, want.tank);
    EXPECT_EQ(got.rooms, want.rooms);
    EXPECT_EQ(got.step, 15);
  }
}

template <class T>
struct Pair {
  T low, high;
};
struct Both {
  std::array<Pair<double>, 2> pairs;
  std::tuple<bool, float> rest;
};
struct BothTraced {
  std::array<Pair<Tensor>, 2> pairs;
  std::tuple<Tensor, Tensor> rest;
};

TEST(Native, TreesNest) {
  for (Executor executor : kExecutors) {
    // The instance of a template is found without help, also for a generic function.
    const auto swapped = native<Pair<float>(Pair<float>)>(
        [](const auto& p) {
          return Pair<Tensor>{p.high, p.low};
        },
        on(executor));
    EXPECT_EQ(swapped({1, 2}).low, 2.f);
    EXPECT_EQ(swapped({1, 2}).high, 1.f);
    const auto f = native<Both(Both)>(
        [](BothTraced b) {
          const auto [flag, x] = b.rest;
          return BothTraced{{Pair<Tensor>{b.pairs[1].low, b.pairs[0].low},
                             Pair<Tensor>{b.pairs[1].high, b.pairs[0].high}},
                            {!flag, x * 2}};
        },
        on(executor));
    const Both got = f({{Pair<double>{1, 2}, Pair<double>{3, 4}}, {false, 1.5f}});
    EXPECT_EQ(got.pairs[0].low, 3);
    EXPECT_EQ(got.pairs[0].high, 1);
    EXPECT_EQ(got.pairs[1].low, 4);
    EXPECT_EQ(got.pairs[1].high, 2);
    EXPECT_EQ(std::get<0>(got.rest), true);
    EXPECT_EQ(std::get<1>(got.rest), 3.f);
  }
}

TEST(Native, NumbersThatAreReturnedTakeTheDtypeOfTheResult) {
  for (Executor executor : kExecutors) {
    const auto f = native<std::tuple<float, std::int64_t>(float)>(
        [](Tensor x) { return std::tuple(x, 7); }, on(executor));
    EXPECT_EQ(std::get<1>(f(2)), 7);
    EXPECT_EQ(native<double()>([] { return 0.5f; }, on(executor))(), 0.5);
  }
}

TEST(Native, AResultOfAnotherTypeIsAnError) {
  expect_throw<TraceError>(
      [] { static_cast<void>(native<double(float)>([](Tensor x) { return x * 2; })); },
      {"native: result is f32[], and the signature has f64[]", "native_test.cc",
       "rondo::convert(x, DType::kF64)"});
  expect_throw<TraceError>(
      [] {
        static_cast<void>(native<std::tuple<float, std::array<float, 3>>(float)>(
            [](Tensor x) { return std::tuple(x, x); }));
      },
      {"result[1] is f32[], and the signature has f32[3]", "std::array"});
}

TEST(Native, OptionsReachTheRunAndTheCompilation) {
  const auto forever = [](Tensor x) {
    return while_loop([](Tensor y) { return y > 0; }, [](Tensor y) { return y + 1; }, x,
                      {.name = "forever"});
  };
  for (Executor executor : kExecutors) {
    JitOptions options = on(executor);
    options.run.max_iterations = 100;
    const auto f = native<float(float)>(forever, options);
    EXPECT_EQ(f(-1), -1.f);
    expect_throw<TooManyIterations>([&] { static_cast<void>(f(1)); }, {"forever", "100"});
    RunStats stats;
    options.run.stats = &stats;
    const auto counted = native<float(float)>(
        [](Tensor x) {
          return fori_loop(
              0, 5, [](Tensor, Tensor y) { return y * y + 1; }, x);
        },
        options);
    EXPECT_EQ(counted(0), 677.f);
    ASSERT_EQ(stats.loops.size(), 1u);
    EXPECT_EQ(stats.loops[0].trips, 5);
    // Those of the thread as well.
    const auto unlimited = native<float(float)>(forever, on(executor));
    RunScope scope({.max_iterations = 50});
    expect_throw<TooManyIterations>([&] { static_cast<void>(unlimited(1)); }, {"forever", "50"});
  }
  EXPECT_NE(native<float(float)>([](Tensor x) { return x; }, on(Executor::kBytecode))
                .executable()
                .program()
                .find("bytecode"),
            std::string::npos);
}

TEST(Native, ANaNIsFoundWhereItArises) {
  JitOptions options = on(Executor::kCompiled);
  options.run.check_finite = true;
  const auto f = native<float(float)>([](Tensor x) { return log(x) * 0 + 1; }, options);
  EXPECT_EQ(f(1), 1.f);
  expect_throw<ExecutionError>([&] { static_cast<void>(f(-1)); }, {"log"});
}

TEST(Native, ATapeThatGrowsIsTheRuns) {
  const auto slope = native<float(float)>(grad([](Tensor x) {
                                            return while_loop([](Tensor y) { return y < 100; },
                                                              [](Tensor y) { return y * y; }, x,
                                                              {.checkpoint = Checkpoint::tape()});
                                          }),
                                          on(Executor::kCompiled));
  // 2, 4, 16, 256: the derivative of x^8 at 2.
  EXPECT_EQ(slope(2), 8 * 128.f);
}

TEST(Native, ManyThreadsCallOneFunction) {
  // Its arena is too large for the stack, so runs share a pool of them.
  const auto f = native<float(float)>(
      [](Tensor x) {
        const Tensor y = sort(sin(arange(5000, DType::kF32) * x));
        return sum(y * reverse(y, {0}));
      },
      on(Executor::kCompiled));
  std::vector<std::thread> threads;
  std::vector<int> equal(16, 0);
  std::vector<float> first(16);
  for (std::size_t t = 0; t < 16; t++) first[t] = f(1 + static_cast<float>(t) / 16);
  for (std::size_t t = 0; t < 16; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; i++) equal[t] += f(1 + static_cast<float>(t) / 16) == first[t];
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : equal) EXPECT_EQ(count, 10);
}

}  // namespace
}  // namespace rondo::testing
