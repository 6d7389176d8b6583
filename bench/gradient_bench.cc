// The cost of gradients relative to the functions themselves; bench/README.md has the ratios.
#include <benchmark/benchmark.h>

#include <numbers>

#include "rondo/rondo.h"

namespace rondo {
namespace {

/// Times a run, and counts op evaluations per trip.
void run_program(benchmark::State& state, const Function& function,
                 const std::vector<Literal>& arguments, std::int64_t trips) {
  const Executable program = compile(function);
  for (auto _ : state) benchmark::DoNotOptimize(program.run(arguments));
  state.counters["evaluations_per_trip"] =
      static_cast<double>(program.stats().op_evaluations) / static_cast<double>(trips);
  std::int64_t kept = 0;
  for (const LoopResiduals& loop : program.memory_plan()) kept += loop.bytes;
  state.counters["residual_bytes"] = static_cast<double>(kept);
}

constexpr double kHouseArea = std::numbers::pi * 0.019 * (100 / 0.50292);
constexpr double kHouseMass = kHouseArea * 0.019 / 4 * 1000;
constexpr double kHouseConductance = kHouseArea / (0.35 * 0.0023);

struct House {
  Tensor slab, quanta, tank;
};

auto thermal(std::int64_t trips, Checkpoint policy) {
  return [=](Tensor slab, Tensor quanta, Tensor tank) {
    const House end = fori_loop(0, trips,
                                [](Tensor, House s) {
                                  const Tensor p = (s.tank - s.quanta) * 0.6309 * 4184.0,
                                               q = (s.quanta - s.slab) * kHouseConductance;
                                  return House{s.slab + q * 0.1 / (880 * 22650.058),
                                               s.quanta + (p - q) * 0.1 / (4184 * kHouseMass),
                                               s.tank - p * 0.1 / (4184 * 75.708)};
                                },
                                House{slab, quanta, tank}, {.checkpoint = policy});
    return square(end.slab - 27.344767);
  };
}
const std::vector<Literal> kStart{Literal::scalar(33.3f), Literal::scalar(33.3f),
                                  Literal::scalar(70.0f)};

void Thermal(benchmark::State& state) {
  run_program(state, trace(thermal(state.range(0), {}), f32(), f32(), f32()), kStart,
              state.range(0));
}
BENCHMARK(Thermal)->Arg(20)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

void ThermalGradient(benchmark::State& state) {
  run_program(state,
              trace(value_and_grad<0, 1, 2>(thermal(state.range(0), {})), f32(), f32(), f32()),
              kStart, state.range(0));
}
BENCHMARK(ThermalGradient)->Arg(20)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

/// A while of unknown length: x <- x^2 / 2 + c until it stops moving by n trips of a counter.
auto unknown_while(Checkpoint policy) {
  return [=](Tensor x, Tensor n) {
    return std::get<1>(
        while_loop([&](Tensor i, Tensor) { return i < n; },
                   [](Tensor i, Tensor a) { return std::tuple(i + 1, 3.2 * a * (1.0 - a)); },
                   std::tuple(0, x), {.checkpoint = policy}));
  };
}
const auto while_arguments = [](std::int64_t trips) {
  return std::vector<Literal>{Literal::scalar(0.3),
                              Literal::scalar(static_cast<std::int32_t>(trips))};
};

void UnknownWhile(benchmark::State& state) {
  run_program(state, trace(unknown_while({}), f64(), s32()), while_arguments(state.range(0)),
              state.range(0));
}
BENCHMARK(UnknownWhile)->Arg(2'000)->Unit(benchmark::kMicrosecond);

void UnknownWhileOnline(benchmark::State& state) {
  run_program(state, trace(value_and_grad(unknown_while(Checkpoint::online(64))), f64(), s32()),
              while_arguments(state.range(0)), state.range(0));
}
BENCHMARK(UnknownWhileOnline)->Arg(2'000)->Arg(20'000)->Unit(benchmark::kMicrosecond);

void UnknownWhileTape(benchmark::State& state) {
  run_program(state, trace(value_and_grad(unknown_while(Checkpoint::tape())), f64(), s32()),
              while_arguments(state.range(0)), state.range(0));
}
BENCHMARK(UnknownWhileTape)->Arg(2'000)->Arg(20'000)->Unit(benchmark::kMicrosecond);

/// The same over arrays of doubles, by policy: x <- x + (x - x^3) / 100, n times.
void UnknownWhileOfArrays(benchmark::State& state) {
  const std::int64_t elements = state.range(0), trips = state.range(1);
  const WhileOptions policies[] = {{},
                                   {.checkpoint = Checkpoint::tape()},
                                   {.checkpoint = Checkpoint::online(64)},
                                   {.max_trip_count = trips}};
  static constexpr const char* kNames[] = {"automatic", "tape", "online(64)", "promised"};
  const auto policy = static_cast<std::size_t>(state.range(2));
  state.SetLabel(kNames[policy]);
  const auto f = [&](Tensor x, Tensor n) {
    return sum(
        while_loop([&](Tensor i, Tensor) { return i < n; },
                   [](Tensor i, Tensor x) { return std::pair(i + 1, x + 0.01 * (x - x * x * x)); },
                   std::pair(Tensor(0), x), policies[policy])
            .second);
  };
  const std::vector<double> start(static_cast<std::size_t>(elements), 0.3);
  run_program(state, trace(grad(f), f64({elements}), s32()),
              {Literal::from(start, {elements}), Literal::scalar(static_cast<std::int32_t>(trips))},
              trips);
}
BENCHMARK(UnknownWhileOfArrays)
    ->ArgsProduct({{1'000, 10'000}, {5, 150}, {0, 1, 2, 3}})
    ->Unit(benchmark::kMicrosecond);

Tensor rnn_loss(Tensor w, Tensor u, Tensor b, Tensor x, Tensor h0) {
  const Tensor all = scan(
                         [&](Tensor h, Tensor row) {
                           const Tensor next = tanh(matmul(row, w) + matmul(h, u) + b);
                           return std::pair(next, next);
                         },
                         h0, x)
                         .second;
  return sum(all * all);
}
std::vector<Literal> rnn_arguments() {
  const auto filled = [](TensorType type, std::uint32_t seed) {
    return (random::uniform(random::key(seed), type) * 0.2 - 0.1).eval();
  };
  return {filled(f32({128, 128}), 1), filled(f32({128, 128}), 2), filled(f32({128}), 3),
          filled(f32({256, 32, 128}), 4), Literal::zeros(f32({32, 128}))};
}

void Rnn(benchmark::State& state) {
  const std::vector<Literal> arguments = rnn_arguments();
  run_program(state,
              trace(rnn_loss, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]),
              arguments, 256);
}
BENCHMARK(Rnn)->Unit(benchmark::kMillisecond);

void RnnGradient(benchmark::State& state) {
  const std::vector<Literal> arguments = rnn_arguments();
  run_program(state,
              trace(value_and_grad<0, 1, 2>(rnn_loss), arguments[0], arguments[1], arguments[2],
                    arguments[3], arguments[4]),
              arguments, 256);
}
BENCHMARK(RnnGradient)->Unit(benchmark::kMillisecond);

Tensor leaves_loss(std::vector<Tensor> s0, Tensor xs) {
  auto [s, ys] = scan(
      [](std::vector<Tensor> now, Tensor x) {
        std::vector<Tensor> next;
        for (std::size_t k = 0; k < now.size(); k++) {
          const Tensor u = 0.9f * now[k] + 0.05f * now[(k + 1) % now.size()] + 0.1f * x;
          next.push_back(u - 0.1f * u * u * u);
        }
        return std::pair(next, next[0] * next[0]);
      },
      s0, xs);
  Tensor total = sum(ys);
  for (const Tensor& leaf : s) total += leaf;
  return total;
}
const std::vector<Literal> kLeaves(60, Literal::scalar(0.5f));

std::vector<Literal> leaves_arguments() {
  std::vector<Literal> all = kLeaves;
  all.push_back(random::uniform(random::key(7), f32({614})).eval());
  return all;
}

void Leaves(benchmark::State& state) {
  run_program(state, trace(leaves_loss, kLeaves, f32({614})), leaves_arguments(), 614);
}
BENCHMARK(Leaves)->Unit(benchmark::kMillisecond);

void LeavesGradient(benchmark::State& state) {
  run_program(state, trace(value_and_grad<0, 1>(leaves_loss), kLeaves, f32({614})),
              leaves_arguments(), 614);
}
BENCHMARK(LeavesGradient)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rondo
