// The speed of reading and printing programs: instructions and bytes per second of each format.
//
//     texts_bench --benchmark_filter=Read
//
// "chain" is elementwise ops without attributes, "mixed" has slices, products, reductions and
// selections, "constants" has large arrays. An artifact is a file: RONDO_ARTIFACT=program.mlirbc.
// What is read is written to the folder RONDO_TEXTS, if it is set, for bench/parse_with_jax.py.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "rondo/rondo.h"
#include "rondo/text.h"

namespace rondo {
namespace {

Function chain(int ops) {
  return trace(
      [&](Tensor x, Tensor a, Tensor b) {
        for (int i = 0; i < ops / 2; i++) x = x * a + b;
        return x;
      },
      f32({128}), f32({128}), f32({128}));
}

Function mixed(int trips) {
  return trace(
      [&](Tensor x, Tensor w) {
        for (int i = 0; i < trips; i++) {
          const Tensor part =
              transpose(pad(slice(x, {0, 0}, {8, 8}), 0, {0, 0}, {8, 8}, {0, 0}), {1, 0});
          x = matmul(part, w) + broadcast_in_dim(sum(x, {1}), Shape{16, 16}, {0});
          x = where(x < w, x, w);
          x = concatenate({slice(x, {0, 0}, {8, 16}), slice(x, {8, 0}, {16, 16})}, 0);
        }
        return x;
      },
      f32({16, 16}), f32({16, 16}));
}

/// Numbers of all lengths.
Function constants(std::int64_t elements) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < elements; i++)
    values.push_back(static_cast<float>(i) * (i % 3 == 0 ? 0.1f : 1e-5f) - 7);
  const Literal literal = Literal::from(values, {elements});
  return trace([&](Tensor x) { return x + Tensor(literal); }, f32({elements}));
}

Function program(int which) {
  constexpr std::int64_t kElements = 1'000'000;
  return which == 0 ? chain(10'000) : which == 1 ? mixed(1'000) : constants(kElements);
}
constexpr const char* kPrograms[] = {"chain", "mixed", "constants"};

struct Format {
  const char* name;
  const char* ending;  // of a file
  std::string (*print)(const Function&);
  Function (*read)(std::string_view);
};
constexpr Format kFormats[] = {
    {"hlo", "hlo", [](const Function& f) { return to_hlo_text(f); },
     [](std::string_view text) { return parse_hlo_text(text); }},
    {"stablehlo", "mlir", [](const Function& f) { return to_stablehlo_text(f); },
     [](std::string_view text) { return parse_stablehlo_text(text); }},
    {"ir", "txt", [](const Function& f) { return to_text(f, {.full = true}); },
     [](std::string_view text) { return parse_text(text); }},
};

/// Bytes and lines, of which nearly each has an instruction.
void set_rates(benchmark::State& state, const std::string& text) {
  const auto lines = std::count(text.begin(), text.end(), '\n');
  const auto times = static_cast<std::int64_t>(state.iterations());
  state.SetBytesProcessed(times * static_cast<std::int64_t>(text.size()));
  state.SetItemsProcessed(times * lines);
}

void Print(benchmark::State& state, int which, const Format& format) {
  const Function function = program(which);
  std::string text;
  for (auto _ : state) benchmark::DoNotOptimize(text = format.print(function));
  set_rates(state, text);
}

void Read(benchmark::State& state, int which, const Format& format) {
  const std::string text = format.print(program(which));
  if (const char* folder = std::getenv("RONDO_TEXTS")) {
    std::ofstream file(std::string(folder) + '/' + kPrograms[which] + '.' + format.ending);
    file << text;
  }
  for (auto _ : state) benchmark::DoNotOptimize(format.read(text));
  set_rates(state, text);
}

void ReadArtifact(benchmark::State& state, const std::string& path) {
  std::string text;
  for (auto _ : state) {
    const Function function = load_program(path);
    if (text.empty()) text = to_text(function);
  }
  set_rates(state, text);
}

const bool registered = [] {
  for (int which = 0; which < 3; which++) {
    for (const Format& format : kFormats) {
      const std::string name = std::string(format.name) + "/" + kPrograms[which];
      for (const bool reads : {false, true}) {
        benchmark::RegisterBenchmark(
            ((reads ? "Read/" : "Print/") + name).c_str(),
            [=](benchmark::State& state) { (reads ? Read : Print)(state, which, format); })
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  if (const char* path = std::getenv("RONDO_ARTIFACT")) {
    benchmark::RegisterBenchmark("Read/artifact", [=](benchmark::State& state) {
      ReadArtifact(state, path);
    })->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace rondo
