// Weak scaling over the devices of a PJRT plugin: the same work per device for 1, 2, 4 and 8
// devices, on arrays that stay on their devices. `best_ms` is the fastest run, which on a machine
// with fewer cores than devices says little; `work_ms` is the mean processor time of a run, over
// all cores, and `overhead` that per device relative to a single device: 1 if splitting costs
// nothing.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rondo/rondo.h"

namespace rondo {
namespace {

const std::optional<pjrt::Client>& client_of_eight() {
  static const std::optional<pjrt::Client> client = []() -> std::optional<pjrt::Client> {
    if (pjrt::find_plugins().empty()) return std::nullopt;
    return pjrt::Client(pjrt::load_plugin(), {{"cpu_device_count", 8}});
  }();
  return client;
}

/// A program for a mesh with the axis "data" of so many devices.
using Program = std::function<Function(const Mesh&, std::int64_t devices)>;

const Shape kWeights{500, 500};

Function matmuls(const Mesh& mesh, std::int64_t devices) {
  const auto f = [&](Tensor x, Tensor w) {
    const PartitionSpec rows{"data", std::nullopt};
    return shard(fori_loop(
                     0, 8, [&](Tensor, Tensor c) { return shard(tanh(matmul(c, w)), mesh, rows); },
                     shard(x, mesh, rows)),
                 mesh, rows);
  };
  return trace(f, f32({devices * 256, 500}), f32({500, 500}));
}

Function training(const Mesh& mesh, std::int64_t devices) {
  const auto loss = [](Tensor w, Tensor x) { return mean(square(tanh(matmul(x, w)) - x)); };
  const auto f = [&, loss](Tensor w, Tensor x) {
    return w - 0.1 * grad(loss)(w, shard(x, mesh, {"data", std::nullopt}));
  };
  return trace(f, f32({500, 500}), f32({devices * 512, 500}));
}

Function ensemble(const Mesh& mesh, std::int64_t devices) {
  const auto house = [](Tensor tank) {
    return fori_loop(
        0, 200, [&](Tensor, Tensor slab) { return slab + 0.1 * (tank - slab) * exp(-0.01 * slab); },
        tank * 0.5);
  };
  const auto f = [&, house](Tensor tanks) {
    const auto all = vmap(house, {.axis_name = "data"});
    return shard(all(shard(tanks, mesh, {"data"})), mesh, {"data"});
  };
  return trace(f, f32({devices * (1 << 16)}));
}

Function stencil(const Mesh& mesh, std::int64_t devices) {
  const PartitionSpec rows{"data", std::nullopt};
  const auto step = [&, rows](Tensor, Tensor u) {
    const Tensor next =
        u + 0.2 * (roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1) - 4 * u);
    return shard(next, mesh, rows);
  };
  const auto f = [&, step, rows](Tensor u) {
    return shard(fori_loop(0, 50, step, shard(u, mesh, rows)), mesh, rows);
  };
  return trace(f, f32({devices * 512, 512}));
}

void weak_scaling(benchmark::State& state, const std::string& name, const Program& program) {
  static std::map<std::string, double> with_one;
  if (!client_of_eight()) {
    state.SkipWithError("there is no PJRT plugin: pip install --no-deps lammps-jax-pjrt-cpu");
    return;
  }
  const std::int64_t count = state.range(0);
  std::vector<pjrt::Device> devices = client_of_eight()->devices();
  devices.resize(static_cast<std::size_t>(count));
  const Mesh mesh({{"data", count}}, devices);
  const Function f = program(mesh, count);
  const Executable run = compile(f, {.mesh = mesh});
  std::vector<pjrt::ShardedArray> arguments;
  for (const TensorType& type : f.params()) {
    const Literal value = random::uniform(random::key(0), type).eval();
    // Weights are replicated; arguments with another sharding would be resharded through the host.
    std::vector<DimPartition> spec(type.shape.size(), std::nullopt);
    if (type.shape != kWeights) spec[0] = "data";
    arguments.emplace_back(value, mesh, spec);
  }
  double best = 1e9;
  const std::clock_t begin = std::clock();
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    for (const pjrt::ShardedArray& result : run.run_on_mesh(arguments)) result.await();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  const double work = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC /
                      static_cast<double>(state.iterations());
  if (count == 1) with_one[name] = work;
  state.counters["best_ms"] = best * 1e3;
  state.counters["work_ms"] = work * 1e3;
  state.counters["overhead"] = work / static_cast<double>(count) / with_one[name];
}

void add(const char* name, const Program& program) {
  benchmark::RegisterBenchmark(name,
                               [=](benchmark::State& state) { weak_scaling(state, name, program); })
      ->RangeMultiplier(2)
      ->Range(1, 8)
      ->Unit(benchmark::kMillisecond)
      ->MinTime(1)
      ->UseRealTime();
}

const int kAdded = [] {
  add("matmul", matmuls);
  add("training_step", training);
  add("thermal_ensemble", ensemble);
  add("stencil", stencil);
  return 0;
}();

}  // namespace
}  // namespace rondo
