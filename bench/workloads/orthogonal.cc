// Rotations and reflections of matrices.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> orthogonal_workloads();  // a part of matrix_workloads

namespace {

/// Random symmetric f64[n,n].
Literal symmetric_matrix(std::int64_t n) {
  Literal a = uniform_doubles({n, n}, -1, 1, 5);
  const auto elements = a.mutable_data<double>();
  const auto rows = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < rows; i++)
    for (std::size_t j = 0; j < i; j++) elements[i * rows + j] = elements[j * rows + i];
  return a;
}

/// The upper factor of a matrix by rotations of pairs of rows (Givens).
Workload givens_rotations() {
  constexpr std::int64_t kSize = 64;
  const auto program = [&](Tensor matrix) {
    const auto clear_column = [&](Tensor j, Tensor a) {
      const auto rotate = [&](Tensor i, Tensor b) {
        const Tensor upper = b[j], lower = b[i];
        const Tensor x = upper[j], y = lower[j];
        const Tensor length = sqrt(x * x + y * y);
        const Tensor c = x / length, s = y / length;
        return update(update(b, j, c * upper + s * lower), i, c * lower - s * upper);
      };
      return fori_loop(j + 1, kSize, rotate, a);
    };
    return fori_loop(0, kSize - 1, clear_column, matrix);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    Literal result = arguments[0];
    double* a = result.mutable_data<double>().data();
    for (int j = 0; j < kSize - 1; j++) {
      double* upper = a + j * kSize;
      for (int i = j + 1; i < kSize; i++) {
        double* lower = a + i * kSize;
        const double length = std::sqrt(upper[j] * upper[j] + lower[j] * lower[j]);
        const double c = upper[j] / length, s = lower[j] / length;
        for (int k = j; k < kSize; k++) {
          const double x = upper[k], y = lower[k];
          upper[k] = c * x + s * y;
          lower[k] = c * y - s * x;
        }
      }
    }
    return {result};
  };
  return {.name = "matrices/givens_rotations",
          .program = trace(program, f64({kSize, kSize})),
          .arguments = {uniform_doubles({kSize, kSize}, -1, 1)},
          .plain = plain};
}

/// Eigenvalues of a symmetric matrix by sweeps of rotations (Jacobi).
Workload jacobi_eigenvalues() {
  constexpr std::int64_t kSize = 16, kSweeps = 6;
  const auto program = [&](Tensor matrix) {
    const auto rotate = [](Tensor p, Tensor q, Tensor a) {
      const Tensor apq = at(a, {p, q});
      const Tensor theta = (at(a, {q, q}) - at(a, {p, p})) / (2 * where(apq == 0, 1e-300, apq));
      const Tensor t = where(theta >= 0, 1.0, -1.0) / (abs(theta) + sqrt(theta * theta + 1));
      const Tensor c = rsqrt(t * t + 1), s = t * c;
      const Tensor row_p = a[p], row_q = a[q];
      const Tensor b = update(update(a, p, c * row_p - s * row_q), q, s * row_p + c * row_q);
      const Tensor column_p = column(b, p), column_q = column(b, q);
      return update(update(b, {range(), p}, c * column_p - s * column_q), {range(), q},
                    s * column_p + c * column_q);
    };
    const auto sweep = [&](Tensor, Tensor whole) {
      const auto row = [&](Tensor p, Tensor a) {
        return fori_loop(
            p + 1, kSize, [&](Tensor q, Tensor b) { return rotate(p, q, b); }, a);
      };
      return fori_loop(0, kSize - 1, row, whole);
    };
    return sort(diag(fori_loop(0, kSweeps, sweep, matrix)));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto matrix = arguments[0].data<double>();
    double a[kSize][kSize];
    std::copy(matrix.begin(), matrix.end(), &a[0][0]);
    for (int sweep = 0; sweep < kSweeps; sweep++) {
      for (int p = 0; p < kSize - 1; p++) {
        for (int q = p + 1; q < kSize; q++) {
          const double apq = a[p][q] == 0 ? 1e-300 : a[p][q];
          const double theta = (a[q][q] - a[p][p]) / (2 * apq);
          const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
          const double c = 1 / std::sqrt(t * t + 1), s = t * c;
          for (int k = 0; k < kSize; k++) {
            const double x = a[p][k], y = a[q][k];
            a[p][k] = c * x - s * y;
            a[q][k] = s * x + c * y;
          }
          for (int k = 0; k < kSize; k++) {
            const double x = a[k][p], y = a[k][q];
            a[k][p] = c * x - s * y;
            a[k][q] = s * x + c * y;
          }
        }
      }
    }
    Literal result = Literal::uninitialized(f64({kSize}));
    const auto values = result.mutable_data<double>();
    for (std::size_t i = 0; i < kSize; i++) values[i] = a[i][i];
    std::sort(values.begin(), values.end());
    return {result};
  };
  return {.name = "matrices/jacobi_eigenvalues",
          .program = trace(program, f64({kSize, kSize})),
          .arguments = {symmetric_matrix(kSize)},
          .plain = plain};
}

/// The upper factor of a tall matrix by reflections (Householder), with vectors that are zero above
/// the diagonal.
Workload householder() {
  constexpr std::int64_t kRows = 96, kColumns = 48;
  const auto program = [&](Tensor matrix) {
    const Tensor index = arange(kRows);
    const auto reflect = [&](Tensor k, Tensor a) {
      const Tensor x = where(index >= k, column(a, k), 0);
      const Tensor length = norm(x) * where(x[k] < 0, 1.0, -1.0);
      const Tensor v = update(x, k, x[k] - length);
      return a - outer(v, dot(v, a) * (2 / dot(v, v)));
    };
    return slice(fori_loop(0, kColumns, reflect, matrix), range({}, kColumns));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto matrix = arguments[0].data<double>();
    static std::vector<double> copy(kRows * kColumns);
    std::copy(matrix.begin(), matrix.end(), copy.begin());
    double* a = copy.data();
    double v[kRows], products[kColumns];
    for (int k = 0; k < kColumns; k++) {
      double square = 0;
      for (int i = k; i < kRows; i++) {
        v[i] = a[i * kColumns + k];
        square += v[i] * v[i];
      }
      const double length = v[k] < 0 ? std::sqrt(square) : -std::sqrt(square);
      const double scale = 2 / (2 * (square - length * v[k]));
      v[k] -= length;
      std::fill_n(products, kColumns, 0.0);
      for (int i = k; i < kRows; i++)
        for (int j = k; j < kColumns; j++) products[j] += v[i] * a[i * kColumns + j];
      for (int i = k; i < kRows; i++)
        for (int j = k; j < kColumns; j++) a[i * kColumns + j] -= v[i] * scale * products[j];
    }
    return {Literal::from(std::span<const double>(a, kColumns * kColumns), {kColumns, kColumns})};
  };
  return {.name = "matrices/householder",
          .program = trace(program, f64({kRows, kColumns})),
          .arguments = {uniform_doubles({kRows, kColumns}, -1, 1)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> orthogonal_workloads() {
  return {givens_rotations(), jacobi_eigenvalues(), householder()};
}

}  // namespace rondo::bench
