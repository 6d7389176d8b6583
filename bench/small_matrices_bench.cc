// Systems of 4 and 6 equations in each trip of a scan, compared with Eigen's matrices of fixed
// sizes, which are compiled with this program: the counter `ratio`. For one scan and for 64 of
// them, and gradients, which have Eigen's time for the values beside them.
#include <benchmark/benchmark.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "race.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

constexpr std::int64_t kTrips = 200;

enum class Method { kCholesky, kLu };

/// A matrix with 2 n on the diagonal, symmetric for Cholesky's method.
double base_at(Method method, std::int64_t n, std::int64_t i, std::int64_t j) {
  if (i == j) return 2.0 * static_cast<double>(n);
  if (method == Method::kCholesky && i < j) std::swap(i, j);
  return std::sin(static_cast<double>(3 * i + j));
}
double start_at(std::int64_t lane, std::int64_t i) {
  return 0.5 + std::cos(static_cast<double>(lane + 5 * i));
}

/// x of each trip solves (base + x x^T) x = [1, 1, ...].
Tensor last_of_scan(Method method, const Tensor& base, const Tensor& start) {
  const std::int64_t n = start.dim(0);
  const auto step = [&](Tensor, Tensor x) {
    const Tensor a = base + outer(x, x), ones_of = ones(f64({n}));
    return method == Method::kCholesky ? cho_solve(cholesky(a), ones_of) : solve(a, ones_of);
  };
  return fori_loop(0, kTrips, step, start);
}

template <int n>
void with_eigen(Method method, std::int64_t lanes, std::vector<double>& results) {
  using Matrix = Eigen::Matrix<double, n, n>;
  using Vector = Eigen::Matrix<double, n, 1>;
  Matrix base;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) base(i, j) = base_at(method, n, i, j);
  }
  const Vector ones_of = Vector::Ones();
  for (std::int64_t lane = 0; lane < lanes; lane++) {
    Vector x;
    for (int i = 0; i < n; i++) x[i] = start_at(lane, i);
    for (std::int64_t trip = 0; trip < kTrips; trip++) {
      const Matrix a = base + x * x.transpose();
      if (method == Method::kCholesky)
        x = a.llt().solve(ones_of);
      else
        x = a.partialPivLu().solve(ones_of);
    }
    for (int i = 0; i < n; i++) results[static_cast<std::size_t>(lane * n + i)] = x[i];
  }
}

void solve_in_scan(benchmark::State& state, Method method, bool differentiates) {
  const std::int64_t n = state.range(0), lanes = state.range(1);
  std::vector<double> base, start, want(static_cast<std::size_t>(n * lanes));
  for (std::int64_t i = 0; i < n * n; i++) base.push_back(base_at(method, n, i / n, i % n));
  for (std::int64_t i = 0; i < n * lanes; i++) start.push_back(start_at(i / n, i % n));
  const auto value = [=](Tensor matrix, Tensor x) {
    const auto one = [&](Tensor own) { return last_of_scan(method, matrix, own); };
    return lanes == 1 ? expand_dims(one(x[0]), 0) : vmap(one)(x);
  };
  const auto gradient = [=](Tensor matrix, Tensor x) {
    return grad<0>([&](Tensor m, Tensor y) { return sum(value(m, y)); })(matrix, x);
  };
  const Literal matrix = Literal::from(base, {n, n}), x = Literal::from(start, {lanes, n});
  Executable program;
  const double compiling = bench::seconds_of([&] {
    program = compile(differentiates ? trace(gradient, matrix, x) : trace(value, matrix, x));
  });
  const std::vector<Literal> arguments{matrix, x};
  const auto eigen = [&] {
    n == 4 ? with_eigen<4>(method, lanes, want) : with_eigen<6>(method, lanes, want);
  };
  eigen();
  if (!differentiates) {
    const Literal got = program.run(arguments)[0];
    for (std::size_t i = 0; i < want.size(); i++) {
      if (std::abs(got.data<double>()[i] - want[i]) <= 1e-12) continue;
      state.SkipWithError("Eigen computes something else");
      return;
    }
  }
  bench::race(state, program, arguments, [&] {
    eigen();
    benchmark::DoNotOptimize(want.data());
  });
  state.counters["ns_per_solve"] =
      state.counters["us"].value * 1e3 / static_cast<double>(lanes * kTrips);
  state.counters["compile_ms"] = compiling * 1e3;
}

#define RONDO_SOLVES(name, method, differentiates)                                             \
  void name(benchmark::State& state) { solve_in_scan(state, Method::method, differentiates); } \
  BENCHMARK(name)->ArgsProduct({{4, 6}, {1, 64}})->Unit(benchmark::kMicrosecond)
RONDO_SOLVES(ScanOfCholeskySolves, kCholesky, false);
RONDO_SOLVES(ScanOfLuSolves, kLu, false);
RONDO_SOLVES(ScanOfCholeskySolvesGradient, kCholesky, true);
RONDO_SOLVES(ScanOfLuSolvesGradient, kLu, true);

}  // namespace
}  // namespace rondo
