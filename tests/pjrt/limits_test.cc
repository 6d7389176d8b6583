// Runs on a device that are stopped, and report their progress, between the trips of their loops:
// compared with runs of the whole program and with the reference executor.
#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "pjrt/real_plugin.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

using namespace std::chrono_literals;
using RealLimits = RealPlugin;

constexpr std::int64_t kMany = 1'000'000;

Literal ramp(std::int64_t n) { return (convert(arange(n), DType::kF32) * 0.01f).eval(); }

/// A run in chunks gives the results of a whole run, bit by bit.
void expect_the_same(const pjrt::Device& device, const Function& f,
                     const std::vector<Literal>& arguments) {
  const Executable executable = compile(f, {.device = device});
  const std::vector<Literal> want = executable.run(arguments);
  const std::vector<Literal> got = executable.run(arguments, {.max_iterations = kMany});
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); i++)
    EXPECT_TRUE(got[i].identical(want[i])) << i << "\n" << got[i].str() << "\n" << want[i].str();
}

Tensor warm(Tensor tank) {
  const auto trip = [](std::tuple<Tensor, Tensor> s) {
    const auto [slab, water] = s;
    return std::tuple(slab + 0.1 * (water - slab), water * 0.99);
  };
  const auto goes_on = [](std::tuple<Tensor, Tensor> s) { return std::get<1>(s) > 15.0; };
  return std::get<0>(while_loop(goes_on, trip, std::tuple(Tensor(20.0), tank),
                                {.max_trip_count = 250, .name = "warm"}));
}

TEST_F(RealLimits, ALoopAndItsGradient) {
  expect_the_same(device(), trace(warm, f64()), {Literal::scalar(70.0)});
  expect_the_same(device(2), trace(grad(warm), f64()), {Literal::scalar(70.0)});
  const auto many = vmap([](Tensor tank) { return warm(tank); });
  const auto loss = [&](Tensor tanks) { return sum(square(many(tanks) - 30.0)); };
  expect_the_same(device(), trace(value_and_grad(loss), f64({5})),
                  {Literal::from<double>({40, 50, 60, 70, 80}, {5})});
}

TEST_F(RealLimits, LoopsOneBehindTheOtherAndWhatStandsBetween) {
  const auto f = [](Tensor x, Tensor n) {
    const Tensor table = x * 2;  // before, used after the loops
    const auto [last, rows] = scan(
        [&](Tensor carry, Tensor row) {
          const Tensor next = tanh(carry + row * table);
          return std::pair(next, sum(next));
        },
        x, Tensor(ramp(12)));
    const Tensor between = sin(last) + x;
    const Tensor powers = fori_loop(
        0, n, [&](Tensor i, Tensor s) { return s * 0.5f + convert(i, DType::kF32) * between; },
        between, {.name = "powers"});
    const Tensor nested = fori_loop(
        0, 3,
        [&](Tensor, Tensor s) {
          return while_loop([](Tensor t) { return any(t < 4.0f); },
                            [](Tensor t) { return t * 1.5f + 0.1f; }, s);
        },
        abs(x) + 0.1f);
    return std::tuple(rows, powers * table, nested, x, n + 1, Tensor(2.5f));
  };
  for (const int n : {0, 1, 7, 64})
    expect_the_same(device(), trace(f, f32({9}), s32()), {ramp(9), Literal::scalar(n)});
}

TEST_F(RealLimits, LoopsOverConstantsAndOnesThatBeginAlike) {
  const auto constants = [](Tensor x) {
    const Tensor table = Tensor(ramp(1000));
    return fori_loop(
               0, 50, [&](Tensor i, Tensor s) { return s / 3.0f + take(table, i, 0); }, 1.0f) +
           x;
  };
  expect_the_same(device(), trace(constants, f32()), {Literal::scalar(1.0f)});
  const auto twins = [](Tensor x) {
    return while_loop([](std::array<Tensor, 3> s) { return s[0] < 33; },
                      [&](std::array<Tensor, 3> s) {
                        return std::array{s[0] + 1, s[1] * 0.9f + x, s[2] + s[1]};
                      },
                      std::array<Tensor, 3>{0, x, x});
  };
  expect_the_same(device(), trace(twins, f32({1 << 15})), {ramp(1 << 15)});
  const auto early = [](Tensor x) {
    return while_scan([](Tensor s) { return s < 50.0f; },
                      [](Tensor s) { return std::pair(s * 1.25f, s); }, x, {.max_trip_count = 40});
  };
  expect_the_same(device(), trace(early, f32()), {Literal::scalar(1.0f)});
}

