// What a call costs: of native functions, of jitted functions, and what compiling takes for each
// op.
#include <benchmark/benchmark.h>

#include <array>

#include "ir/backend.h"
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

}  // namespace
}  // namespace rondo
