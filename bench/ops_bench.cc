// Operations on large arrays: `ratio` compares the least time with that of plain loops, LAPACK,
// oneDNN or FFTW (those of them that the build has found), and for gradients with the value's own
// time. On one thread:
//
//     OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 ops_bench
//
// bench/fft_scipy.py has SciPy's times for the same transforms.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "race.h"
#include "rondo/rondo.h"

#ifdef RONDO_BENCH_FFTW
#include <fftw3.h>
#endif
#ifdef RONDO_BENCH_ONEDNN
#include <dnnl.hpp>
#endif

namespace rondo::bench {
namespace {

std::vector<float> numbers(std::int64_t n) {
  std::vector<float> x;
  for (std::int64_t i = 0; i < n; i++) x.push_back(std::sin(static_cast<float>(i % 9973) * 1.3f));
  return x;
}

/// The gradient of a weighted sum of f's elements, beside f.
template <class F>
void race_gradient(benchmark::State& state, const F& f, const Literal& argument) {
  const Executable value = compile(trace(f, argument.type()));
  const std::vector<Literal> arguments{argument};
  const Literal y = value.run(arguments)[0];
  const Literal weights = Literal::from(numbers(y.type().elements()), y.type().shape);
  const auto loss = [&](const Tensor& x) { return sum(f(x) * convert(weights, y.type().dtype)); };
  const Executable gradient =
      compile(trace([&](Tensor x) { return grad(loss)(x); }, argument.type()));
  race(state, gradient, arguments, [&] { benchmark::DoNotOptimize(value.run(arguments)); });
}

// FFT

#ifdef RONDO_BENCH_FFTW
void Fft(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  std::vector<std::complex<double>> x, y(static_cast<std::size_t>(n));
  for (const float v : numbers(n)) x.emplace_back(v, v * v);
  auto* const from = reinterpret_cast<fftw_complex*>(x.data());
  auto* const to = reinterpret_cast<fftw_complex*>(y.data());
  const auto plan = fftw_plan_dft_1d(static_cast<int>(n), from, to, FFTW_FORWARD, FFTW_ESTIMATE);
  const std::vector<Literal> arguments{Literal::from(x, {n})};
  const Executable program = compile(trace([](Tensor v) { return fft(v); }, arguments[0]));
  race(state, program, arguments, [&] { fftw_execute(plan); });
  fftw_destroy_plan(plan);
}
BENCHMARK(Fft)->RangeMultiplier(32)->Range(1 << 10, 1 << 20)->Unit(benchmark::kMicrosecond);
#endif

void FftGradient(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const auto power = [](const Tensor& x) { return real(fft(x) * conj(fft(x))); };
  race_gradient(state, power, Literal::from(numbers(n), {n}));
}
BENCHMARK(FftGradient)->Arg(1 << 10)->Arg(1 << 15)->Unit(benchmark::kMicrosecond);

// Convolutions of 8 images of 32 x 32, by kernels of size x size

constexpr std::int64_t kImages = 8, kSide = 32;

struct Images {
  std::int64_t size, features;
  Literal x, kernel;

  explicit Images(const benchmark::State& state)
      : size(state.range(0)),
        features(state.range(1)),
        x(Literal::from(numbers(kImages * kSide * kSide * features),
                        {kImages, kSide, kSide, features})),
        kernel(Literal::from(numbers(size * size * features * features),
                             {size, size, features, features})) {}

