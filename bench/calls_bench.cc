// The cost of calls: of native functions, of jitted functions, of compiling per op, and of limits
// per run.
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <stop_token>
#include <tuple>
#include <vector>

#include "base/held_bytes.h"
#include "executor/backend.h"
#include "passes/expand.h"
#include "passes/optimize.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

JitOptions compiled() { return {.compile = {.executor = Executor::kCompiled}}; }

void NativeAdd(benchmark::State& state) {
  const auto add =
      native<float(float, float)>([](Tensor a, Tensor b) { return a + b; }, compiled());
  float x = 1;
  for (auto _ : state) benchmark::DoNotOptimize(x = add(x, 2));
}
BENCHMARK(NativeAdd)->Unit(benchmark::kNanosecond);

struct HostState {
  std::array<float, 3> position, velocity;
  double time;
};
struct State {
  Tensor position, velocity, time;
};

void NativeStruct(benchmark::State& state) {
  const auto step = native<HostState(const HostState&)>(
      [](State s) {
        return State{s.position + s.velocity * 0.01f, s.velocity * 0.999f, s.time + 0.01};
      },
      compiled());
  HostState s{};
  for (auto _ : state) benchmark::DoNotOptimize(s = step(s));
}
BENCHMARK(NativeStruct)->Unit(benchmark::kNanosecond);

void JittedAdd(benchmark::State& state) {
  static auto* add = new auto(jit([](Tensor a, Tensor b) { return a + b; }, compiled()));
  for (auto _ : state) benchmark::DoNotOptimize((*add)(1.0f, 2.0f));
}
BENCHMARK(JittedAdd)->Unit(benchmark::kNanosecond)->ThreadRange(1, 16);

void JittedAddOfTensors(benchmark::State& state) {
  const auto add = jit([](Tensor a, Tensor b) { return a + b; }, compiled());
  const Tensor a(1.0f), b(2.0f);
  for (auto _ : state) benchmark::DoNotOptimize(add(a, b));
}
BENCHMARK(JittedAddOfTensors)->Unit(benchmark::kNanosecond);

// A state of ten numbers and three small arrays, as in a simulation.
template <class Number>
using Ten =
    std::tuple<Number, Number, Number, Number, Number, Number, Number, Number, Number, Number>;
template <class Number, class Array>
struct Many {
  Ten<Number> numbers;
  Array position, velocity, force;
};
using HostMany = Many<float, std::array<float, 4>>;

/// A few operations for each leaf.
Many<Tensor, Tensor> step_of_many(Many<Tensor, Tensor> s) {
  std::apply([](auto&... number) { ((number = number * 0.999f + 0.01f), ...); }, s.numbers);
  return {s.numbers, s.position + s.velocity * 0.01f, s.velocity + s.force * 0.01f, -s.position};
}

void NativeLeaves(benchmark::State& state) {
  const auto step = native<HostMany(const HostMany&)>(step_of_many, compiled());
  HostMany s{};
  for (auto _ : state) benchmark::DoNotOptimize(s = step(s));
}
BENCHMARK(NativeLeaves)->Unit(benchmark::kNanosecond);

void JittedLeaves(benchmark::State& state) {
  static auto* step = new auto(jit(step_of_many, compiled()));
  const Literal zero = Literal::zeros(f32()), zeros = Literal::zeros(f32({4}));
  Many<Tensor, Tensor> s;
  std::apply([&](auto&... number) { ((number = Tensor(zero)), ...); }, s.numbers);
  s.position = s.velocity = s.force = Tensor(zeros);
  for (auto _ : state) benchmark::DoNotOptimize(s = (*step)(s));
}
BENCHMARK(JittedLeaves)->Unit(benchmark::kNanosecond)->ThreadRange(1, 2);

/// A step of an ordinary C++ loop that reads a number: so many ops outside of any trace, recorded,
/// evaluated like the step before, and released.
void LazyStep(benchmark::State& state) {
  const std::int64_t ops = state.range(0);
  const Tensor a(0.999f), b(0.01f);
  Tensor x(1.0f);
  for (auto _ : state) {
    for (std::int64_t i = 0; i < ops; i += 2) x = x * a + b;
    benchmark::DoNotOptimize(x.item<float>());
  }
}
BENCHMARK(LazyStep)->Arg(2)->Arg(10)->Arg(50)->Unit(benchmark::kNanosecond);