TEST_F(RealLimits, TooManyIterationsAsTheReferenceCounts) {
  const auto f = [](Tensor x) {
    return while_loop([](std::array<Tensor, 2> s) { return s[0] < 50; },
                      [](std::array<Tensor, 2> s) {
                        return std::array{s[0] + 1, s[1] * 1.5 + 1};
                      },
                      std::array<Tensor, 2>{0, x}, {.name = "grow"})[1];
  };
  const Function program = trace(f, f64());
  const Executable on_device = compile(program, {.device = device()});
  const Executable reference = compile(program, {.executor = Executor::kReference});
  const Literal x = Literal::scalar(1.0);
  for (const std::int64_t most : {0, 1, 2, 3, 17, 49}) {
    SCOPED_TRACE(most);
    const auto got = caught<TooManyIterations>(on_device, {x}, {.max_iterations = most});
    const auto want = caught<TooManyIterations>(reference, {x}, {.max_iterations = most});
    EXPECT_EQ(std::string(got.what()), want.what());
    EXPECT_EQ(got.loop(), "grow");
    EXPECT_EQ(got.trip(), most);
    ASSERT_EQ(got.carry().size(), 2u);
    for (std::size_t i = 0; i < 2; i++) {
      EXPECT_EQ(got.carry()[i].first, want.carry()[i].first);
      EXPECT_TRUE(got.carry()[i].second.identical(want.carry()[i].second));
    }
  }
  for (const std::int64_t most : {50, 51, 1000})
    EXPECT_TRUE(on_device.run({x}, {.max_iterations = most})[0].identical(on_device.run({x})[0]));
}

/// s[0] counts the trips.
Function endless() {
  const auto f = [](Tensor x) {
    return while_loop([](std::array<Tensor, 2> s) { return s[0] >= 0; },
                      [&](std::array<Tensor, 2> s) {
                        return std::array{s[0] + 1, sin(s[1] + x)};
                      },
                      std::array<Tensor, 2>{std::int64_t{0}, x}, {.name = "endless"});
  };
  return trace(f, f32({100}));
}

void expect_state(const Interrupted& error) {
  EXPECT_EQ(error.loop(), "endless");
  EXPECT_GT(error.trip(), 0);
  ASSERT_EQ(error.carry().size(), 2u);
  EXPECT_EQ(error.carry()[0].second.item<std::int64_t>(), error.trip());
  EXPECT_NE(std::string(error.what()).find("the loop 'endless' ("), std::string::npos);
}

TEST_F(RealLimits, ALoopThatDoesNotEndIsEnded) {
  const Executable executable = compile(endless(), {.device = device()});
  const auto began = std::chrono::steady_clock::now();
  expect_state(caught<DeadlineExceeded>(executable, {ramp(100)}, {.deadline = 50ms}));
  EXPECT_GE(std::chrono::steady_clock::now() - began, 50ms);

  std::stop_source source;
  std::atomic<bool> runs = false;
  std::thread stops([&] {
    runs.wait(false);
    source.request_stop();
  });
  const auto tell = [&](const Progress& progress) {
    runs = runs || progress.trip > 0;
    runs.notify_all();
  };
  expect_state(caught<Stopped>(executable, {ramp(100)},
                               {.stop_token = source.get_token(), .on_progress = tell}));
  stops.join();
  // A run with a stop already requested makes no trip.
  const auto before = caught<Stopped>(executable, {ramp(100)}, {.stop_token = source.get_token()});
  EXPECT_EQ(before.trip(), 0);
  ASSERT_EQ(before.carry().size(), 2u);
  EXPECT_TRUE(before.carry()[1].second.identical(ramp(100)));
}

TEST_F(RealLimits, ProgressIsToldAndTheCarryGoesOn) {
  const auto f = [](Tensor n, Tensor x) {
    return fori_loop(0, n, [](Tensor, Tensor s) { return sin(s + 0.1f); }, x, {.name = "steps"});
  };
  const Function program = trace(f, s64(), f32({64}));
  const Executable executable = compile(program, {.device = device()});
  constexpr std::int64_t kTrips = std::int64_t{1} << 40;
  std::vector<Progress> told;
  std::stop_source source;
  RunOptions options;
  options.stop_token = source.get_token();
  options.on_progress = [&](const Progress& progress) {
    told.push_back(progress);
    if (told.size() == 2) source.request_stop();
  };
  std::optional<Stopped> stopped;
  try {
    executable.run({Literal::scalar(kTrips), ramp(64)}, options);
  } catch (const Stopped& error) {
    stopped = error;
  }
  ASSERT_TRUE(stopped);
  ASSERT_EQ(told.size(), 2u);
  for (const Progress& progress : told) {
    EXPECT_EQ(progress.path.size(), 1u);
    EXPECT_EQ(progress.of, kTrips);
  }
  EXPECT_LT(told[0].trip, told[1].trip);
  EXPECT_LE(told[1].trip, stopped->trip() + 1);
  // As many trips again, in one run and from the carry.
  ASSERT_EQ(stopped->carry().size(), 1u);
  const Literal half = stopped->carry()[0].second;
  const auto run = [&](std::int64_t trips, const Literal& x) {
    return executable.run({Literal::scalar(trips), x})[0];
  };
  EXPECT_TRUE(run(stopped->trip(), ramp(64)).identical(half));
  EXPECT_TRUE(run(stopped->trip() + 5, ramp(64)).identical(run(5, half)));
}

