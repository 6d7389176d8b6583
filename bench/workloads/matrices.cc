// Factorisations and iterations on matrices, written as loops.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

namespace {

/// Random symmetric f64[n,n] whose diagonal dominates.
Literal dominant_matrix(std::int64_t n) {
  Literal a = uniform_doubles({n, n}, -1, 1, 5);
  const auto elements = a.mutable_data<double>();
  const auto rows = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < rows; i++) {
    for (std::size_t j = 0; j < i; j++) elements[i * rows + j] = elements[j * rows + i];
    elements[i * rows + i] += static_cast<double>(n);
  }
  return a;
}

/// Lower and upper factor in one matrix, by a masked step for each column; no pivots.
Workload lu_by_masks() {
  constexpr std::int64_t kSize = 96;
  const auto program = [&](Tensor matrix) {
    const Tensor index = arange(kSize);
    const auto eliminate = [&](Tensor k, Tensor a) {
      const Tensor below = index > k;
      const Tensor factors = where(below, column(a, k) / at(a, {k, k}), 0);
      const Tensor row = where(index > k, a[k], 0);
      const Tensor reduced = a - outer(factors, row);
      return where((expand_dims(index, 0) == k) & expand_dims(below, 1), expand_dims(factors, 1),
                   reduced);
    };
    return fori_loop(0, kSize, eliminate, matrix);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    Literal result = arguments[0];
    double* a = result.mutable_data<double>().data();
    for (int k = 0; k < kSize; k++) {
      const double* pivot = a + k * kSize;
      for (int i = k + 1; i < kSize; i++) {
        double* row = a + i * kSize;
        const double factor = row[k] / pivot[k];
        row[k] = factor;
        for (int j = k + 1; j < kSize; j++) row[j] -= factor * pivot[j];
      }
    }
    return {result};
  };
  return {.name = "matrices/lu_by_masks",
          .program = trace(program, f64({kSize, kSize})),
          .arguments = {dominant_matrix(kSize)},
          .plain = plain};
}

/// The same where each step changes the block that is left, and nothing else.
Workload lu_in_place() {
  constexpr std::int64_t kSize = 96;
  const auto program = [&](Tensor matrix) {
    const Tensor index = arange(kSize);
    const auto eliminate = [&](Tensor k, Tensor a) {
      const Tensor below = index > k, old = column(a, k);
      const Tensor factors = where(below, old / at(a, {k, k}), old);
      const Tensor divided = update(a, {range(), k}, factors);
      return where(expand_dims(below, 1) & expand_dims(below, 0), divided - outer(factors, a[k]),
                   divided);
    };
    return fori_loop(0, kSize, eliminate, matrix);
  };
  Workload work = lu_by_masks();
  work.name = "matrices/lu_in_place";
  work.program = trace(program, f64({kSize, kSize}));
  return work;
}

/// Cholesky's factor, a column for each trip: what is left of it after a product with the columns
/// before.
Workload cholesky_by_columns() {
  constexpr std::int64_t kSize = 80;
  const auto program = [&](Tensor matrix) {
    const Tensor index = arange(kSize);
    const auto add_column = [&](Tensor j, Tensor factor) {
      const Tensor rest = column(matrix, j) - dot(factor, factor[j]);  // later columns are zero
      const Tensor next = where(index >= j, rest / sqrt(rest[j]), 0);
      return update(factor, {range(), j}, next);
    };
    return fori_loop(0, kSize, add_column, zeros(matrix.type()));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const double* a = arguments[0].data<double>().data();
    Literal result = Literal::zeros(f64({kSize, kSize}));
    double* factor = result.mutable_data<double>().data();
    for (int j = 0; j < kSize; j++) {
      const double* of_j = factor + j * kSize;
      double pivot = 0;
      for (int i = j; i < kSize; i++) {
        double* of_i = factor + i * kSize;
        double rest = a[i * kSize + j];
        for (int k = 0; k < j; k++) rest -= of_i[k] * of_j[k];
        if (i == j) pivot = std::sqrt(rest);
        of_i[j] = rest / pivot;
      }
    }
    return {result};
  };
  return {.name = "matrices/cholesky_by_columns",
          .program = trace(program, f64({kSize, kSize})),
          .arguments = {dominant_matrix(kSize)},
          .plain = plain};
}