  Tensor convolved(const Tensor& images, const Tensor& by) const {
    const std::int64_t around = size / 2;
    return convolution(images, by, {.padding = {{around, around}, {around, around}}});
  }
};

#ifdef RONDO_BENCH_ONEDNN
/// oneDNN in its own layouts, to which arrays are converted before the measured time.
class WithOneDnn {
 public:
  explicit WithOneDnn(const Images& of) {
    using dnnl::memory;
    const memory::dims images{kImages, of.features, kSide, kSide};
    const memory::dims kernel{of.features, of.features, of.size, of.size};
    const memory::dims one{1, 1}, around{of.size / 2, of.size / 2};
    const auto type = memory::data_type::f32;
    const memory::desc nhwc(images, type, memory::format_tag::nhwc);
    const memory::desc any(kernel, type, memory::format_tag::any);
#if DNNL_VERSION_MAJOR < 3
    const dnnl::convolution_forward::primitive_desc primitive(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, nhwc, any, nhwc,
         one, around, around},
        engine_);
#else
    const dnnl::convolution_forward::primitive_desc primitive(
        engine_, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, nhwc, any,
        nhwc, one, around, around);
#endif
    convolution_ = dnnl::convolution_forward(primitive);
    memory x(nhwc, engine_), result(nhwc, engine_), weights(primitive.weights_desc(), engine_);
    const auto copied = [](const Literal& from, const memory& to) {
      const auto values = from.data<float>();
      std::copy(values.begin(), values.end(), static_cast<float*>(to.get_data_handle()));
    };
    copied(of.x, x);
    memory given({kernel, type, memory::format_tag::hwio}, engine_);
    copied(of.kernel, given);
    dnnl::reorder(given, weights).execute(stream_, given, weights);
    arrays_ = {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, result}};
  }

  void run() {
    convolution_.execute(stream_, arrays_);
    stream_.wait();
  }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::convolution_forward convolution_;
  std::unordered_map<int, dnnl::memory> arrays_;
};

void Convolution(benchmark::State& state) {
  const Images images(state);
  WithOneDnn other(images);
  const std::vector<Literal> arguments{images.x, images.kernel};
  const Executable program = compile(
      trace([&](Tensor x, Tensor k) { return images.convolved(x, k); }, images.x, images.kernel));
  race(state, program, arguments, [&] { other.run(); });
}
BENCHMARK(Convolution)->ArgsProduct({{1, 3}, {32, 64}})->Unit(benchmark::kMicrosecond);
#endif

/// With respect to the kernel.
void ConvolutionGradient(benchmark::State& state) {
  const Images images(state);
  const auto f = [&](const Tensor& kernel) { return images.convolved(images.x, kernel); };
  race_gradient(state, f, images.kernel);
}
BENCHMARK(ConvolutionGradient)->ArgsProduct({{1, 3}, {32, 64}})->Unit(benchmark::kMicrosecond);

// Factorisations

/// Symmetric, with a positive diagonal that dominates.
std::vector<double> matrix_of(std::int64_t n) {
  std::vector<double> a;
  for (std::int64_t i = 0; i < n; i++) {
    for (std::int64_t j = 0; j < n; j++)
      a.push_back(i == j ? static_cast<double>(n)
                         : std::sin(static_cast<double>(std::min(i, j) * 37 + std::max(i, j))));
  }
  return a;
}

enum class Factored { kCholesky, kLu, kEigh };

Tensor factor(Factored kind, const Tensor& a) {
  switch (kind) {
    case Factored::kCholesky:
      return cholesky(a);
    case Factored::kLu:
      return lu(a).lu;
    case Factored::kEigh:
      return eigh(a).vectors;
  }
  return a;
}

#ifdef RONDO_BENCH_LAPACK
extern "C" {
void dpotrf_(const char*, const int*, double*, const int*, int*);
void dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*,
             const int*, int*, const int*, int*);
}

void lapack(Factored kind, std::vector<double>& a, int n) {
  int failed = 0;
  std::vector<int> pivots(static_cast<std::size_t>(n));
  if (kind == Factored::kCholesky) return dpotrf_("U", &n, a.data(), &n, &failed);
  if (kind == Factored::kLu) return dgetrf_(&n, &n, a.data(), &n, pivots.data(), &failed);
  std::vector<double> values(static_cast<std::size_t>(n)), work(1);
  std::vector<int> integers(1);
  int sizes[] = {-1, -1};  // first the sizes that it wants
  for (int k = 0; k < 2; k++) {
    dsyevd_("V", "U", &n, a.data(), &n, values.data(), work.data(), &sizes[0], integers.data(),
            &sizes[1], &failed);
    if (k == 1) break;
    sizes[0] = static_cast<int>(work[0]);
    sizes[1] = integers[0];
    work.resize(static_cast<std::size_t>(sizes[0]));
    integers.resize(static_cast<std::size_t>(sizes[1]));
  }
}