TEST_F(RealLimits, ProgressOfALoopUpToAConstantThatTheProgramComputes) {
  const auto f = [](Tensor first, Tensor x) {
    const Tensor end = Tensor(30) + Tensor(20);
    const auto step = [](Tensor, Tensor s) { return sin(s + 0.1f); };
    return fori_loop(first, end, step, fori_loop(first, end, step, x));
  };
  const Executable executable =
      compile(trace(f, s32(), f32({9})), {.optimize = false, .device = device()});
  const std::vector<Literal> arguments{Literal::scalar(3), ramp(9)};
  RunOptions options;
  options.on_progress = [](const Progress&) {};
  EXPECT_TRUE(executable.run(arguments, options)[0].identical(executable.run(arguments)[0]));
}

TEST_F(RealLimits, HoldForJittedCallsAndLazyTensors) {
  const auto spin = [](Tensor x) {
    return while_loop([](Tensor s) { return s >= 0; }, [](Tensor s) { return s + 1; }, x);
  };
  const auto f = jit(spin, {.device = device()});
  EXPECT_THROW(f.with({.deadline = 20ms})(Tensor(std::int64_t{0})), DeadlineExceeded);
  const pjrt::DeviceScope scope(device());
  const RunScope limits({.max_iterations = 7});
  EXPECT_THROW(spin(Tensor(std::int64_t{0})).eval(), TooManyIterations);
  const Tensor x = Tensor(Literal(ramp(3))) * 2.0f;  // without a loop
  EXPECT_EQ(x.eval().data<float>()[1], 0.02f);
}

TEST_F(RealLimits, WhoIsToldOfProgressMayAskForTensorsOfTheSameGraph) {
  const pjrt::DeviceScope scope(device());
  const Tensor x = pjrt::DeviceArray(ramp(64), device()).tensor();
  const Tensor twice = x * 2.0f;
  const Tensor end =
      while_loop([](Tensor s) { return all(s < 2.0f); }, [](Tensor s) { return sin(s); }, twice);
  std::stop_source source;
  std::optional<Literal> seen;
  RunOptions options;
  options.stop_token = source.get_token();
  options.on_progress = [&](const Progress&) {
    seen = twice.eval();
    source.request_stop();
  };
  {
    const RunScope limits(options);
    EXPECT_THROW(end.eval(), Stopped);
  }
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->data<float>()[3], 0.06f);
}

TEST_F(RealLimits, OfManyThreads) {
  const Executable executable = compile(trace(warm, f64()), {.device = device()});
  std::vector<Literal> want;
  for (int t = 0; t < 8; t++) want.push_back(executable.run({Literal::scalar(t * 10.0)})[0]);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; i++) {
        const auto got = executable.run({Literal::scalar(t * 10.0)}, {.deadline = 1h});
        wrong += !got[0].identical(want[static_cast<std::size_t>(t)]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(RealLimits, ArgumentsThatDoNotFitAreNamedAsOfTheWhole) {
  const Executable executable = compile(trace(warm, f64()), {.device = device()});
  const auto run = [&](const pjrt::DeviceArray& x) {
    return executable.run_on_device(std::vector{x}, {.deadline = 1h});
  };
  expect_error<ExecutionError>(
      [&] {
        run({Literal::scalar(1.0f), device()});
      },
      {"run of 'main': argument 0 is f32[], the program takes f64[]"});
  expect_error<ExecutionError>(
      [&] {
        run({Literal::scalar(1.0), device(1)});
      },
      {"argument 0 is f64[] on cpu:1", "copy_to()"});
  expect_error<ExecutionError>([&] { run(pjrt::DeviceArray()); }, {"argument 0 holds nothing"});
}

TEST_F(RealLimits, ALoopInABranchIsRefused) {
  const auto f = [](Tensor x) {
    return cond(
        x > 0,
        [](Tensor y) {
          return while_loop([](Tensor s) { return s < 100; }, [](Tensor s) { return s + 1; }, y,
                            {.name = "inside"});
        },
        [](Tensor y) { return y; }, x);
  };
  const Executable executable = compile(trace(f, s32()), {.device = device()});
  EXPECT_EQ(executable.run({Literal::scalar(5)})[0].item<int>(), 100);
  expect_error<ExecutionError>(
      [&] { executable.run({Literal::scalar(5)}, {.deadline = 1s}); },
      {"the loop 'inside' (", "limits_test.cc:", "is in a branch", "rondo::where"});
  expect_error<ExecutionError>([&] { executable.run({Literal::scalar(5)}, {.threads = 2}); },
                               {"RunOptions::threads", "cpu:0", "Leave it out"});
}

TEST_F(RealLimits, NoProfileOnADevice) {
  const Executable run = compile(trace(warm, f64()), {.device = device()});
  Profile profile;
  expect_error<ExecutionError>([&] { run.run({Literal::scalar(60.0)}, {.profile = &profile}); },
                               {"RunOptions::profile", "profiler of the plugin"});
}

}  // namespace
}  // namespace rondo::testing