/// A linear system by Gauss-Jordan elimination with exchanges of rows.
Workload gauss_jordan() {
  constexpr std::int64_t kSize = 64, kWidth = kSize + 1;
  const auto program = [&](Tensor matrix, Tensor right) {
    const Tensor index = arange(kSize);
    const auto eliminate = [&](Tensor k, Tensor a) {
      const Tensor sizes = where(index >= k, abs(column(a, k)), -1);
      const Tensor best = argmax(sizes, 0);
      const Tensor pivot = a[best] / at(a, {best, k});
      const Tensor exchanged = update(a, best, a[k]);
      const Tensor factors = where(index == k, 0, column(exchanged, k));
      return update(exchanged - outer(factors, pivot), k, pivot);
    };
    const Tensor both = concatenate(1, matrix, expand_dims(right, 1));
    return column(fori_loop(0, kSize, eliminate, both), kSize);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const double* matrix = arguments[0].data<double>().data();
    const double* right = arguments[1].data<double>().data();
    double a[kSize][kWidth];
    for (int i = 0; i < kSize; i++) {
      std::copy_n(matrix + i * kSize, kSize, a[i]);
      a[i][kSize] = right[i];
    }
    for (int k = 0; k < kSize; k++) {
      int best = k;
      for (int i = k + 1; i < kSize; i++)
        if (std::abs(a[i][k]) > std::abs(a[best][k])) best = i;
      if (best != k) std::swap_ranges(a[k], a[k] + kWidth, a[best]);
      const double scale = 1 / a[k][k];
      for (int j = k; j < kWidth; j++) a[k][j] *= scale;
      for (int i = 0; i < kSize; i++) {
        if (i == k) continue;
        const double factor = a[i][k];
        for (int j = k; j < kWidth; j++) a[i][j] -= factor * a[k][j];
      }
    }
    Literal result = Literal::uninitialized(f64({kSize}));
    const auto x = result.mutable_data<double>();
    for (std::size_t i = 0; i < kSize; i++) x[i] = a[i][kSize];
    return {result};
  };
  return {.name = "matrices/gauss_jordan",
          .program = trace(program, f64({kSize, kSize}), f64({kSize})),
          .arguments = {uniform_doubles({kSize, kSize}, -1, 1), uniform_doubles({kSize}, -1, 1, 2)},
          .plain = plain};
}

/// A product of two matrices, as the sum of the products of columns and rows.
Workload outer_products() {
  constexpr std::int64_t kRows = 120, kColumns = 140, kTerms = 100;
  const auto program = [&](Tensor left, Tensor right) {
    const auto add = [&](Tensor k, Tensor sum) { return sum + outer(column(left, k), right[k]); };
    return fori_loop(0, kTerms, add, zeros(f64({kRows, kColumns})));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const double* left = arguments[0].data<double>().data();
    const double* right = arguments[1].data<double>().data();
    Literal result = Literal::zeros(f64({kRows, kColumns}));
    for (std::ptrdiff_t i = 0; i < kRows; i++) {
      double* row = result.mutable_data<double>().data() + i * kColumns;
      for (std::ptrdiff_t k = 0; k < kTerms; k++) {
        const double factor = left[i * kTerms + k];
        for (std::ptrdiff_t j = 0; j < kColumns; j++) row[j] += factor * right[k * kColumns + j];
      }
    }
    return {result};
  };
  return {.name = "matrices/outer_products",
          .program = trace(program, f64({kRows, kTerms}), f64({kTerms, kColumns})),
          .arguments = {uniform_doubles({kRows, kTerms}, -1, 1),
                        uniform_doubles({kTerms, kColumns}, -1, 1, 2)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> orthogonal_workloads();
std::vector<Workload> solver_workloads();

std::vector<Workload> matrix_workloads() {
  std::vector<Workload> all = {lu_by_masks(), lu_in_place(), cholesky_by_columns(), gauss_jordan(),
                               outer_products()};
  for (Workload& work : orthogonal_workloads()) all.push_back(std::move(work));
  for (Workload& work : solver_workloads()) all.push_back(std::move(work));
  return all;
}

}  // namespace rondo::bench
