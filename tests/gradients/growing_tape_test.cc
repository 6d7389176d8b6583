// Loops of unknown length under the automatic policy: residuals on a growing tape, up to a bound,
// and slots for the rest. In texts, and inside other derivatives, only slots.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "gradients/loops.h"
#include "passes/growing_tapes.h"
#include "support/expect.h"
#include "support/lowered.h"

namespace rondo::testing {
namespace {

// A carry of 256 kB, of which the tape has 64 MiB / 256 KiB rows.
constexpr std::int64_t kElements = 1 << 15;
constexpr int kRows = 256;

/// x becomes x + (x - x³) / 100, n times.
Tensor settling(const Tensor& x, const Tensor& n, Checkpoint policy) {
  return while_loop([&](Tensor i, Tensor) { return i < n; },
                    [](Tensor i, Tensor x) { return std::pair(i + 1, x + 0.01 * (x - x * x * x)); },
                    std::pair(Tensor(0), x), {.checkpoint = policy, .name = "settling"})
      .second;
}

struct Settled {
  double x, slope = 1;
  Settled(double from, int trips) : x(from) {
    for (int i = 0; i < trips; i++) {
      slope *= 1 + 0.01 * (1 - 3 * x * x);
      x += 0.01 * (x - x * x * x);
    }
  }
};

std::int64_t trips_of_loop(const RunStats& stats, const std::string& name) {
  std::int64_t trips = 0;
  for (const LoopStats& loop : stats.loops) trips += loop.name == name ? loop.trips : 0;
  return trips;
}

/// Runs the program as it is, and in the form without growing tapes: both give the same.
std::vector<Literal> expect_same_without_tapes(const Function& program,
                                               const std::vector<Literal>& arguments,
                                               double tolerance = 1e-12) {
  std::vector<Literal> got = compile(program).run(arguments);
  const std::vector<Literal> other = compile(passes::without_growing_tapes(program)).run(arguments);
  EXPECT_EQ(got.size(), other.size());
  for (std::size_t i = 0; i < got.size(); i++) {
    const auto a = got[i].data<double>(), b = other[i].data<double>();
    for (std::size_t k = 0; k < a.size(); k++)
      EXPECT_NEAR(a[k], b[k], tolerance * (1 + std::abs(b[k]))) << "result " << i << ", " << k;
  }
  return got;
}

TEST(TapeAndSlots, KeepsTheFirstTripsAndSlotsWhatIsLeft) {
  std::vector<double> starts(kElements);
  for (std::size_t i = 0; i < starts.size(); i++)
    starts[i] = 0.1 + 1e-4 * static_cast<double>(i % 1000);
  const Literal x = Literal::from(starts, {kElements});
  const auto f = [](Tensor x, Tensor n) { return sum(settling(x, n, {})); };
  const Function program = trace(grad(f), f64({kElements}), s32());
  const Executable run = compile(program);
  const MemoryPlan plan = run.memory_plan();
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan[0].policy, Checkpoint::tape());
  EXPECT_EQ(plan[0].bytes, 8 * kElements);  // per trip
  EXPECT_EQ(plan[1].policy.policy, Checkpoint::Policy::kOnline);
  for (const int n : {0, 1, 2, kRows - 1, kRows, kRows + 1, kRows + 70}) {
    SCOPED_TRACE(n);
    RunStats stats;
    RunOptions options;
    options.stats = &stats;
    const Literal got = run.run({x, Literal::scalar(n)}, options)[0];
    const auto slopes = got.data<double>();
    for (const std::size_t i : {0U, 1U, 500U, 999U, 32767U}) {
      const double want = Settled(starts[i], n).slope;
      EXPECT_NEAR(slopes[i], want, 1e-11 * std::abs(want));
    }
    EXPECT_EQ(trips_of_loop(stats, "settling"), n);
    EXPECT_EQ(trips_of_loop(stats, "settling_gradient"), n);
    const std::int64_t again = trips_of_loop(stats, "settling_again");
    EXPECT_TRUE(n > kRows + 64 ? again > 0 : again == 0) << again;
  }
}

TEST(TapeAndSlots, AgreesWithTheOtherPolicies) {
  std::vector<double> starts(kElements, 0.3);
  const std::vector<Literal> arguments{Literal::from(starts, {kElements}),
                                       Literal::scalar(kRows + 9)};
  const auto slopes = [&](Checkpoint policy) {
    const auto f = [&](Tensor x, Tensor n) { return sum(square(settling(x, n, policy))); };
    return compile(trace(grad(f), f64({kElements}), s32())).run(arguments)[0];
  };
  const Literal want = slopes(Checkpoint::tape());
  for (const Checkpoint policy : {Checkpoint::automatic(), Checkpoint::online(64)}) {
    const Literal got = slopes(policy);
    for (const std::size_t i : {0U, 7U, 32767U})
      EXPECT_NEAR(got.data<double>()[i], want.data<double>()[i], 1e-12);
  }
}

/// A length that depends on the values, with a weight: while x < limit, x becomes x + w sin(x) +
/// 0.1.
Tensor climbing(const Tensor& x, const Tensor& w, Checkpoint policy = {}) {
  return while_loop([](Tensor x) { return x < 40.0; },
                    [&](Tensor x) { return x + w * sin(x) + 0.1; }, x,
                    {.checkpoint = policy, .name = "climbing"});
}

TEST(TapeAndSlots, OfALengthThatTheValuesDecide) {
  const Function program =
      trace(grad<0, 1>([](Tensor x, Tensor w) { return climbing(x, w); }), f64(), f64());
  for (const double x : {-3.0, 0.4, 39.95, 50.0}) {
    const auto got =
        expect_same_without_tapes(program, {Literal::scalar(x), Literal::scalar(0.05)});
    double y = x, by_x = 1, by_w = 0;
    while (y < 40) {
      by_w = by_w * (1 + 0.05 * std::cos(y)) + std::sin(y);
      by_x *= 1 + 0.05 * std::cos(y);
      y += 0.05 * std::sin(y) + 0.1;
    }
    EXPECT_NEAR(got[0].item<double>(), by_x, 1e-11);
    EXPECT_NEAR(got[1].item<double>(), by_w, 1e-9);
  }
}

TEST(TapeAndSlots, HasATextWithoutIt) {
  const auto one = [](Tensor x) { return climbing(x, Tensor(0.05)); };
  const auto tapped = [&](Tensor x) { return sin(one(tap(x * x, "before"))); };
  const auto twice = [&](Tensor x) { return one(one(x) - 20); };
  for (const Function& program :
       {trace(grad(one), f64()), trace(grad(tapped), f64()), trace(grad(twice), f64()),
        trace(value_and_grad(twice), f64()), trace(vmap(grad(one)), f64({3})),
        trace(hessian(one), f64()), trace(grad(grad(one)), f64())}) {
    for (const bool optimize : {true, false}) {
      EXPECT_FALSE(to_hlo_text(program, {.optimize = optimize}).empty());
      EXPECT_FALSE(to_stablehlo_text(program, {.optimize = optimize}).empty());
    }
  }
  // The loop that would write the tape is removed, and the one that would read it.
  const Function program = trace(grad(one), f64());
  const std::string online = to_hlo_text(trace(
      grad([](Tensor x) { return climbing(x, Tensor(0.05), Checkpoint::online(64)); }), f64()));
  const auto loops = [](const std::string& text) {
    std::size_t count = 0;
    for (auto at = text.find(" while("); at != std::string::npos; at = text.find(" while(", at + 1))
      count++;
    return count;
  };
  EXPECT_EQ(loops(to_hlo_text(program)), loops(online));
}

TEST(TapeAndSlots, OfSecondDerivatives) {
  const auto one = [](Tensor x) { return climbing(x * x, x * 0.05); };
  const double h = 1e-5;
  for (const double x : {0.6, 1.9, 7.0}) {
    SCOPED_TRACE(x);
    const Function first = trace(grad(one), f64());
    const auto slope = [&](double at) {
      return expect_same_without_tapes(first, {Literal::scalar(at)})[0].item<double>();
    };
    const double wide = (slope(x + 2 * h) - slope(x - 2 * h)) / (4 * h);
    const double near = (slope(x + h) - slope(x - h)) / (2 * h);
    const double bent = near + (near - wide) / 3;  // of fourth order
    const auto forward = [&](Tensor x) {
      return jvp(grad(one), std::tuple(x), std::tuple(Tensor(1.0))).second;
    };
    for (const Function& second :
         {trace(grad(grad(one)), f64()), trace(forward, f64()), trace(hessian(one), f64()),
          trace(grad([&](Tensor x) { return jit(grad(one))(x); }), f64())}) {
      const auto got = expect_same_without_tapes(second, {Literal::scalar(x)}, 1e-9);
      EXPECT_NEAR(got[0].item<double>(), bent, 1e-5 * (1 + std::abs(bent)));
    }
  }
}

// An enclosing loop, branch or function could not keep the tape.
TEST(TapeAndSlots, InsideOtherDerivatives) {
  const auto one = [](Tensor x) { return climbing(x, Tensor(0.05)); };
  const auto in_a_loop = [&](Tensor x) {
    return fori_loop(
        0, 3, [&](Tensor, Tensor y) { return one(y) * 0.9; }, x);
  };
  const auto in_a_while = [&](Tensor x) {
    return while_loop([](Tensor y) { return y < 50.0; },
                      [&](Tensor y) { return one(y * 0.5) + 3 + 0.3 * y; }, x);
  };
  const auto in_a_branch = [&](Tensor x) {
    return cond(
        x > 1.0, [&](Tensor x) { return one(x) * x; }, [&](Tensor x) { return one(x * 2); }, x);
  };
  const auto in_a_call = [&](Tensor x) { return checkpoint(one)(x) * x; };
  const auto slopes_in_a_loop = [&](Tensor x) {
    return fori_loop(
        0, 3, [&](Tensor, Tensor y) { return y + 0.1 * grad(one)(y); }, x);
  };
  const auto pulled_in_a_loop = [&](Tensor x) {
    const auto all = vjp(one, x);
    const auto& pullback = all.second;
    return fori_loop(
        0, 3, [&](Tensor, Tensor y) { return std::get<0>(pullback(y * x)) + 0.1 * y; }, x);
  };
  const std::function<Tensor(Tensor)> functions[] = {in_a_loop, in_a_while,       in_a_branch,
                                                     in_a_call, slopes_in_a_loop, pulled_in_a_loop};
  for (std::size_t k = 0; k < std::size(functions); k++) {
    for (const double x : {0.7, 1.6}) {
      SCOPED_TRACE(::testing::Message() << "function " << k << " at " << x);
      const Function value = trace(functions[k], f64()), slope = trace(grad(functions[k]), f64());
      EXPECT_FALSE(to_hlo_text(slope).empty());
      const auto at = [&](double x) {
        return expect_same_without_tapes(value, {Literal::scalar(x)}, 1e-10)[0].item<double>();
      };
      const double h = 1e-6, want = (at(x + h) - at(x - h)) / (2 * h);
      const double got =
          expect_same_without_tapes(slope, {Literal::scalar(x)}, 1e-9)[0].item<double>();
      EXPECT_NEAR(got, want, 1e-5 * (1 + std::abs(want)));
    }
  }
}

TEST(TapeAndSlots, OfLanesThatMakeDifferentNumbersOfTrips) {
  const std::vector<double> starts{50, 39.95, 0.3, 20, -4};
  const Literal x = Literal::from(starts, {5});
  const auto one = [](Tensor x) { return climbing(x, Tensor(0.05)); };
  const auto of_all = [&](Tensor x) { return sum(vmap(one)(x)); };
  std::vector<double> want;
  for (const double start : starts) {
    double y = start, slope = 1;
    for (; y < 40; y += 0.05 * std::sin(y) + 0.1) slope *= 1 + 0.05 * std::cos(y);
    want.push_back(slope);
  }
  for (const Function& program :
       {trace(vmap(grad(one)), f64({5})), trace(grad(of_all), f64({5})),
        trace([&](Tensor x) { return vmap(jit(grad(one)))(x); }, f64({5}))}) {
    const auto got = expect_same_without_tapes(program, {x});
    expect_close<double>(got[0], {5}, want, 1e-10);
  }
}

TEST(TapeAndSlots, LeavesALimitOfMemoryToTheSlots) {
  const auto f = [](Tensor x, Tensor n) { return sum(settling(x, n, {})); };
  const Function program = trace(grad(f), f64({1000}), s32());
  const std::vector<Literal> arguments{Literal::from(std::vector<double>(1000, 0.3), {1000}),
                                       Literal::scalar(1000)};
  const Literal got = compile(program, {.memory_limit = 2'000'000}).run(arguments)[0];
  EXPECT_NEAR(got.data<double>()[5], Settled(0.3, 1000).slope, 1e-11);
}

// Tensors outside all traces are evaluated one after the other.
TEST(TapeAndSlots, IsNoValueByItself) {
  const auto one = [](Tensor x) { return climbing(x, Tensor(0.05)); };
  const double want =
      compile(trace(grad(one), f64())).run({Literal::scalar(0.4)})[0].item<double>();
  const auto all = vjp(one, Tensor(0.4));
  EXPECT_GE(all.first.item<double>(), 40);
  const auto& pullback = all.second;
  EXPECT_NEAR(std::get<0>(pullback(Tensor(2.0))).item<double>(), 2 * want, 1e-11);
  const auto traced = jit([&](Tensor ct) { return square(std::get<0>(pullback(ct))); });
  EXPECT_NEAR(traced(Tensor(2.0)).item<double>(), 4 * want * want, 1e-10);
}

TEST(TapeAndSlots, EvaluatesABodyOnce) {
  const auto f = [](Tensor x) {
    return while_loop([](Tensor x) { return x < 40.0; },
                      [](Tensor x) { return tap(sin(x), "sine") * 0.05 + x + 0.1; }, x);
  };
  int taps = 0, trips = 0;
  for (double x = 0.3; x < 40; x += std::sin(x) * 0.05 + 0.1) trips++;
  RunOptions options;
  options.on_tap = [&](std::string_view, const Literal&) { taps++; };
  compile(trace(grad(f), f64())).run({Literal::scalar(0.3)}, options);
  EXPECT_EQ(taps, trips);
}

// Memory for rows that no trip reaches is not even zeroed.
TEST(TapeAndSlots, RowsAreNotSetBeforeTheyAreWritten) {
  constexpr std::int64_t kState = 1000;
  for (const WhileOptions& options :
       {WhileOptions{}, WhileOptions{.checkpoint = Checkpoint::online(16)},
        WhileOptions{.max_trip_count = 500}}) {
    const auto f = [&](Tensor x, Tensor n) {
      return sum(while_loop([&](Tensor i, Tensor) { return i < n; },
                            [](Tensor i, Tensor x) {
                              return std::pair(i + 1, x + 0.01 * (x - x * x * x));
                            },
                            std::pair(Tensor(0), x), options)
                     .second);
    };
    const Function program = trace(grad(f), f64({kState}), s32());
    const Lowered lowered(program);
    for (const lower::Lanes& loop : lowered.program().lanes)
      EXPECT_LE(loop.known_count.value_or(0), kState);
    for (const int n : {0, 1, 3, 40}) {
      const Literal got = compile(program).run(
          {Literal::from(std::vector<double>(kState, 0.3), {kState}), Literal::scalar(n)})[0];
      EXPECT_NEAR(got.data<double>()[7], Settled(0.3, n).slope, 1e-12);
    }
    EXPECT_EQ(to_hlo_text(program).find("unset"), std::string::npos);
  }
}

// What is equal on every trip needs neither a tape nor slots.
TEST(TapeAndSlots, OfALoopThatKeepsNothing) {
  const auto f = [](Tensor x, Tensor n) {
    return while_loop([&](Tensor i, Tensor) { return i < n; },
                      [](Tensor i, Tensor x) { return std::pair(i + 1, x * 1.01 + 2); },
                      std::pair(Tensor(0), x), {.name = "linear"})
        .second;
  };
  const Function program = trace(grad(f), f64(), s32());
  for (const int n : {0, 1, 5, 3000}) {
    RunStats stats;
    RunOptions options;
    options.stats = &stats;
    const double got =
        compile(program).run({Literal::scalar(0.5), Literal::scalar(n)}, options)[0].item<double>();
    EXPECT_NEAR(got, std::pow(1.01, n), 1e-11 * std::pow(1.01, n));
    EXPECT_LE(trips_of_loop(stats, "linear"), n);
    EXPECT_EQ(trips_of_loop(stats, "linear_again"), 0);
  }
  for (const LoopResiduals& loop : compile(program).memory_plan()) EXPECT_EQ(loop.bytes, 0);
  EXPECT_FALSE(to_hlo_text(program).empty());
}

}  // namespace
}  // namespace rondo::testing
