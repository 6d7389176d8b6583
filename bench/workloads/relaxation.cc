// Equations on grids, relaxed until they hold.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> relaxation_workloads();  // a part of stencil_workloads

namespace {

/// Poisson's equation by Gauss-Seidel sweeps: first the cells of one colour of a chessboard, then
/// those of the other.
Workload red_and_black() {
  constexpr std::int64_t kSize = 64, kSweeps = 20;
  const auto program = [&](Tensor source) {
    const TensorType type = s32({kSize, kSize});
    const Tensor red = (iota(type, 0) + iota(type, 1)) % 2 == 0;
    const auto relaxed = [&](Tensor u) {
      const Tensor wide = pad(u, 0, {1, 1}, {1, 1});
      const Range inside = range(1, -1), before = range({}, -2), after = range(2);
      return 0.25 * (slice(wide, before, inside) + slice(wide, after, inside) +
                     slice(wide, inside, before) + slice(wide, inside, after) + source);
    };
    const auto sweep = [&](Tensor, Tensor u) {
      const Tensor half = where(red, relaxed(u), u);
      return where(red, half, relaxed(half));
    };
    return fori_loop(0, kSweeps, sweep, zeros(source.type()));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    constexpr std::ptrdiff_t kRow = kSize + 2;
    const double* source = arguments[0].data<double>().data();
    static double u[kRow * kRow];
    std::fill_n(u, kRow * kRow, 0.0);
    for (std::ptrdiff_t sweep = 0; sweep < kSweeps; sweep++) {
      for (std::ptrdiff_t colour = 0; colour < 2; colour++) {
        for (std::ptrdiff_t i = 0; i < kSize; i++) {
          double* row = u + (i + 1) * kRow + 1;
          for (std::ptrdiff_t j = (i + colour) % 2; j < kSize; j += 2)
            row[j] = 0.25 * (row[j - kRow] + row[j + kRow] + row[j - 1] + row[j + 1] +
                             source[i * kSize + j]);
        }
      }
    }
    Literal result = Literal::uninitialized(f64({kSize, kSize}));
    double* out = result.mutable_data<double>().data();
    for (std::ptrdiff_t i = 0; i < kSize; i++)
      std::copy_n(u + (i + 1) * kRow + 1, kSize, out + i * kSize);
    return {result};
  };
  return {.name = "stencils/red_and_black",
          .program = trace(program, f64({kSize, kSize})),
          .arguments = {uniform_doubles({kSize, kSize}, -1, 1)},
          .plain = plain};
}

/// A potential between electrodes: means of neighbours until they change by little.
Workload potential() {
  constexpr std::int64_t kSize = 48;
  constexpr double kLeast = 1e-4;
  const auto program = [&](Tensor start, Tensor fixed) {
    const auto changes = [&](Tensor, Tensor change, Tensor trips) {
      return (change > kLeast) & (trips < 2000);
    };
    const auto step = [&](Tensor u, Tensor, Tensor trips) {
      const Range inside = range(1, -1), before = range({}, -2), after = range(2);
      const Tensor mean = 0.25 * (slice(u, before, inside) + slice(u, after, inside) +
                                  slice(u, inside, before) + slice(u, inside, after));
      const Tensor old = slice(u, inside, inside);
      const Tensor next = where(slice(fixed, inside, inside), old, mean);
      return std::tuple(update(u, {inside, inside}, next), max(abs(next - old)), trips + 1);
    };
    const auto [u, change, trips] = while_loop(changes, step, std::tuple(start, 1.0, 0));
    return std::pair(u, trips);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto start = arguments[0].data<double>();
    const bool* fixed = arguments[1].data<bool>().data();
    static std::vector<double> now(kSize * kSize), after(kSize * kSize);
    std::copy(start.begin(), start.end(), now.begin());
    std::copy(start.begin(), start.end(), after.begin());
    double change = 1;
    std::int32_t trips = 0;
    for (; change > kLeast && trips < 2000; trips++) {
      change = 0;
      for (std::ptrdiff_t i = 1; i < kSize - 1; i++) {
        const double* u = now.data() + i * kSize;
        double* next = after.data() + i * kSize;
        for (std::ptrdiff_t j = 1; j < kSize - 1; j++) {
          const double mean = 0.25 * (u[j - kSize] + u[j + kSize] + u[j - 1] + u[j + 1]);
          next[j] = fixed[i * kSize + j] ? u[j] : mean;
          change = std::max(change, std::abs(next[j] - u[j]));
        }
      }
      std::swap(now, after);
    }
    return {Literal::from(now, {kSize, kSize}), Literal::scalar(trips)};
  };
  Literal start = Literal::zeros(f64({kSize, kSize})), fixed = Literal::zeros(pred({kSize, kSize}));
  const auto volts = start.mutable_data<double>();
  const auto is_fixed = fixed.mutable_data<bool>();
  for (std::size_t i = 10; i < 30; i++) {
    is_fixed[i * kSize + 12] = is_fixed[i * kSize + 35] = true;
    volts[i * kSize + 12] = 10, volts[i * kSize + 35] = -10;
  }
  return {.name = "stencils/potential",
          .program = trace(program, start.type(), fixed.type()),
          .arguments = {start, fixed},
          .plain = plain};
}

// One level of a multigrid cycle for -u'' = f between two ends at zero, with 2^k - 1 points.
Tensor multigrid_cycle(Tensor u, const Tensor& f, double width) {
  const auto neighbours = [](const Tensor& x) {
    const Tensor wide = pad(x, 0, {1}, {1});
    return slice(wide, range({}, -2)) + slice(wide, range(2));
  };
  const double square = width * width;
  const auto smooth = [&](Tensor, Tensor x) {
    return x + 1.0 / 3 * (neighbours(x) + square * f - 2 * x);
  };
  if (u.dim(0) == 1) return 0.5 * square * f;
  u = fori_loop(0, 3, smooth, u);
  const Tensor off = f - (2 * u - neighbours(u)) / square;
  const Tensor coarse = 0.25 * (slice(off, range({}, -2, 2)) + slice(off, range(2, {}, 2))) +
                        0.5 * slice(off, range(1, {}, 2));
  const Tensor change = multigrid_cycle(zeros(coarse.type()), coarse, 2 * width);
  const Tensor spread = pad(change, 0, {1}, {1}, {1});  // a zero beside each
  u = u + spread + 0.5 * neighbours(spread);
  return fori_loop(0, 3, smooth, u);
}

/// Poisson's equation on a line by cycles through grids of half the size each.
Workload multigrid() {
  constexpr std::int64_t kPoints = 1023, kCycles = 10;
  const auto program = [&](Tensor f) {
    return fori_loop(
        0, kCycles, [&](Tensor, Tensor u) { return multigrid_cycle(u, f, 1.0 / (kPoints + 1)); },
        zeros(f.type()));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    constexpr int kLevels = 10, kWidest = kPoints + 2;  // with both ends
    static double u[kLevels][kWidest], f[kLevels][kWidest], next[kWidest];
    const auto smooth = [](double* x, const double* right, int points, double square) {
      for (std::ptrdiff_t trip = 0; trip < 3; trip++) {
        for (std::ptrdiff_t i = 1; i <= points; i++)
          next[i] = x[i] + 1.0 / 3 * (x[i - 1] + x[i + 1] + square * right[i] - 2 * x[i]);
        std::copy_n(next + 1, points, x + 1);
      }
    };
    const auto given = arguments[0].data<double>();
    std::copy(given.begin(), given.end(), f[0] + 1);
    std::fill_n(u[0], kWidest, 0.0);
    for (std::ptrdiff_t cycle = 0; cycle < kCycles; cycle++) {
      double width = 1.0 / (kPoints + 1);
      int points = kPoints, level = 0;
      for (; points > 1; level++, points /= 2, width *= 2) {
        const double square = width * width;
        double *x = u[level], *right = f[level];
        smooth(x, right, points, square);
        double* off = next;
        for (std::ptrdiff_t i = 1; i <= points; i++)
          off[i] = right[i] - (2 * x[i] - x[i - 1] - x[i + 1]) / square;
        for (std::ptrdiff_t i = 1; i <= points / 2; i++)
          f[level + 1][i] = 0.25 * (off[2 * i - 1] + off[2 * i + 1]) + 0.5 * off[2 * i];
        std::fill_n(u[level + 1], points / 2 + 2, 0.0);
      }
      u[level][1] = 0.5 * width * width * f[level][1];
      while (level-- > 0) {
        points = 2 * points + 1;
        width /= 2;
        double* x = u[level];
        const double* change = u[level + 1];
        for (std::ptrdiff_t i = 0; i <= points / 2; i++) {
          x[2 * i] += change[i];
          x[2 * i + 1] += 0.5 * (change[i] + change[i + 1]);
        }
        smooth(x, f[level], points, width * width);
      }
    }
    return {Literal::from(std::span<const double>(u[0] + 1, kPoints), {kPoints})};
  };
  return {.name = "stencils/multigrid",
          .program = trace(program, f64({kPoints})),
          .arguments = {uniform_doubles({kPoints}, -1, 1)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> relaxation_workloads() { return {red_and_black(), potential(), multigrid()}; }

}  // namespace rondo::bench
