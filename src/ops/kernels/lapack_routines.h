// How routines of OpenBLAS are found and called, on matrices that are stored by columns: ours are
// their transposes.
#pragma once

#ifdef RONDO_WITH_OPENBLAS

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <type_traits>

#include "base/memory.h"
#include "ops/kernels/blas.h"

namespace rondo::ops {

/// Threshold: Rows and columns from which LAPACK factors a matrix: at 64, cholesky takes half of
/// our kernel's time, lu two thirds and qr the same; eigh and svd gain earlier, but their own
/// kernels are more accurate for small values, and the library starts threads as it is loaded. Set
/// by Factorise in bench/rondo_bench.cc.
inline constexpr std::int64_t kLeastSides = 64;

using Integer = blasint;

template <class T>
struct ElementOf {
  using Real = T;
  static constexpr bool kIsReal = true;
  static constexpr char kPrefix = std::is_same_v<T, float> ? 's' : 'd';
};
template <class T>
struct ElementOf<std::complex<T>> {
  using Real = T;
  static constexpr bool kIsReal = false;
  static constexpr char kPrefix = std::is_same_v<T, float> ? 'c' : 'z';
};

/// A routine for elements of type T, by its name without the prefix. `Length`s, which Fortran adds
/// for each string, follow the arguments.
template <class F, class T>
F* routine(const char* name) {
  return reinterpret_cast<F*>(
      openblas_function((ElementOf<T>::kPrefix + std::string(name) + '_').c_str()));
}
using Length = std::size_t;

/// By sums of products with zero, which are zero or NaN: several, which a compiler keeps in
/// vectors.
template <class T>
bool are_finite(const T* x, std::int64_t count) {
  using Real = typename ElementOf<T>::Real;
  constexpr std::int64_t kParts = ElementOf<T>::kIsReal ? 1 : 2, kSums = 8;
  const auto* const parts = reinterpret_cast<const Real*>(x);
  Real sums[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= count * kParts; i += kSums) {
    for (std::int64_t k = 0; k < kSums; k++) sums[k] += parts[i + k] * Real(0);
  }
  for (; i < count * kParts; i++) sums[0] += parts[i] * Real(0);
  for (std::int64_t k = 1; k < kSums; k++) sums[0] += sums[k];
  return sums[0] == Real(0);
}
template <class T>
bool lower_is_finite(const T* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i++) {
    if (!are_finite(x + i * n, i + 1)) return false;
  }
  return true;
}

/// Whether the library may take a matrix. Its integers hold the sizes of workspaces, which have up
/// to seven times as many elements as the matrix.
inline bool is_for_lapack(std::int64_t m, std::int64_t n, std::int64_t least = kLeastSides) {
  constexpr std::int64_t kMostElements = 1 << 28;
  static_assert(std::numeric_limits<Integer>::max() / kMostElements >= 7);
  return std::min(m, n) >= least && m <= kMostElements / n;
}

/// Recycled memory: the first touch of new pages would cost more than a transposition.
template <class T>
using Buffer = std::shared_ptr<T[]>;
template <class T>
Buffer<T> buffer(std::int64_t count) {
  std::uint32_t size_class = 0;
  void* const block = take_block(static_cast<std::size_t>(count) * sizeof(T), size_class);
  if (!block) throw std::bad_alloc();
  return Buffer<T>(static_cast<T*>(block),
                   [block, size_class](T*) { give_block(block, size_class); });
}
template <class T>
Buffer<T> copied(const T* x, std::int64_t count) {
  Buffer<T> copy = buffer<T>(count);
  std::copy_n(x, count, copy.get());
  return copy;
}

/// Writes x (m x n) as n x m, in blocks by way of a small one: elements at distances that are
/// powers of two would evict one another from the first cache. Rows follow one another in these
/// distances.
template <class T>
void transpose_to(T* out, std::int64_t out_row, const T* x, std::int64_t x_row, std::int64_t m,
                  std::int64_t n) {
  constexpr std::int64_t kSide = 8;
  T block[kSide * kSide];
  const auto turn = [&](T* to, const T* from, auto rows, auto columns) {
    for (std::int64_t i = 0; i < rows; i++) {
      for (std::int64_t j = 0; j < columns; j++) block[j * kSide + i] = from[i * x_row + j];
    }
    for (std::int64_t j = 0; j < columns; j++)
      std::copy_n(block + j * kSide, rows, to + j * out_row);
  };
  // Compilers make vector code of sizes that they know.
  constexpr std::integral_constant<std::int64_t, kSide> whole;
  for (std::int64_t left = 0; left < n; left += kSide) {
    const std::int64_t columns = std::min(kSide, n - left);
    for (std::int64_t top = 0; top < m; top += kSide) {
      const std::int64_t rows = std::min(kSide, m - top);
      T* const to = out + left * out_row + top;
      const T* const from = x + top * x_row + left;
      if (rows == kSide && columns == kSide)
        turn(to, from, whole, whole);
      else
        turn(to, from, rows, columns);
    }
  }
}
template <class T>
void transpose_to(T* out, const T* x, std::int64_t m, std::int64_t n) {
  transpose_to(out, m, x, n, m, n);
}
template <class T>
Buffer<T> by_columns(const T* x, std::int64_t m, std::int64_t n) {
  Buffer<T> copy = buffer<T>(m * n);
  transpose_to(copy.get(), x, m, n);
  return copy;
}

}  // namespace rondo::ops

#endif
