// Counted loops over single elements, as a C programmer writes them, compared with the same loops
// in C++ that are compiled with this program: the counter `ratio`.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "race.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

constexpr std::int64_t kCount = 4096, kSide = 128;

Literal numbers(const Shape& shape) {
  Literal x = Literal::zeros({DType::kF32, shape});
  std::int64_t at = 0;
  for (float& element : x.mutable_data<float>())
    element = 1.0f + 0.37f * static_cast<float>(at++ * 7919 % 1013);
  return x;
}

struct ElementProgram {
  std::string name;
  Shape shape;  // of the argument
  std::function<Tensor(Tensor)> traced;
  /// From the argument to memory of its size.
  std::function<void(const float*, float*)> plain;
};

Tensor for_square(const Tensor& x, std::int64_t low, std::int64_t high,
                  const std::function<Tensor(Tensor, Tensor, Tensor)>& body) {
  const auto row = [&](Tensor i, Tensor y) {
    return fori_loop(
        low, high, [&](Tensor j, Tensor z) { return body(i, j, z); }, y);
  };
  return fori_loop(low, high, row, x);
}

std::vector<ElementProgram> in_one_axis() {
  return {
      {"axpy",
       {kCount},
       [](Tensor x) {
         const auto body = [&](Tensor i, Tensor y) { return update(y, i, 2.0f * x[i] + y[i]); };
         return fori_loop(0, kCount, body, x);
       },
       [](const float* x, float* y) {
         std::copy(x, x + kCount, y);
         for (std::int64_t i = 0; i < kCount; i++) y[i] = 2 * x[i] + y[i];
       }},
      {"next",
       {kCount},
       [](Tensor x) {
         const auto body = [](Tensor i, Tensor y) { return update(y, i, y[i + 1] + y[i]); };
         return fori_loop(0, kCount - 1, body, x);
       },
       [](const float* x, float* y) {
         std::copy(x, x + kCount, y);
         for (std::int64_t i = 0; i < kCount - 1; i++) y[i] = y[i + 1] + y[i];
       }},
      {"branch",
       {kCount},
       [](Tensor x) {
         const auto body = [](Tensor i, Tensor y) {
           return cond(
               y[i] > 100.0f, [&] { return update(y, i, sqrt(y[i])); }, [&] { return y; });
         };
         return fori_loop(0, kCount, body, x);
       },
       [](const float* x, float* y) {
         std::copy(x, x + kCount, y);
         for (std::int64_t i = 0; i < kCount; i++) {
           if (y[i] > 100) y[i] = std::sqrt(y[i]);
         }
       }},
      {"count_and_extremes",
       {kCount},
       [](Tensor x) {
         using State = std::tuple<Tensor, Tensor, Tensor>;
         const auto body = [&](Tensor i, State state) {
           const auto [count, low, high] = state;
           return State(count + where(x[i] > 100.0f, 1, 0), minimum(low, x[i]),
                        maximum(high, x[i]));
         };
         const auto [count, low, high] = fori_loop(0, kCount, body, State(Tensor(0), x[0], x[0]));
         return convert(count, DType::kF32) + low + high;
       },
       [](const float* x, float* y) {
         int count = 0;
         float low = x[0], high = x[0];
         for (std::int64_t i = 0; i < kCount; i++) {
           count += x[i] > 100 ? 1 : 0;
           low = std::min(low, x[i]);
           high = std::max(high, x[i]);
         }
         y[0] = static_cast<float>(count) + low + high;
       }},
      {"polynomials",
       {kCount},
       [](Tensor x) {
         const auto body = [&](Tensor i, Tensor y) {
           const Tensor t = x[i] * 0.001f;
           const auto horner = [&](Tensor, Tensor sum) { return sum * t + 0.5f; };
           return update(y, i, fori_loop(0, 8, horner, Tensor(1.0f)));
         };
         return fori_loop(0, kCount, body, x);
       },
       [](const float* x, float* y) {
         for (std::int64_t i = 0; i < kCount; i++) {
           const float t = x[i] * 0.001f;
           float sum = 1;
           for (int k = 0; k < 8; k++) sum = sum * t + 0.5f;
           y[i] = sum;
         }
       }},
      {"filter_of_16_taps",
       {kCount},
       [](Tensor x) {
         const auto body = [&](Tensor i, Tensor y) {
           const auto tap = [&](Tensor k, Tensor sum) { return sum + x[i + k] * x[k]; };
           return update(y, i, fori_loop(0, 16, tap, Tensor(0.0f)));
         };
         return fori_loop(0, kCount - 16, body, x);
       },
       [](const float* x, float* y) {
         for (std::int64_t i = 0; i < kCount - 16; i++) {
           float sum = 0;
           for (std::int64_t k = 0; k < 16; k++) sum += x[i + k] * x[k];
           y[i] = sum;
         }
       }},
      {"running_sum",
       {kCount},
       [](Tensor x) {
         const auto body = [](Tensor i, Tensor y) { return update(y, i, y[i - 1] + y[i]); };
         return fori_loop(1, kCount, body, x);
       },
       [](const float* x, float* y) {
         std::copy(x, x + kCount, y);
         for (std::int64_t i = 1; i < kCount; i++) y[i] += y[i - 1];
       }},
  };
}

