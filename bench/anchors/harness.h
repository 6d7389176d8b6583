// The clock, the inputs and the JSON lines of the anchors: the workloads on which Rondo is compared
// with other systems. A line is
//   {"work": ..., "peer": "rondo", "figure": median, "unit": ..., "n": samples, "min": ..., "max":
//   ..., "threads": ..., "check": sum of the results}
// ANCHOR_ONLY (a regular expression) selects works, ANCHOR_REPEATS sets the number of samples,
// ANCHOR_THREADS the threads of a run.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "rondo/rondo.h"

namespace anchors {

inline std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}
inline int threads() { return std::atoi(setting("ANCHOR_THREADS", "1").c_str()); }
inline int repeats() { return std::max(1, std::atoi(setting("ANCHOR_REPEATS", "9").c_str())); }
inline bool wanted(const std::string& work) {
  static const std::regex only(setting("ANCHOR_ONLY", ""));
  return std::regex_search(work, only);
}
/// jit, with the number of threads in ANCHOR_THREADS for each run.
template <class F>
auto jitted(F f) {
  return rondo::jit(std::move(f), {.run = {.threads = threads()}});
}
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// n numbers in [low, high), the same for every system: 24 bits of a hash of the index and the
/// seed.
inline std::vector<float> fill(std::size_t n, std::uint32_t seed, float low = 0, float high = 1) {
  std::vector<float> numbers(n);
  for (std::size_t i = 0; i < n; i++) {
    std::uint32_t u = static_cast<std::uint32_t>(i) * 2654435761u + seed;
    u = (u ^ (u >> 16)) * 0x85EBCA6Bu;
    u = (u ^ (u >> 13)) * 0xC2B2AE35u;
    u = (u ^ (u >> 16)) >> 8;
    numbers[i] = low + static_cast<float>(u) * 0x1p-24f * (high - low);
  }
  return numbers;
}

inline rondo::Literal literal(const std::vector<float>& values, const rondo::Shape& shape) {
  return rondo::Literal::from(values, shape);
}

/// The sum of all elements.
inline double check_sum(const rondo::Tensor& tensor) {
  const rondo::Literal value = tensor.eval();
  const auto sum = [](auto data) {
    double total = 0;
    for (auto x : data) total += static_cast<double>(x);
    return total;
  };
  switch (value.dtype()) {
    case rondo::DType::kF32:
      return sum(value.data<float>());
    case rondo::DType::kF64:
      return sum(value.data<double>());
    case rondo::DType::kU32:
      return sum(value.data<std::uint32_t>());
    default:
      return sum(value.data<std::int32_t>());
  }
}

inline double scale_of(const std::string& unit) {
  return unit.starts_with("ns") ? 1e9 : unit.starts_with("us") ? 1e6 : 1e3;
}

inline void print_line(const std::string& work, std::vector<double> figures,
                       const std::string& unit, const double* check) {
  std::sort(figures.begin(), figures.end());
  std::printf(
      R"({"work": "%s", "peer": "rondo", "figure": %.4g, "unit": "%s", "n": %zu, "min": %.4g, "max": %.4g, "threads": %d)",
      work.c_str(), figures[figures.size() / 2], unit.c_str(), figures.size(), figures.front(),
      figures.back(), threads());
  if (check) std::printf(R"(, "check": %.7g)", *check);
  std::puts("}");
  std::fflush(stdout);
}

/// Times `call`, warmed up by one call; each sample is as many calls as take 20 ms. A call of over
/// two seconds is sampled once. `check` returns the sum of the results, computed outside the
/// timing.
inline void time_it(const std::string& work, const std::string& unit,
                    const std::function<void()>& call, const std::function<double()>& check = {},
                    double per = 1) {
  if (!wanted(work)) return;
  double start = now();
  call();
  start = now();
  call();
  const double took = now() - start;
  const int samples = took > 2 ? 1 : repeats();
  const int calls = std::max(1, static_cast<int>(0.02 / std::max(took, 1e-8)));
  std::vector<double> figures;
  for (int s = 0; s < samples; s++) {
    start = now();
    for (int i = 0; i < calls; i++) call();
    figures.push_back((now() - start) / calls * scale_of(unit) / per);
  }
  const double sum = check ? check() : 0;
  print_line(work, figures, unit, check ? &sum : nullptr);
}

/// The thermal loop, jitted, called once and printed: the work of a process for first_call_process.
void first_call();

void loops();
void arrays();
void gradients();
void texts();

}  // namespace anchors