void factorisation(benchmark::State& state, Factored kind) {
  const std::int64_t n = state.range(0);
  const std::vector<double> a = matrix_of(n);
  const std::vector<Literal> arguments{Literal::from(a, {n, n})};
  const Executable program =
      compile(trace([&](Tensor x) { return factor(kind, x); }, arguments[0]));
  race(state, program, arguments, [&] {
    std::vector<double> copy = a;
    lapack(kind, copy, static_cast<int>(n));
  });
}
void Cholesky(benchmark::State& state) { factorisation(state, Factored::kCholesky); }
void LuFactors(benchmark::State& state) { factorisation(state, Factored::kLu); }
void Eigenvectors(benchmark::State& state) { factorisation(state, Factored::kEigh); }
BENCHMARK(Cholesky)->Arg(64)->Arg(128)->Arg(512)->Unit(benchmark::kMicrosecond);
BENCHMARK(LuFactors)->Arg(64)->Arg(128)->Arg(512)->Unit(benchmark::kMicrosecond);
BENCHMARK(Eigenvectors)->Arg(64)->Arg(128)->Arg(512)->Unit(benchmark::kMicrosecond);
#endif

void factorisation_gradient(benchmark::State& state, Factored kind) {
  const std::int64_t n = state.range(0);
  race_gradient(
      state, [&](const Tensor& a) { return factor(kind, a); }, Literal::from(matrix_of(n), {n, n}));
}
void CholeskyGradient(benchmark::State& state) {
  factorisation_gradient(state, Factored::kCholesky);
}
void LuGradient(benchmark::State& state) { factorisation_gradient(state, Factored::kLu); }
void EigenvectorsGradient(benchmark::State& state) {
  factorisation_gradient(state, Factored::kEigh);
}
BENCHMARK(CholeskyGradient)->Arg(128)->Arg(512)->Unit(benchmark::kMicrosecond);
BENCHMARK(LuGradient)->Arg(128)->Arg(512)->Unit(benchmark::kMicrosecond);
BENCHMARK(EigenvectorsGradient)->Arg(128)->Arg(512)->Unit(benchmark::kMicrosecond);

// Order and segments of a million numbers, beside loops

constexpr std::int64_t kElements = 1'000'000;

void TopK(benchmark::State& state) {
  const std::int64_t k = state.range(0);
  const std::vector<float> x = numbers(kElements);
  using Entry = std::pair<float, std::int32_t>;
  std::vector<Entry> heap;
  const auto before = [](const Entry& a, const Entry& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  };
  const auto loop = [&] {
    heap.clear();
    for (std::size_t i = 0; i < x.size(); i++) {
      const Entry entry(x[i], static_cast<std::int32_t>(i));
      if (heap.size() == static_cast<std::size_t>(k)) {
        if (!before(entry, heap[0])) continue;
        std::pop_heap(heap.begin(), heap.end(), before);
        heap.pop_back();
      }
      heap.push_back(entry);
      std::push_heap(heap.begin(), heap.end(), before);
    }
    std::sort_heap(heap.begin(), heap.end(), before);
  };
  const std::vector<Literal> arguments{Literal::from(x, {kElements})};
  const Executable program = compile(trace([&](Tensor v) { return top_k(v, k); }, arguments[0]));
  race(state, program, arguments, loop);
  const auto places = program.run(arguments)[1];
  for (std::size_t i = 0; i < heap.size(); i++) {
    if (places.data<std::int32_t>()[i] != heap[i].second)
      state.SkipWithError("the loop finds other elements");
  }
}
BENCHMARK(TopK)->Arg(10)->Arg(1000)->Unit(benchmark::kMicrosecond);