std::vector<ElementProgram> in_two_axes() {
  return {
      {"five_point_stencil",
       {kSide, kSide},
       [](Tensor a) {
         return for_square(a, 1, kSide - 1, [&](Tensor i, Tensor j, Tensor c) {
           const Tensor around = a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1];
           return update(c, {i, j}, a[i][j] + 0.1f * (around - 4.0f * a[i][j]));
         });
       },
       [](const float* a, float* c) {
         for (std::int64_t i = 1; i < kSide - 1; i++) {
           for (std::int64_t at = i * kSide + 1; at < (i + 1) * kSide - 1; at++)
             c[at] =
                 a[at] + 0.1f * (a[at - kSide] + a[at + kSide] + a[at - 1] + a[at + 1] - 4 * a[at]);
         }
       }},
      {"shortest_paths",
       {kSide, kSide},
       [](Tensor a) {
         const auto through = [](Tensor k, Tensor c) {
           const auto row = [&](Tensor i, Tensor d) {
             const Tensor to = d[i][k];
             const auto element = [&](Tensor j, Tensor e) {
               return update(e, {i, j}, minimum(e[i][j], to + e[k][j]));
             };
             return fori_loop(0, kSide, element, d);
           };
           return fori_loop(0, kSide, row, c);
         };
         return fori_loop(0, kSide, through, a);
       },
       [](const float* a, float* c) {
         std::copy(a, a + kSide * kSide, c);
         for (std::int64_t k = 0; k < kSide; k++) {
           for (std::int64_t i = 0; i < kSide; i++) {
             const float to = c[i * kSide + k];
             for (std::int64_t j = 0; j < kSide; j++)
               c[i * kSide + j] = std::min(c[i * kSide + j], to + c[k * kSide + j]);
           }
         }
       }},
      {"elimination",
       {kSide, kSide},
       [](Tensor a) {
         const auto below = [](Tensor k, Tensor x) {
           const auto row = [&](Tensor i, Tensor y) {
             const Tensor factor = y[i][k] * 0.001f;
             const auto element = [&](Tensor j, Tensor z) {
               return update(z, {i, j}, z[i][j] - factor * z[k][j]);
             };
             return fori_loop(k + 1, kSide, element, y);
           };
           return fori_loop(k + 1, kSide, row, x);
         };
         return fori_loop(0, kSide, below, a);
       },
       [](const float* a, float* c) {
         std::copy(a, a + kSide * kSide, c);
         for (std::int64_t k = 0; k < kSide; k++) {
           for (std::int64_t i = k + 1; i < kSide; i++) {
             const float factor = c[i * kSide + k] * 0.001f;
             for (std::int64_t j = k + 1; j < kSide; j++)
               c[i * kSide + j] -= factor * c[k * kSide + j];
           }
         }
       }},
  };
}

/// Fails where the first element, or one in the middle, is not that of the plain loop.
void compare(benchmark::State& state, const Literal& got, const std::vector<float>& want) {
  const auto values = got.data<float>();
  for (const std::size_t at : {std::size_t{0}, values.size() / 2}) {
    if (!(std::abs(values[at] - want[at]) <= 1e-4f * std::abs(want[at])))
      state.SkipWithError("the results differ");
  }
}

void run(benchmark::State& state, const ElementProgram& program) {
  const Literal x = numbers(program.shape);
  const Executable compiled = compile(trace(program.traced, x.type()));
  const auto from = x.data<float>();
  std::vector<float> to(from.begin(), from.end());
  program.plain(from.data(), to.data());
  compare(state, compiled.run({x})[0], to);
  bench::race(state, compiled, {x}, [&] {
    program.plain(from.data(), to.data());
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  });
}

const bool kRegistered = [] {
  for (const auto& programs : {in_one_axis(), in_two_axes()}) {
    for (const ElementProgram& program : programs)
      benchmark::RegisterBenchmark(program.name.c_str(),
                                   [program](benchmark::State& state) { run(state, program); });
  }
  return true;
}();

}  // namespace
}  // namespace rondo
