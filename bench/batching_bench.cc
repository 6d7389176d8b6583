// The cost of batched programs compared with the plain C++ loop over their lanes, which is compiled
// with this program: the counter `ratio`. RONDO_EXECUTOR=compiled measures the compiled executor.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rondo/rondo.h"

namespace rondo {
namespace {

using Floats = std::vector<float>;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The least time of several runs.
double least_seconds(const std::function<void()>& work) {
  double least = seconds_of(work);
  for (double spent = least; spent < 0.5;) {
    const double once = seconds_of(work);
    spent += once;
    least = std::min(least, once);
  }
  return least;
}

/// Times the batched program, and compares its results and its time with those of `plain`, which
/// computes one number per lane.
template <class T>
void run_beside(benchmark::State& state, const Function& batched,
                const std::vector<Literal>& arguments,
                const std::function<void(std::vector<T>&)>& plain, double tolerance) {
  const Executable program = compile(batched);
  const Literal got = program.run(arguments)[0];
  std::vector<T> want(static_cast<std::size_t>(got.elements()));
  plain(want);
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < want.size(); i++) {
    difference += std::abs(static_cast<double>(got.data<T>()[i]) - static_cast<double>(want[i]));
    size += std::abs(static_cast<double>(want[i]));
  }
  if (!(difference <= tolerance * size)) {
    state.SkipWithError("the plain loop computes something else");
    return;
  }
  double least = 1e30;
  for (auto _ : state) {
    const double once = seconds_of([&] { benchmark::DoNotOptimize(program.run(arguments)); });
    least = std::min(least, once);
  }
  const double of_plain = least_seconds([&] {
    plain(want);
    benchmark::DoNotOptimize(want.data());
  });
  state.counters["plain_us"] = of_plain * 1e6;
  state.counters["ratio"] = least / of_plain;
}

// Mandelbrot: 256 x 256 points, at most 200 steps.

constexpr int kMostSteps = 200;
constexpr std::int64_t kSide = 256;

Tensor escape_time(Tensor x, Tensor y) {
  return std::get<0>(while_loop(
      [](Tensor n, Tensor re, Tensor im) { return (n < kMostSteps) & (re * re + im * im <= 4); },
      [&](Tensor n, Tensor re, Tensor im) {
        return std::tuple(n + 1, re * re - im * im + x, 2 * re * im + y);
      },
      std::tuple(Tensor(0), Tensor(0.0f), Tensor(0.0f))));
}

void Mandelbrot(benchmark::State& state) {
  Floats xs, ys;
  for (std::int64_t row = 0; row < kSide; row++) {
    for (std::int64_t column = 0; column < kSide; column++) {
      xs.push_back(-2.2f + 3.2f * static_cast<float>(column) / kSide);
      ys.push_back(-1.2f + 2.4f * static_cast<float>(row) / kSide);
    }
  }
  const TensorType type = f32({kSide * kSide});
  run_beside<std::int32_t>(
      state, trace(vmap(escape_time), type, type),
      {Literal::from(xs, type.shape), Literal::from(ys, type.shape)},
      [&](std::vector<std::int32_t>& out) {
        for (std::size_t i = 0; i < out.size(); i++) {
          float re = 0, im = 0;
          std::int32_t n = 0;
          while (n < kMostSteps && re * re + im * im <= 4) {
            const float next = re * re - im * im + xs[i];
            im = 2 * re * im + ys[i];
            re = next;
            n++;
          }
          out[i] = n;
        }
      },
      1e-3);
}
BENCHMARK(Mandelbrot)->Unit(benchmark::kMillisecond);

// Collatz: the steps of 1 to 100000 down to 1.

Tensor collatz(Tensor from) {
  return std::get<1>(while_loop(
      [](Tensor n, Tensor) { return n != 1; },
      [](Tensor n, Tensor steps) {
        return std::tuple(where((n & 1) == 0, shift_right_logical(n, 1), 3 * n + 1), steps + 1);
      },
      std::tuple(from, Tensor(0))));
}

void Collatz(benchmark::State& state) {
  std::vector<std::int64_t> starts(100'000);
  for (std::size_t i = 0; i < starts.size(); i++) starts[i] = static_cast<std::int64_t>(i) + 1;
  run_beside<std::int32_t>(
      state, trace(vmap(collatz), s64({100'000})), {Literal::from(starts, {100'000})},
      [&](std::vector<std::int32_t>& out) {
        for (std::size_t i = 0; i < out.size(); i++) {
          std::int64_t n = starts[i];
          std::int32_t steps = 0;
          for (; n != 1; steps++) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
          out[i] = steps;
        }
      },
      0);
}
BENCHMARK(Collatz)->Unit(benchmark::kMillisecond);

// 10000 paths of a stock by Black and Scholes, 64 dates each; the average over the dates.

constexpr std::int64_t kPaths = 10'000, kDates = 64;

Tensor average_price(Tensor normals) {
  const auto [last, total] =
      scan(
          [](std::pair<Tensor, Tensor> c, Tensor z) {
            const Tensor price = c.first * exp(0.0005f + 0.02f * z);
            return std::pair(std::pair(price, c.second + price), std::tuple<>());
          },
          std::pair(Tensor(100.0f), Tensor(0.0f)), normals)
          .first;
  return total / static_cast<float>(kDates);
}

void BlackScholesPaths(benchmark::State& state) {
  const Literal normals = random::normal(random::key(1), f32({kPaths, kDates})).eval();
  const auto z = normals.data<float>();
  run_beside<float>(
      state, trace(vmap(average_price), normals), {normals},
      [&](Floats& out) {
        for (std::size_t i = 0; i < out.size(); i++) {
          float price = 100, total = 0;
          for (std::size_t t = 0; t < kDates; t++) {
            price *= std::exp(0.0005f + 0.02f * z[i * kDates + t]);
            total += price;
          }
          out[i] = total / kDates;
        }
      },
      1e-4);
}
BENCHMARK(BlackScholesPaths)->Unit(benchmark::kMillisecond);

// 256 houses that heat their slabs until these are warm, each for its own time.

constexpr float kSlabStep = 20.0f / (880 * 22650.058f), kTankStep = 20.0f / (4184 * 75.708f);

Tensor hours_to_warm(Tensor conductance, Tensor outside) {
  const Tensor steps =
      std::get<0>(while_loop([](Tensor n, Tensor slab, Tensor) { return (slab < 24) & (n < 8640); },
                             [&](Tensor n, Tensor slab, Tensor tank) {
                               const Tensor heat = (tank - slab) * conductance,
                                            lost = (slab - outside) * 60;
                               return std::tuple(n + 1, slab + (heat - lost) * kSlabStep,
                                                 tank - (heat - 6000) * kTankStep);
                             },
                             std::tuple(Tensor(0), Tensor(20.0f), Tensor(45.0f))));
  return convert(steps, DType::kF32) / 180;
}

void ThermalHouses(benchmark::State& state) {
  const Tensor keys = random::split(random::key(7));
  const Literal conductance = (700 * exp(0.2f * random::normal(keys[0], f32({256})))).eval(),
                outside = (4 * random::normal(keys[1], f32({256}))).eval();
  run_beside<float>(
      state, trace(vmap(hours_to_warm), conductance, outside), {conductance, outside},
      [&](Floats& out) {
        for (std::size_t i = 0; i < out.size(); i++) {
          float slab = 20, tank = 45;
          int n = 0;
          for (; slab < 24 && n < 8640; n++) {
            const float heat = (tank - slab) * conductance.data<float>()[i],
                        lost = (slab - outside.data<float>()[i]) * 60;
            slab += (heat - lost) * kSlabStep;
            tank -= (heat - 6000) * kTankStep;
          }
          out[i] = static_cast<float>(n) / 180;
        }
      },
      1e-2);
}
BENCHMARK(ThermalHouses)->Unit(benchmark::kMicrosecond);

// The gradient of each of 512 examples with respect to the weights of a network of 8 inputs and 16
// hidden units.

constexpr std::int64_t kExamples = 512, kInputs = 8, kHidden = 16;

Tensor network_loss(Tensor w, Tensor v, Tensor x, Tensor y) {
  return square(dot(v, tanh(matmul(w, x))) - y);
}

void PerExampleGradients(benchmark::State& state) {
  const Tensor keys = random::split(random::key(3), 3);
  const Literal w = random::normal(keys[0], f32({kHidden, kInputs})).eval(),
                v = random::normal(keys[1], f32({kHidden})).eval(),
                x = random::normal(keys[2], f32({kExamples, kInputs})).eval(),
                y = sum(Tensor(x), {1}).eval();
  const auto gradient = vmap(grad(network_loss), {.in_axes = {std::nullopt, std::nullopt, 0, 0}});
  run_beside<float>(
      state, trace(gradient, w, v, x, y), {w, v, x, y},
      [&](Floats& out) {
        const auto ws = w.data<float>(), vs = v.data<float>(), xs = x.data<float>(),
                   ys = y.data<float>();
        for (std::size_t e = 0; e < kExamples; e++) {
          float hidden[kHidden], predicted = 0;
          for (std::size_t h = 0; h < kHidden; h++) {
            float sum = 0;
            for (std::size_t i = 0; i < kInputs; i++)
              sum += ws[h * kInputs + i] * xs[e * kInputs + i];
            hidden[h] = std::tanh(sum);
            predicted += vs[h] * hidden[h];
          }
          const float error = 2 * (predicted - ys[e]);
          for (std::size_t h = 0; h < kHidden; h++) {
            const float slope = error * vs[h] * (1 - hidden[h] * hidden[h]);
            for (std::size_t i = 0; i < kInputs; i++)
              out[(e * kHidden + h) * kInputs + i] = slope * xs[e * kInputs + i];
          }
        }
      },
      1e-4);
}
BENCHMARK(PerExampleGradients)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace rondo
