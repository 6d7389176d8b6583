// Native code of lower programs compared with the loops that a C++ programmer writes, which the
// same compiler optimizes for the same processor. Each benchmark alternates between both; `ratio`
// compares the fastest runs.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "lower/builder.h"
#include "native/compile.h"

namespace rondo::native_code {
namespace {

using lower::Builder;
using lower::Type;
using lower::Value;

/// A program of one argument and one result buffer, compiled.
struct Compiled {
  explicit Compiled(lower::Program made) : program(std::move(made)), code(compile(program)) {}

  void run(std::byte* argument, std::byte* result) const {
    lower::RunFrame frame;
    std::int64_t trips[4] = {}, totals[4] = {};
    frame.arguments = &argument;
    frame.results = &result;
    frame.trips = trips;
    frame.total_trips = totals;
    if (code->run(frame) != lower::Status::kDone) std::abort();
  }

  lower::Program program;
  std::unique_ptr<const NativeCode> code;
};

double seconds(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// `repeats` runs are timed together, so that short ones can be measured.
void compare(benchmark::State& state, int repeats, const std::function<void()>& compiled,
             const std::function<void()>& by_hand) {
  double best = 1e9, best_by_hand = 1e9;
  auto many = [&](const std::function<void()>& f) {
    return seconds([&] {
             for (int i = 0; i < repeats; i++) f();
           }) /
           repeats;
  };
  for (auto _ : state) {
    best = std::min(best, many(compiled));
    best_by_hand = std::min(best_by_hand, many(by_hand));
  }
  state.counters["us"] = best * 1e6;
  state.counters["by_hand_us"] = best_by_hand * 1e6;
  state.counters["ratio"] = best / best_by_hand;
}

template <class T>
std::byte* bytes(T* data) {
  return reinterpret_cast<std::byte*>(data);
}

std::uint32_t add_loop(Builder& p) {
  p.program().loops.emplace_back().name = "loop";
  return static_cast<std::uint32_t>(p.program().loops.size() - 1);
}

constexpr std::int32_t kTrips = 1'000'000;

lower::Program scalar_while_program() {
  Builder p;
  const Value in = p.buffer({lower::Storage::kArgument, 0, 0, 16});
  const Value out = p.buffer({lower::Storage::kResult, 0, 0, 4});
  const Value a = p.load(Type::kF32, {in, 4, {}}), b = p.load(Type::kF32, {in, 8, {}});
  const Value n = p.load(Type::kS32, {in, 12, {}});
  const auto id = add_loop(p);
  const auto loop = p.begin_while(
      std::vector<Value>{p.load(Type::kF32, {in, 0, {}}), p.constant(Type::kS32, 0)}, id);
  const auto c = p.program().whiles[loop].carries;
  p.test(p.less(c[1].param, n));
  p.end_while(
      std::vector<Value>{p.fma(c[0].param, a, b), p.add(c[1].param, p.constant(Type::kS32, 1))});
  p.store(p.program().whiles[loop].carries[0].result, {out, 0, {}});
  return p.finish();
}

void ScalarWhile(benchmark::State& state) {
  const Compiled compiled(scalar_while_program());
  alignas(64) float in[4] = {0.5f, 0.999f, 0.01f}, out[16];
  std::memcpy(&in[3], &kTrips, 4);
  compare(
      state, 1, [&] { compiled.run(bytes(in), bytes(out)); },
      [&] {
        float x = in[0], a = in[1], b = in[2];
        std::int32_t i = 0, n;
        std::memcpy(&n, &in[3], 4);
        benchmark::DoNotOptimize(n);
        while (i < n) x = x * a + b, i++;
        benchmark::DoNotOptimize(x);
      });
}
BENCHMARK(ScalarWhile)->Unit(benchmark::kMicrosecond);

constexpr double kArea = std::numbers::pi * 0.019 * (100 / 0.50292);
constexpr double kMass = kArea * 0.019 / 4 * 1000;
constexpr double kConductance = kArea / (0.35 * 0.0023);

struct House {
  float slab, quanta, tank;
};

House step(const House& s) {
  const float p = (s.tank - s.quanta) * 0.6309f * 4184.f;
  const float q = (s.quanta - s.slab) * float(kConductance);
  return {s.slab + q * 0.1f / float(880 * 22650.058),
          s.quanta + (p - q) * 0.1f / float(4184 * kMass),
          s.tank - p * 0.1f / float(4184 * 75.708)};
}

House step_back(const House& d) {
  const float dq = d.slab * 0.1f / float(880 * 22650.058) - d.quanta * 0.1f / float(4184 * kMass);
  const float dp = d.quanta * 0.1f / float(4184 * kMass) - d.tank * 0.1f / float(4184 * 75.708);
  const float dp_in = dp * 0.6309f * 4184.f, dq_in = dq * float(kConductance);
  return {d.slab - dq_in, d.quanta + dq_in - dp_in, d.tank + dp_in};
}

struct Three {
  Value slab, quanta, tank;
};

/// The body of a loop over three carried floats.
template <class F>
std::vector<Value> loop_of_three(Builder& p, Value trips, const std::vector<Value>& init,
                                 F&& body) {
  const auto id = add_loop(p);
  const auto loop = p.begin_for(p.index(0), trips, 1, init, id);
  const auto c = p.program().fors[loop].carries;
  const Three next = body(Three{c[0].param, c[1].param, c[2].param});
  p.end_for(std::vector<Value>{next.slab, next.quanta, next.tank});
  std::vector<Value> out;
  for (const lower::Carry& carry : p.program().fors[loop].carries) out.push_back(carry.result);
  return out;
}

lower::Program thermal_program(std::int64_t trips, bool gradient) {
  Builder p;
  const Value in = p.buffer({lower::Storage::kArgument, 0, 0, 16});
  const Value out = p.buffer({lower::Storage::kResult, 0, 0, 16});
  auto c = [&](double x) { return p.number(Type::kF32, x); };
  auto times = [&](Value a, double b) { return p.multiply(a, c(b)); };
  // Contracted like in g++'s code.
  auto scaled = [&](Value a, double b) { return p.divide(times(a, 0.1), c(b)); };
  std::vector<Value> values;
  for (int i = 0; i < 3; i++) values.push_back(p.load(Type::kF32, {in, 4 * i, {}}));
  values = loop_of_three(p, p.index(trips), values, [&](Three s) {
    const Value flow = times(times(p.subtract(s.tank, s.quanta), 0.6309), 4184);
    const Value q = times(p.subtract(s.quanta, s.slab), kConductance);
    return Three{p.add(s.slab, scaled(q, 880 * 22650.058)),
                 p.add(s.quanta, scaled(p.subtract(flow, q), 4184 * kMass)),
                 p.subtract(s.tank, scaled(flow, 4184 * 75.708))};
  });
  if (gradient) {
    const Value miss = p.subtract(values[0], c(27.344767));
    values = {times(miss, 2), c(0), c(0)};
    values = loop_of_three(p, p.index(trips), values, [&](Three d) {
      const Value from_slab = scaled(d.slab, 880 * 22650.058);
      const Value from_quanta = scaled(d.quanta, 4184 * kMass);
      const Value dq = p.subtract(from_slab, from_quanta);
      const Value dp = p.subtract(from_quanta, scaled(d.tank, 4184 * 75.708));
      const Value dp_in = times(times(dp, 0.6309), 4184), dq_in = times(dq, kConductance);
      return Three{p.subtract(d.slab, dq_in), p.subtract(p.add(d.quanta, dq_in), dp_in),
                   p.add(d.tank, dp_in)};
    });
  }
  for (std::size_t i = 0; i < 3; i++)
    p.store(values[i], {out, static_cast<std::int64_t>(4 * i), {}});
  return p.finish();
}

void Thermal(benchmark::State& state, bool gradient) {
  const auto trips = static_cast<int>(state.range(0));
  const Compiled compiled(thermal_program(trips, gradient));
  alignas(64) float in[16] = {33.3f, 33.3f, 70.f}, out[16];
  compare(
      state, std::max(1, 20'000 / trips), [&] { compiled.run(bytes(in), bytes(out)); },
      [&] {
        benchmark::DoNotOptimize(in);
        House s{in[0], in[1], in[2]};
        for (int i = 0; i < trips; i++) s = step(s);
        if (gradient) {
          House d{2 * (s.slab - 27.344767f), 0, 0};
          for (int i = 0; i < trips; i++) d = step_back(d);
          s = d;
        }
        benchmark::DoNotOptimize(s);
      });
}
BENCHMARK_CAPTURE(Thermal, forward, false)->Arg(20)->Arg(1000)->Arg(10000);
BENCHMARK_CAPTURE(Thermal, gradient, true)->Arg(20)->Arg(1000)->Arg(10000);

constexpr std::int64_t kSide = 512;

lower::Program mandelbrot_program() {
  Builder p;
  const std::int64_t pixels = kSide * kSide;
  const Value in = p.buffer({lower::Storage::kArgument, 0, 0, 8 * pixels});
  const Value out = p.buffer({lower::Storage::kResult, 0, 0, 4 * pixels});
  const auto lanes = p.begin_lanes(p.index(pixels));
  const Value lane = p.program().lanes[lanes].index;
  const Value cr = p.load(Type::kF32, {in, 0, {{lane, 4}}});
  const Value ci = p.load(Type::kF32, {in, 4 * pixels, {{lane, 4}}});
  const Value zero = p.number(Type::kF32, 0);
  const auto loop = p.begin_while(std::vector<Value>{zero, zero, p.constant(Type::kS32, 0)});
  const auto c = p.program().whiles[loop].carries;
  const Value zr = c[0].param, zi = c[1].param, i = c[2].param;
  const Value rr = p.multiply(zr, zr), ii = p.multiply(zi, zi);
  p.test(p.bit_and(p.less(i, p.constant(Type::kS32, 1000)),
                   p.less_equal(p.add(rr, ii), p.number(Type::kF32, 4))));
  p.end_while(std::vector<Value>{p.add(p.subtract(rr, ii), cr),
                                 p.fma(p.multiply(p.number(Type::kF32, 2), zr), zi, ci),
                                 p.add(i, p.constant(Type::kS32, 1))});
  p.store(p.program().whiles[loop].carries[2].result, {out, 0, {{lane, 4}}});
  p.end_lanes();
  return p.finish();
}

void escape_block(const float* cr, const float* ci, std::int32_t* count) {
  constexpr int kLanes = 64;
  float zr[kLanes] = {}, zi[kLanes] = {};
  std::int32_t on[kLanes];
  std::fill(on, on + kLanes, 1);
  std::fill(count, count + kLanes, 0);
  for (int i = 0; i < 1000; i++) {
    std::int32_t any = 0;
    for (int l = 0; l < kLanes; l++) {
      const float rr = zr[l] * zr[l], ii = zi[l] * zi[l];
      on[l] &= rr + ii <= 4;
      zi[l] = 2 * zr[l] * zi[l] + ci[l];
      zr[l] = rr - ii + cr[l];
      count[l] += on[l];
      any |= on[l];
    }
    if (!any) break;
  }
}

void Mandelbrot(benchmark::State& state) {
  const Compiled compiled(mandelbrot_program());
  const auto pixels = static_cast<std::size_t>(kSide * kSide);
  std::vector<float> in(2 * pixels);
  std::vector<std::int32_t> out(pixels), by_hand(pixels);
  for (std::size_t k = 0; k < pixels; k++) {
    in[k] = -2 + 2.5f * static_cast<float>(k % kSide) / kSide;
    in[pixels + k] = -1.25f + 2.5f * static_cast<float>(k / kSide) / kSide;
  }
  compare(
      state, 1, [&] { compiled.run(bytes(in.data()), bytes(out.data())); },
      [&] {
        for (std::size_t k = 0; k < pixels; k += 64)
          escape_block(&in[k], &in[pixels + k], &by_hand[k]);
      });
}
BENCHMARK(Mandelbrot)->Unit(benchmark::kMillisecond);

constexpr std::int64_t kElements = 1 << 20;

/// The sum of x * a + b over 2^20 elements, from memory beyond the second-level cache.
void Sum(benchmark::State& state) {
  Builder p;
  const Value in = p.buffer({lower::Storage::kArgument, 0, 0, 4 * kElements});
  const Value out = p.buffer({lower::Storage::kResult, 0, 0, 4});
  const auto lanes = p.begin_lanes(p.index(kElements));
  const Value x = p.load(Type::kF32, {in, 0, {{p.program().lanes[lanes].index, 4}}});
  const Value sum = p.reduce(lower::Opcode::kAdd, p.number(Type::kF32, 0),
                             p.fma(x, p.number(Type::kF32, 0.5), p.number(Type::kF32, 1)));
  p.end_lanes();
  p.store(sum, {out, 0, {}});
  const Compiled compiled(p.finish());
  std::vector<float> values(kElements, 0.25f);
  alignas(64) float result[16];
  compare(
      state, 1, [&] { compiled.run(bytes(values.data()), bytes(result)); },
      [&] {
        float partials[64] = {};
        for (std::size_t i = 0; i < kElements; i += 64) {
          for (std::size_t j = 0; j < 64; j++) partials[j] += values[i + j] * 0.5f + 1;
        }
        benchmark::DoNotOptimize(partials);
      });
}
BENCHMARK(Sum);

/// From a lower program to executable code; ns per op for long straight lines.
void Compile(benchmark::State& state) {
  const std::int64_t ops = state.range(0);
  const auto make = [&] {
    Builder p;
    const Value in = p.buffer({lower::Storage::kArgument, 0, 0, 64});
    const Value out = p.buffer({lower::Storage::kResult, 0, 0, 64});
    std::vector<Value> values;
    for (int i = 0; i < 16; i++) values.push_back(p.load(Type::kF32, {in, 4 * i, {}}));
    std::uint64_t seed = 1;
    auto any = [&] {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const std::size_t back = std::min<std::size_t>(values.size(), 64);
      return values[values.size() - 1 - (seed >> 33) % back];
    };
    for (std::int64_t i = 0; i < ops; i++) {
      const Value a = any(), b = any();
      values.push_back(i % 2 == 0 ? p.add(a, b) : p.multiply(a, b));
    }
    p.store(values.back(), {out, 0, {}});
    return p.finish();
  };
  const lower::Program program = make();
  std::size_t size = 0;
  for (auto _ : state) size = compile(program)->size();
  state.SetItemsProcessed(state.iterations() * ops);
  state.counters["bytes_per_op"] = static_cast<double>(size) / static_cast<double>(ops);
}
BENCHMARK(Compile)->Arg(100)->Arg(1000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

void CompileThermal(benchmark::State& state) {
  const lower::Program program = thermal_program(20, true);
  for (auto _ : state) benchmark::DoNotOptimize(compile(program));
}
BENCHMARK(CompileThermal)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace rondo::native_code