/// Only recording and releasing these ops.
void LazyRecording(benchmark::State& state) {
  const std::int64_t ops = state.range(0);
  const Tensor a(0.999f), b(0.01f), start(1.0f);
  for (auto _ : state) {
    Tensor x = start;
    for (std::int64_t i = 0; i < ops; i += 2) x = x * a + b;
    benchmark::DoNotOptimize(x);
  }
}
BENCHMARK(LazyRecording)->Arg(2)->Arg(10)->Arg(50)->Unit(benchmark::kNanosecond);

/// From the optimized function to machine code: straight-line scalar code in which nothing folds.
void CompileScalars(benchmark::State& state) {
  const std::int64_t ops = state.range(0);
  const Function f = trace(
      [ops](Tensor x, Tensor y) {
        for (std::int64_t i = 0; i < ops; i += 3) {
          const Tensor z = x * y;
          y = x - y;
          x = z + y;
        }
        return std::pair(x, y);
      },
      f32(), f32());
  const Function ready = passes::expand(passes::optimize(f), passes::Target::kInterpreter);
  for (auto _ : state)
    benchmark::DoNotOptimize(executor::compiled_backend().prepare(ready, CompileOptions(), {}));
  state.counters["ns_per_op"] = benchmark::Counter(
      static_cast<double>(ops) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  HeldBytes held;
  executor::compiled_backend().prepare(ready, CompileOptions(), {})->count_held(held);
  state.counters["code_bytes"] = static_cast<double>(held.total());
}
BENCHMARK(CompileScalars)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

/// Runs that a deadline, a stop token and a bound on the trips could end, but do not (Arg 1),
/// compared with runs without any (Arg 0).
void run_with_limits(benchmark::State& state, const Function& f,
                     const std::vector<Literal>& arguments) {
  const Executable program = compile(f, {.executor = Executor::kCompiled});
  const std::stop_source source;
  RunOptions options;
  if (state.range(0)) {
    options.deadline = std::chrono::hours(1);
    options.stop_token = source.get_token();
    options.max_iterations = std::int64_t{1} << 40;
  }
  for (auto _ : state) benchmark::DoNotOptimize(program.run(arguments, options));
}

void LimitsOnScalars(benchmark::State& state) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(
            0, 10'000, [](Tensor, Tensor x) { return x * 0.999f + 0.01f; }, x);
      },
      f32());
  run_with_limits(state, f, {Literal::scalar(0.5f)});
}
BENCHMARK(LimitsOnScalars)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

void LimitsOnLanes(benchmark::State& state) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(
            0, 300, [](Tensor, Tensor x) { return x * 0.999f + 0.01f; }, x);
      },
      f32({4096}));
  run_with_limits(state, f, {Literal::zeros(f32({4096}))});
}
BENCHMARK(LimitsOnLanes)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

void LimitsOnRows(benchmark::State& state) {
  const Function f = trace(
      [](Tensor x, Tensor rows) {
        return scan(
            [](Tensor x, Tensor row) {
              const Tensor next = 0.5f * cumsum(x, 0) + row;
              return std::pair(next, sum(next));
            },
            x, rows);
      },
      f32({32}), f32({1000, 32}));
  run_with_limits(state, f, {Literal::zeros(f32({32})), Literal::zeros(f32({1000, 32}))});
}
BENCHMARK(LimitsOnRows)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

void LimitsOnShortInnerLoops(benchmark::State& state) {
  const Function f = trace(
      [](Tensor x) {
        const auto trip = [](Tensor i, Tensor x) {
          return fori_loop(
              0, i & 3, [](Tensor, Tensor x) { return x * 0.999f + 0.01f; }, x + 1.0f);
        };
        return fori_loop(0, 3000, trip, x);
      },
      f32());
  run_with_limits(state, f, {Literal::scalar(0.5f)});
}
BENCHMARK(LimitsOnShortInnerLoops)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

/// Argument 0: trips of about a microsecond, with an inner loop in each; 1: the same with a
/// profile.
void ProfileOfShortTrips(benchmark::State& state) {
  const Function f = trace(
      [](Tensor x) {
        const auto trip = [](Tensor, Tensor x) {
          return fori_loop(
              0, 900, [](Tensor, Tensor x) { return x * 0.999f + 0.01f; }, x + 1.0f);
        };
        return fori_loop(0, 1000, trip, x);
      },
      f32());
  const Executable program = compile(f);
  Profile profile;
  RunOptions options;
  if (state.range(0) == 1) options.profile = &profile;
  const std::vector<Literal> arguments{Literal::scalar(0.5f)};
  for (auto _ : state) benchmark::DoNotOptimize(program.run(arguments, options));
}
BENCHMARK(ProfileOfShortTrips)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace rondo