void TopKGradient(benchmark::State& state) {
  race_gradient(
      state, [&](const Tensor& x) { return top_k(x, state.range(0)).first; },
      Literal::from(numbers(kElements), {kElements}));
}
BENCHMARK(TopKGradient)->Arg(10)->Arg(1000)->Unit(benchmark::kMicrosecond);

std::vector<std::int32_t> segments(std::int64_t n, std::int64_t count) {
  std::vector<std::int32_t> ids;
  for (std::int64_t i = 0; i < n; i++)
    ids.push_back(static_cast<std::int32_t>(i * 7919 % 104729 % count));
  return ids;
}

/// Rows of some numbers each.
void SegmentSum(benchmark::State& state) {
  const std::int64_t count = state.range(0), columns = state.range(1), rows = kElements / columns;
  const std::vector<float> x = numbers(rows * columns);
  const std::vector<std::int32_t> ids = segments(rows, count);
  std::vector<float> sums(static_cast<std::size_t>(count * columns));
  const auto loop = [&] {
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (std::int64_t i = 0; i < rows; i++) {
      float* const to = &sums[static_cast<std::size_t>(ids[static_cast<std::size_t>(i)] * columns)];
      for (std::int64_t j = 0; j < columns; j++)
        to[j] += x[static_cast<std::size_t>(i * columns + j)];
    }
    benchmark::DoNotOptimize(sums.data());
  };
  const std::vector<Literal> arguments{Literal::from(x, {rows, columns}),
                                       Literal::from(ids, {rows})};
  const Executable program = compile(trace(
      [&](Tensor v, Tensor to) { return segment_sum(v, to, count); }, arguments[0], arguments[1]));
  race(state, program, arguments, loop);
}
BENCHMARK(SegmentSum)->ArgsProduct({{100, 10000}, {1, 16}})->Unit(benchmark::kMicrosecond);

void SegmentSumGradient(benchmark::State& state) {
  const std::int64_t count = state.range(0), columns = state.range(1), rows = kElements / columns;
  const Literal ids = Literal::from(segments(rows, count), {rows});
  race_gradient(
      state, [&](const Tensor& x) { return segment_sum(x, ids, count); },
      Literal::from(numbers(rows * columns), {rows, columns}));
}
BENCHMARK(SegmentSumGradient)->ArgsProduct({{100, 10000}, {1, 16}})->Unit(benchmark::kMicrosecond);

/// Like NumPy's: where rounding puts an element beside its bin, the edges decide.
void Histogram(benchmark::State& state) {
  const std::int64_t bins = state.range(0);
  const std::vector<float> x = numbers(kElements);
  std::vector<std::int32_t> counts(static_cast<std::size_t>(bins));
  const auto loop = [&] {
    std::fill(counts.begin(), counts.end(), 0);
    const float all = static_cast<float>(bins), width = 2 / all;
    for (const float v : x) {
      if (!(v >= -1 && v <= 1)) continue;
      float bin = std::clamp(std::floor((v + 1) / 2 * all), 0.0f, all - 1);
      if (v < bin * width - 1)
        bin -= 1;
      else if (v >= (bin + 1) * width - 1 && bin < all - 1)
        bin += 1;
      counts[static_cast<std::size_t>(bin)]++;
    }
    benchmark::DoNotOptimize(counts.data());
  };
  const std::vector<Literal> arguments{Literal::from(x, {kElements})};
  const Executable program =
      compile(trace([&](Tensor v) { return histogram(v, bins, -1, 1); }, arguments[0]));
  race(state, program, arguments, loop);
  const auto got = program.run(arguments)[0];
  if (!std::equal(counts.begin(), counts.end(), got.data<std::int32_t>().begin()))
    state.SkipWithError("the loop counts differently");
}
BENCHMARK(Histogram)->Arg(20)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace rondo::bench
