// How benchmarks compare a program with what it competes with: runs of both alternate, and the
// least times of each are compared.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "rondo/rondo.h"

namespace rondo::bench {

inline double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Counters: `ratio` of the program's least time to that of `other`, and its own, `us`.
inline void race(benchmark::State& state, const Executable& program,
                 const std::vector<Literal>& arguments, const std::function<void()>& other) {
  double least = 1e30, least_of_other = 1e30;
  for (auto _ : state) {
    least = std::min(least, seconds_of([&] { benchmark::DoNotOptimize(program.run(arguments)); }));
    least_of_other = std::min(least_of_other, seconds_of(other));
  }
  state.counters["ratio"] = least / least_of_other;
  state.counters["us"] = least * 1e6;
}

}  // namespace rondo::bench
