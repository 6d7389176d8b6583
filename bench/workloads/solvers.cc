// Iterations with matrices that are given by their products or their diagonals.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> solver_workloads();  // a part of matrix_workloads

namespace {

/// The greatest eigenvalue of a symmetric matrix and its vector, until it changes by little.
Workload power_iteration() {
  constexpr std::int64_t kSize = 160;
  const auto program = [&](Tensor matrix) {
    const auto moves = [](Tensor, Tensor value, Tensor last, Tensor trips) {
      return (abs(value - last) > 1e-12 * abs(value)) & (trips < 500);
    };
    const auto step = [&](Tensor v, Tensor value, Tensor, Tensor trips) {
      const Tensor image = dot(matrix, v);
      return std::tuple(image / norm(image), dot(v, image), value, trips + 1);
    };
    const Tensor start = full(f64({kSize}), 1 / std::sqrt(double(kSize)));
    const auto [v, value, last, trips] = while_loop(moves, step, std::tuple(start, 0.0, 1.0, 0));
    return std::tuple(v, value, trips);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const double* a = arguments[0].data<double>().data();
    double v[kSize], image[kSize], value = 0, last = 1;
    std::fill_n(v, kSize, 1 / std::sqrt(double(kSize)));
    std::int32_t trips = 0;
    for (; std::abs(value - last) > 1e-12 * std::abs(value) && trips < 500; trips++) {
      last = value;
      double square = 0;
      value = 0;
      for (std::ptrdiff_t i = 0; i < kSize; i++) {
        double sum = 0;
        for (std::ptrdiff_t j = 0; j < kSize; j++) sum += a[i * kSize + j] * v[j];
        image[i] = sum;
        square += sum * sum;
        value += v[i] * sum;
      }
      const double scale = 1 / std::sqrt(square);
      for (std::ptrdiff_t i = 0; i < kSize; i++) v[i] = image[i] * scale;
    }
    return {Literal::from(std::span<const double>(v), {kSize}), Literal::scalar(value),
            Literal::scalar(trips)};
  };
  Literal matrix = uniform_doubles({kSize, kSize}, 0, 1);
  const auto a = matrix.mutable_data<double>();
  for (std::size_t i = 0; i < kSize; i++)
    for (std::size_t j = 0; j < i; j++) a[i * kSize + j] = a[j * kSize + i];
  return {.name = "matrices/power_iteration",
          .program = trace(program, matrix.type()),
          .arguments = {matrix},
          .plain = plain};
}

/// Conjugate gradients for a screened Poisson equation on a grid, until the residual is small.
Workload conjugate_gradients() {
  constexpr std::int64_t kSize = 48;
  const auto program = [&](Tensor right) {
    const auto apply = [](Tensor u) {
      const Tensor wide = pad(u, 0, {1, 1}, {1, 1});
      const Range inside = range(1, -1), before = range({}, -2), after = range(2);
      return 4.1 * u - (slice(wide, before, inside) + slice(wide, after, inside) +
                        slice(wide, inside, before) + slice(wide, inside, after));
    };
    struct State {
      Tensor x, residual, direction, square, trips;
    };
    const auto goes_on = [](State s) { return (s.square > 1e-16) & (s.trips < 300); };
    const auto step = [&](State s) {
      const Tensor image = apply(s.direction);
      const Tensor length = s.square / sum(s.direction * image);
      const Tensor residual = s.residual - length * image;
      const Tensor square = sum(residual * residual);
      return State{s.x + length * s.direction, residual, residual + square / s.square * s.direction,
                   square, s.trips + 1};
    };
    const State end =
        while_loop(goes_on, step, State{zeros(right.type()), right, right, sum(right * right), 0});
    return std::pair(end.x, end.trips);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    constexpr std::ptrdiff_t kRow = kSize + 2, kCells = kSize * kSize;
    const double* right = arguments[0].data<double>().data();
    Literal result = Literal::zeros(f64({kSize, kSize}));
    double* x = result.mutable_data<double>().data();
    static double residual[kCells], image[kCells], direction[kRow * kRow];  // zeros around it
    double square = 0;
    for (std::ptrdiff_t i = 0; i < kSize; i++) {
      for (std::ptrdiff_t j = 0; j < kSize; j++) {
        const double value = right[i * kSize + j];
        residual[i * kSize + j] = direction[(i + 1) * kRow + j + 1] = value;
        square += value * value;
      }
    }
    std::int32_t trips = 0;
    for (; square > 1e-16 && trips < 300; trips++) {
      double product = 0;
      for (std::ptrdiff_t i = 0; i < kSize; i++) {
        const double* d = direction + (i + 1) * kRow + 1;
        for (std::ptrdiff_t j = 0; j < kSize; j++) {
          const double value = 4.1 * d[j] - (d[j - kRow] + d[j + kRow] + d[j - 1] + d[j + 1]);
          image[i * kSize + j] = value;
          product += d[j] * value;
        }
      }
      const double length = square / product;
      double next = 0;
      for (std::ptrdiff_t k = 0; k < kCells; k++) {
        residual[k] -= length * image[k];
        next += residual[k] * residual[k];
      }
      for (std::ptrdiff_t i = 0; i < kSize; i++) {
        double* d = direction + (i + 1) * kRow + 1;
        for (std::ptrdiff_t j = 0; j < kSize; j++) {
          x[i * kSize + j] += length * d[j];
          d[j] = residual[i * kSize + j] + next / square * d[j];
        }
      }
      square = next;
    }
    return {result, Literal::scalar(trips)};
  };
  return {.name = "matrices/conjugate_gradients",
          .program = trace(program, f64({kSize, kSize})),
          .arguments = {uniform_doubles({kSize, kSize}, -1, 1)},
          .plain = plain};
}

/// A tridiagonal system by Thomas's algorithm: a scan forwards and one backwards.
Workload tridiagonal_system() {
  constexpr std::int64_t kSize = 4096;
  const auto program = [](Tensor lower, Tensor middle, Tensor upper, Tensor right) {
    const auto forwards = [](std::pair<Tensor, Tensor> before, const std::vector<Tensor>& row) {
      const Tensor scale = 1.0 / (row[1] - row[0] * before.first);
      const std::pair next(row[2] * scale, (row[3] - row[0] * before.second) * scale);
      return std::pair(next, next);
    };
    const auto rows =
        scan(forwards, std::pair(0.0, 0.0), std::vector<Tensor>{lower, middle, upper, right})
            .second;
    const auto backwards = [](Tensor after, std::pair<Tensor, Tensor> row) {
      const Tensor x = row.second - row.first * after;
      return std::pair(x, x);
    };
    return scan(backwards, 0.0, rows, {.reverse = true}).second;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const double *lower = arguments[0].data<double>().data(),
                 *middle = arguments[1].data<double>().data(),
                 *upper = arguments[2].data<double>().data(),
                 *right = arguments[3].data<double>().data();
    static double factor[kSize];
    Literal result = Literal::uninitialized(f64({kSize}));
    double* x = result.mutable_data<double>().data();
    double last_factor = 0, last = 0;
    for (std::ptrdiff_t i = 0; i < kSize; i++) {
      const double scale = 1 / (middle[i] - lower[i] * last_factor);
      factor[i] = last_factor = upper[i] * scale;
      x[i] = last = (right[i] - lower[i] * last) * scale;
    }
    for (std::ptrdiff_t i = kSize - 2; i >= 0; i--) x[i] -= factor[i] * x[i + 1];
    return {result};
  };
  return {.name = "matrices/tridiagonal_system",
          .program = trace(program, f64({kSize}), f64({kSize}), f64({kSize}), f64({kSize})),
          .arguments = {uniform_doubles({kSize}, -1, 1), uniform_doubles({kSize}, 3, 4, 2),
                        uniform_doubles({kSize}, -1, 1, 3), uniform_doubles({kSize}, -1, 1, 4)},
          .plain = plain};
}

/// The exponential of a matrix: terms of its series for a 64th of it, squared six times.
Workload matrix_exponential() {
  constexpr std::int64_t kSize = 48, kTerms = 8, kSquarings = 6;
  const auto program = [&](Tensor matrix) {
    const Tensor small = matrix / 64.0f, unit = eye(kSize);
    const auto horner = [&](Tensor k, Tensor series) {
      return unit + dot(small, series) / convert(kTerms - k, DType::kF32);
    };
    const Tensor start = fori_loop(0, kTerms, horner, unit);
    return fori_loop(
        0, kSquarings, [](Tensor, Tensor a) { return dot(a, a); }, start);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    constexpr int kElements = kSize * kSize;
    const float* matrix = arguments[0].data<float>().data();
    static float small[kElements], now[kElements], next[kElements];
    const auto multiply = [](const float* a, const float* b, float* product) {
      std::fill_n(product, kElements, 0.0f);
      for (std::ptrdiff_t i = 0; i < kSize; i++)
        for (std::ptrdiff_t k = 0; k < kSize; k++)
          for (std::ptrdiff_t j = 0; j < kSize; j++)
            product[i * kSize + j] += a[i * kSize + k] * b[k * kSize + j];
    };
    for (std::ptrdiff_t i = 0; i < kElements; i++) {
      small[i] = matrix[i] / 64;
      now[i] = i % (kSize + 1) == 0;
    }
    for (std::ptrdiff_t k = kTerms; k > 0; k--) {
      multiply(small, now, next);
      for (std::ptrdiff_t i = 0; i < kElements; i++)
        now[i] = next[i] / static_cast<float>(k) + (i % (kSize + 1) == 0 ? 1.0f : 0.0f);
    }
    for (std::ptrdiff_t k = 0; k < kSquarings; k++) {
      multiply(now, now, next);
      std::copy_n(next, kElements, now);
    }
    return {Literal::from(std::span<const float>(now), {kSize, kSize})};
  };
  return {.name = "matrices/exponential",
          .program = trace(program, f32({kSize, kSize})),
          .arguments = {uniform_floats({kSize, kSize}, -0.3, 0.3)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> solver_workloads() {
  return {power_iteration(), conjugate_gradients(), tridiagonal_system(), matrix_exponential()};
}

}  // namespace rondo::bench
