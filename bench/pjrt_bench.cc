// Real XLA through a PJRT plugin compared with the built-in executor: the cost of a call, the size
// from which the plugin's code is faster, the cost of copies and compilations. The processor time
// is that of all threads.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "rondo/rondo.h"

namespace rondo {
namespace {

/// No device if there is no plugin.
const pjrt::Device& plugin_device() {
  static const pjrt::Device device =
      pjrt::find_plugins().empty()
          ? pjrt::Device()
          : pjrt::Client(pjrt::load_plugin(), {{"cpu_device_count", 1}}).devices()[0];
  return device;
}

Literal wave(const TensorType& type) {
  return (sin(reshape(arange(type.elements(), DType::kF32), type.shape.vector())) * 0.5).eval();
}

/// Only the function, on arguments in the memory of its device.
void run(benchmark::State& state, const Function& function, bool on_plugin) {
  std::vector<Literal> arguments;
  for (const TensorType& type : function.params()) arguments.push_back(wave(type));
  if (!on_plugin) {
    const Executable executable = compile(function);
    for (auto _ : state) benchmark::DoNotOptimize(executable.run(arguments));
    return;
  }
  const Executable executable = compile(function, {.device = plugin_device()});
  std::vector<pjrt::DeviceArray> arrays;
  for (const Literal& argument : arguments) arrays.emplace_back(argument, plugin_device());
  for (auto _ : state) {
    for (const pjrt::DeviceArray& result : executable.run_on_device(arrays)) result.await();
  }
}

Function elements(std::int64_t n) {
  return trace([](Tensor x) { return tanh(x) * x + exp(-x * x); }, f32({n}));
}
Function product(std::int64_t n) {
  return trace([](Tensor a, Tensor b) { return matmul(a, b); }, f32({n, n}), f32({n, n}));
}
Function trips(std::int64_t n) {
  return trace(
      [n](Tensor x) {
        return fori_loop(
            0, n, [](Tensor, Tensor s) { return s * 0.999f + 0.25f; }, x);
      },
      f32());
}
Function cells(std::int64_t n) {
  return trace(
      [](Tensor w, Tensor h) {
        return fori_loop(
            0, 100, [&](Tensor, Tensor s) { return tanh(matmul(w, s) + s); }, h);
      },
      f32({n, n}), f32({n, 1}));
}

/// A call of a jitted function, on a value that the last call left on its device.
void call(benchmark::State& state, bool on_plugin) {
  const auto f = jit([](Tensor x) { return x * 0.5f + 1; },
                     {.device = on_plugin ? plugin_device() : pjrt::Device()});
  Tensor x = 1.0f;
  for (auto _ : state) {
    x = f(x);
    if (on_plugin) pjrt::DeviceArray(x, plugin_device()).await();
  }
}

void upload(benchmark::State& state, std::int64_t n) {
  const Literal literal = wave(f32({n}));
  for (auto _ : state) pjrt::DeviceArray(literal, plugin_device()).await();
}
void download(benchmark::State& state, std::int64_t n) {
  const pjrt::DeviceArray array(wave(f32({n})), plugin_device());
  for (auto _ : state) benchmark::DoNotOptimize(array.to_literal());
}

Function thermal() {
  return trace(
      value_and_grad([](Tensor tank) {
        return fori_loop(
            0, 100,
            [&](Tensor, Tensor slab) { return slab + 0.1f * (tank - slab) * exp(-0.01f * slab); },
            tank * 0.5f);
      }),
      f32());
}
void compile_it(benchmark::State& state, bool on_plugin) {
  const Function function = thermal();
  const CompileOptions options{.device = on_plugin ? plugin_device() : pjrt::Device()};
  for (auto _ : state) benchmark::DoNotOptimize(compile(function, options));
}
/// Loads from the folder of compiled programs.
void load_it(benchmark::State& state) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("rondo_bench" + std::to_string(getpid()));
  setenv("RONDO_CACHE_DIR", folder.c_str(), 1);
  const Executable first = compile(thermal(), {.device = plugin_device()});
  compile_it(state, true);
  unsetenv("RONDO_CACHE_DIR");
  fs::remove_all(folder);
}

template <class... Arguments>
void add(const std::string& name, Arguments... arguments) {
  benchmark::RegisterBenchmark(name.c_str(), arguments...)->MeasureProcessCPUTime();
}

void add_both(const std::string& name, Function (*program)(std::int64_t),
              const std::vector<std::int64_t>& sizes) {
  for (const std::int64_t n : sizes) {
    for (const bool on_plugin : {false, true}) {
      if (on_plugin && !plugin_device()) continue;
      add(name + "/" + std::to_string(n) + (on_plugin ? "/plugin" : "/built_in"),
          [=](benchmark::State& state) { run(state, program(n), on_plugin); });
    }
  }
}

[[maybe_unused]] const bool kRegistered = [] {
  add_both("elements", elements, {1, 1 << 10, 1 << 15, 1 << 20});
  add_both("product", product, {8, 64, 256, 512});
  add_both("scalar_trips", trips, {10, 1000, 1000000});
  add_both("recurrent_cell_100_trips", cells, {8, 64, 256});
  add("call/built_in", call, false);
  add("compile/built_in", compile_it, false);
  if (!plugin_device()) return false;
  add("call/plugin", call, true);
  add("compile/plugin", compile_it, true);
  add("load_from_disk/plugin", load_it);
  for (const std::int64_t n : {1, 1 << 10, 1 << 20}) {
    add("upload/" + std::to_string(n), upload, n);
    add("download/" + std::to_string(n), download, n);
  }
  return true;
}();

}  // namespace
}  // namespace rondo
