// The performance that Rondo promises. bench/README.md says how to run it, and has measured
// figures.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include "ir/node.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

Tensor add_chain(Tensor x, std::int64_t ops) {
  for (std::int64_t i = 0; i < ops; i++) x = x + x;
  return x;
}

/// Recording a chain of ops and closing it. `bytes_per_op` is what the heap holds for each node.
void Trace(benchmark::State& state) {
  const std::int64_t ops = state.range(0);
  const auto record = [&] {
    return trace([&](Tensor x) { return add_chain(x, ops); }, f32({128}));
  };
  for (auto _ : state) {
    Function function = record();
    benchmark::DoNotOptimize(function);
    state.PauseTiming();
    function = Function();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * ops);
  const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  const Function kept = record();
  const std::size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
  state.counters["bytes_per_op"] = static_cast<double>(after - before) / static_cast<double>(ops);
}
BENCHMARK(Trace)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Unit(
    benchmark::kMillisecond);

/// The same, and destroying it.
void TraceAndDestroy(benchmark::State& state) {
  const std::int64_t ops = state.range(0);
  for (auto _ : state)
    benchmark::DoNotOptimize(trace([&](Tensor x) { return add_chain(x, ops); }, f32({128})));
  state.SetItemsProcessed(state.iterations() * ops);
}
BENCHMARK(TraceAndDestroy)->Arg(1'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void HloText(benchmark::State& state) {
  const Function f = trace([&](Tensor x) { return add_chain(x, state.range(0)); }, f32({128}));
  std::size_t bytes = 0;
  for (auto _ : state) bytes += to_hlo_text(f).size();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
BENCHMARK(HloText)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void StablehloText(benchmark::State& state) {
  const Function f = trace([&](Tensor x) { return add_chain(x, state.range(0)); }, f32({128}));
  std::size_t bytes = 0;
  for (auto _ : state) bytes += to_stablehlo_text(f).size();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
BENCHMARK(StablehloText)->Arg(10'000)->Unit(benchmark::kMillisecond);

/// while (i < n) { x = x * a + b; i++ }: four ops per trip, on scalars. The time of a trip must not
/// depend on their number.
void ScalarWhile(benchmark::State& state) {
  const Executable run = compile(trace(
      [](Tensor x, Tensor n) {
        return std::get<1>(
            while_loop([&](Tensor i, Tensor) { return i < n; },
                       [](Tensor i, Tensor x) { return std::tuple(i + 1, x * 0.999f + 0.01f); },
                       std::tuple(0, x)));
      },
      f32(), s32()));
  const std::int64_t trips = state.range(0);
  const std::vector<Literal> arguments{Literal::scalar(0.5f),
                                       Literal::scalar(static_cast<std::int32_t>(trips))};
  for (auto _ : state) benchmark::DoNotOptimize(run.run(arguments));
  state.counters["ns_per_trip"] = benchmark::Counter(
      static_cast<double>(trips) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["ns_per_op"] = benchmark::Counter(
      static_cast<double>(trips) * 4e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(ScalarWhile)->Arg(1'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

/// The same with further carries that no trip touches: arrays of 1 MiB.
void ScalarWhileBesideCarries(benchmark::State& state) {
  struct Loop {
    Tensor i, x;
    std::vector<Tensor> idle;
  };
  const std::size_t carries = static_cast<std::size_t>(state.range(0));
  const Executable run =
      compile(trace(
                  [](Tensor x, std::vector<Tensor> idle) {
                    Loop end = while_loop([](Loop l) { return l.i < 10'000; },
                                          [](Loop l) {
                                            return Loop{l.i + 1, l.x * 0.999f + 0.01f, l.idle};
                                          },
                                          Loop{0, x, idle});
                    return std::pair(end.x, end.idle);
                  },
                  f32(), std::vector<TensorType>(carries, f32({1 << 18}))),
              {.optimize = false});
  std::vector<Literal> arguments(carries + 1, Literal::zeros(f32({1 << 18})));
  arguments[0] = Literal::scalar(0.5f);
  for (auto _ : state) benchmark::DoNotOptimize(run.run(arguments));
  state.counters["ns_per_trip"] = benchmark::Counter(
      1e4 * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(ScalarWhileBesideCarries)->Arg(0)->Arg(256)->Unit(benchmark::kMillisecond);

void ThermalLoop(benchmark::State& state) {
  struct House {
    Tensor slab, quanta, tank;
  };
  auto simulate = jit([&](Tensor slab, Tensor quanta, Tensor tank) {
    return fori_loop(
        0, state.range(0),
        [](Tensor, House h) {
          const Tensor p = (h.tank - h.quanta) * 2639.6856, q = (h.quanta - h.slab) * 14741.9;
          return House{h.slab + q * 5.0e-9, h.quanta + (p - q) * 4.2e-7, h.tank - p * 3.2e-7};
        },
        House{slab, quanta, tank});
  });
  for (auto _ : state) benchmark::DoNotOptimize(simulate(33.3f, 33.3f, 70.0f));
}
BENCHMARK(ThermalLoop)->Arg(20)->Arg(1000)->Unit(benchmark::kMicrosecond);

void ScanRows(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  auto sums = jit([](Tensor xs) {
    return scan([](Tensor c, Tensor x) { return std::pair(c + x, c + x); }, zeros(f32({4})), xs)
        .second;
  });
  const Literal xs = Literal::zeros({DType::kF32, {n, 4}});
  for (auto _ : state) benchmark::DoNotOptimize(sums(xs));
  state.counters["ns_per_row"] = benchmark::Counter(
      static_cast<double>(n) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(ScanRows)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

/// Four steps of a pass over a million elements, a sum, a while over lanes and another pass, on one
/// thread and on two.
void SeveralLoops(benchmark::State& state) {
  const auto climb = [](Tensor x) {
    return while_loop([](Tensor a) { return a < 3.0f; }, [](Tensor a) { return a * 1.1f + 0.1f; },
                      x);
  };
  const std::int64_t elements = 1 << 20;
  const Executable run = compile(trace(
      [&](Tensor x) {
        return fori_loop(
            0, 4,
            [&](Tensor, Tensor a) {
              const Tensor y = exp(-a * a);
              const Tensor mean = sum(y) / static_cast<float>(elements);
              return vmap(climb)(y - mean) * 0.3f;
            },
            x);
      },
      f32({elements})));
  RunOptions options;
  options.threads = static_cast<int>(state.range(0));
  const std::vector<Literal> arguments{Literal::zeros(f32({elements}))};
  for (auto _ : state) benchmark::DoNotOptimize(run.run(arguments, options));
}
BENCHMARK(SeveralLoops)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

/// A map of 64 items, each of which is a loop of 20,000 trips.
void ParallelMap(benchmark::State& state) {
  const auto item = [](Tensor v) {
    return fori_loop(
        0, 20'000, [](Tensor, Tensor s) { return s * 0.999f + sin(s) * 0.01f; }, v);
  };
  const Executable run = compile(trace([&](Tensor x) { return map(item, x); }, f32({64})));
  RunOptions options;
  options.threads = static_cast<int>(state.range(0));
  const std::vector<Literal> arguments{Literal::zeros(f32({64}))};
  for (auto _ : state) benchmark::DoNotOptimize(run.run(arguments, options));
}
BENCHMARK(ParallelMap)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void DispatchOneAdd(benchmark::State& state) {
  auto add = jit([](Tensor a, Tensor b) { return a + b; });
  for (auto _ : state) benchmark::DoNotOptimize(add(1.0f, 2.0f));
}
BENCHMARK(DispatchOneAdd)->Unit(benchmark::kMicrosecond);

/// Matrices of n rows and columns of f64, on both sides of the size from which LAPACK factors them.
template <class F>
void Factorise(benchmark::State& state, F factor) {
  const std::int64_t n = state.range(0);
  const Tensor a = Tensor(random::normal(random::key(1), f64({n, n})).eval());
  const Literal x =
      (matmul(a, transpose(a)) + static_cast<double>(n) * diag(ones(f64({n})))).eval();
  const auto run = jit(factor);
  for (auto _ : state) benchmark::DoNotOptimize(run(Tensor(x)).eval());
}
#define RONDO_FACTORISE(name, result)                                 \
  BENCHMARK_CAPTURE(Factorise, name, [](Tensor x) { return result; }) \
      ->Arg(32)                                                       \
      ->Arg(63)                                                       \
      ->Arg(64)                                                       \
      ->Arg(512)                                                      \
      ->Unit(benchmark::kMillisecond)
RONDO_FACTORISE(cholesky, cholesky(x));
RONDO_FACTORISE(lu, lu(x).lu);
RONDO_FACTORISE(qr, qr(x).q);
RONDO_FACTORISE(eigh, eigh(x).vectors);
RONDO_FACTORISE(svd, svd(x).u);

}  // namespace
}  // namespace rondo
