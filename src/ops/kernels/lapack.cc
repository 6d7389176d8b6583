// LAPACK's matrices are stored by columns: ours are their transposes.
#include "ops/kernels/lapack.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "base/memory.h"
#include "ops/kernels/blas.h"
#include "ops/kernels/run_polled.h"

#ifdef RONDO_WITH_OPENBLAS
#include <cblas.h>
#endif

namespace rondo::ops {

#ifdef RONDO_WITH_OPENBLAS

namespace {

/// Threshold: Rows and columns from which LAPACK factors a matrix: at 64, cholesky takes half of
/// our kernel's time, lu two thirds and qr the same; eigh and svd gain earlier, but their own
/// kernels are more accurate for small values, and the library starts threads as it is loaded. Set
/// by Factorise in bench/rondo_bench.cc.
constexpr std::int64_t kLeastSides = 64;

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

template <class T>
bool is_finite_element(T x) {
  constexpr auto kMost = std::numeric_limits<typename ElementOf<T>::Real>::max();
  return std::abs(std::real(x)) <= kMost && std::abs(std::imag(x)) <= kMost;
}
template <class T>
bool are_finite(const T* x, std::int64_t count) {
  bool finite = true;
  for (std::int64_t i = 0; i < count; i++) finite &= is_finite_element(x[i]);
  return finite;
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
bool is_for_lapack(std::int64_t m, std::int64_t n) {
  constexpr std::int64_t kMostElements = 1 << 28;
  static_assert(std::numeric_limits<Integer>::max() / kMostElements >= 7);
  return std::min(m, n) >= kLeastSides && m <= kMostElements / n;
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
/// powers of two would evict one another from the first cache.
template <class T>
void transpose_to(T* out, const T* x, std::int64_t m, std::int64_t n) {
  constexpr std::int64_t kBlock = 16;
  T block[kBlock * kBlock];
  for (std::int64_t top = 0; top < m; top += kBlock) {
    const std::int64_t rows = std::min(kBlock, m - top);
    for (std::int64_t left = 0; left < n; left += kBlock) {
      const std::int64_t columns = std::min(kBlock, n - left);
      for (std::int64_t i = 0; i < rows; i++) {
        for (std::int64_t j = 0; j < columns; j++)
          block[j * kBlock + i] = x[(top + i) * n + left + j];
      }
      for (std::int64_t j = 0; j < columns; j++)
        std::copy_n(block + j * kBlock, rows, out + (left + j) * m + top);
    }
  }
}
template <class T>
Buffer<T> by_columns(const T* x, std::int64_t m, std::int64_t n) {
  Buffer<T> copy = buffer<T>(m * n);
  transpose_to(copy.get(), x, m, n);
  return copy;
}

/// LAPACK's return code of `work`, which takes about that many operations.
Integer run_routine(double operations, ir::Host& host, std::function<Integer()> work) {
  // Threshold: Operations up to which no other thread is started: about a millisecond. Not
  // measured.
  constexpr double kFew = 1 << 22;
  if (operations <= kFew) {
    const Integer status = work();
    host.poll();
    return status;
  }
  const auto status = std::make_shared<Integer>(-1);
  run_polled([status, work] { *status = work(); }, host);
  return *status;
}

double cubed(std::int64_t m, std::int64_t n) {
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::min(m, n));
}

}  // namespace

template <class T>
bool lapack_cholesky(const T* x, std::int64_t n, T* l, ir::Host& host) {
  using Potrf = void(const char*, const Integer*, T*, const Integer*, Integer*, Length);
  if (!is_for_lapack(n, n) || !lower_is_finite(x, n)) return false;
  static Potrf* const potrf = routine<Potrf, T>("potrf");
  if (!potrf) return false;
  // The lower triangle of rows is the upper one of columns: of the transpose of l.
  const Buffer<T> factor = buffer<T>(n * n);
  for (std::int64_t i = 0; i < n; i++) std::copy_n(x + i * n, i + 1, factor.get() + i * n);
  const Integer status = run_routine(cubed(n, n) / 3, host, [n, factor] {
    const auto size = static_cast<Integer>(n);
    Integer info = 0;
    potrf("U", &size, factor.get(), &size, &info, 1);
    return info;
  });
  bool positive = status == 0;
  for (std::int64_t i = 0; i < n; i++) positive &= std::real(factor[i * n + i]) > 0;
  if (!positive)
    std::fill_n(l, n * n, T(std::numeric_limits<typename ElementOf<T>::Real>::quiet_NaN()));
  for (std::int64_t i = 0; i < n && positive; i++) {
    std::copy_n(factor.get() + i * n, i + 1, l + i * n);
    std::fill_n(l + i * n + i + 1, n - i - 1, T{});
  }
  return true;
}

template <class T>
bool lapack_lu(const T* a, std::int64_t m, std::int64_t n, T* lu, std::int32_t* pivots,
               std::int32_t* permutation, ir::Host& host) {
  using Getrf = void(const Integer*, const Integer*, T*, const Integer*, Integer*, Integer*);
  if (!is_for_lapack(m, n) || !are_finite(a, m * n)) return false;
  static Getrf* const getrf = routine<Getrf, T>("getrf");
  if (!getrf) return false;
  const std::int64_t k = std::min(m, n);
  const Buffer<T> factors = by_columns(a, m, n);
  const Buffer<Integer> exchanges = buffer<Integer>(k);
  const Integer status = run_routine(cubed(m, n), host, [m, n, factors, exchanges] {
    const auto rows = static_cast<Integer>(m), columns = static_cast<Integer>(n);
    Integer info = 0;
    getrf(&rows, &columns, factors.get(), &rows, exchanges.get(), &info);
    return info;
  });
  // After an overflow, pivots may be anything.
  bool usable = status >= 0;
  for (std::int64_t i = 0; i < k; i++) usable &= exchanges[i] > i && exchanges[i] <= m;
  if (!usable) return false;
  for (std::int64_t i = 0; i < m; i++) permutation[i] = static_cast<std::int32_t>(i);
  for (std::int64_t i = 0; i < k; i++) {
    pivots[i] = static_cast<std::int32_t>(exchanges[i] - 1);
    std::swap(permutation[i], permutation[pivots[i]]);
  }
  transpose_to(lu, factors.get(), n, m);
  return true;
}

template <class T>
bool lapack_qr(const T* a, std::int64_t m, std::int64_t n, T* q, T* r, ir::Host& host) {
  using Geqrf =
      void(const Integer*, const Integer*, T*, const Integer*, T*, T*, const Integer*, Integer*);
  using Orgqr = void(const Integer*, const Integer*, const Integer*, T*, const Integer*, const T*,
                     T*, const Integer*, Integer*);
  if (!is_for_lapack(m, n) || !are_finite(a, m * n)) return false;
  static Geqrf* const geqrf = routine<Geqrf, T>("geqrf");
  static Orgqr* const orgqr = routine<Orgqr, T>(ElementOf<T>::kIsReal ? "orgqr" : "ungqr");
  if (!geqrf || !orgqr) return false;
  const std::int64_t k = std::min(m, n);
  constexpr std::int64_t kMostPanel = 64;  // columns that it reflects by at once
  const std::int64_t workspace = kMostPanel * std::max(m, n);
  const Buffer<T> columns = by_columns(a, m, n), upper = buffer<T>(k * n), taus = buffer<T>(k);
  const Buffer<T> work = buffer<T>(workspace);
  const Integer status = run_routine(4 * cubed(m, n), host, [=] {
    const auto height = static_cast<Integer>(m), width = static_cast<Integer>(n);
    const auto rank = static_cast<Integer>(k), length = static_cast<Integer>(workspace);
    Integer info = 0;
    geqrf(&height, &width, columns.get(), &height, taus.get(), work.get(), &length, &info);
    if (info != 0) return info;
    for (std::int64_t i = 0; i < k; i++) {
      for (std::int64_t j = 0; j < n; j++) upper[i * n + j] = j < i ? T{} : columns[j * m + i];
    }
    orgqr(&height, &rank, &rank, columns.get(), &height, taus.get(), work.get(), &length, &info);
    return info;
  });
  if (status != 0) return false;
  transpose_to(q, columns.get(), k, m);
  std::copy_n(upper.get(), k * n, r);
  return true;
}

template <class T>
bool lapack_eigh(const T* x, std::int64_t n, T* values, T* vectors, ir::Host& host) {
  using Syevd = void(const char*, const char*, const Integer*, T*, const Integer*, T*, T*,
                     const Integer*, Integer*, const Integer*, Integer*, Length, Length);
  if (!is_for_lapack(n, n) || !lower_is_finite(x, n)) return false;
  static Syevd* const syevd = routine<Syevd, T>("syevd");
  if (!syevd) return false;
  const std::int64_t workspace = 1 + 6 * n + 2 * n * n, integers = 3 + 5 * n;
  const Buffer<T> columns = copied(x, n * n), found = buffer<T>(n), work = buffer<T>(workspace);
  const Buffer<Integer> more = buffer<Integer>(integers);
  const Integer status = run_routine(9 * cubed(n, n), host, [=] {
    const auto size = static_cast<Integer>(n), length = static_cast<Integer>(workspace);
    const auto count = static_cast<Integer>(integers);
    Integer info = 0;
    syevd("V", "U", &size, columns.get(), &size, found.get(), work.get(), &length, more.get(),
          &count, &info, 1, 1);
    return info;
  });
  if (status != 0) return false;
  std::copy_n(found.get(), n, values);
  transpose_to(vectors, columns.get(), n, n);
  return true;
}

template <class T>
bool lapack_svd(const T* a, std::int64_t m, std::int64_t n, T* u, T* s, T* vt, ir::Host& host) {
  using Gesdd =
      void(const char*, const Integer*, const Integer*, T*, const Integer*, T*, T*, const Integer*,
           T*, const Integer*, T*, const Integer*, Integer*, Integer*, Length);
  if (!is_for_lapack(m, n) || !are_finite(a, m * n)) return false;
  static Gesdd* const gesdd = routine<Gesdd, T>("gesdd");
  if (!gesdd) return false;
  // It factors the transpose, v s u^T, into v by columns, which is vt by rows, and u by rows.
  const std::int64_t k = std::min(m, n), workspace = 5 * k * k + 64 * (m + n);
  const Buffer<T> columns = copied(a, m * n), found = buffer<T>(k), right = buffer<T>(k * n);
  const Buffer<T> left = buffer<T>(m * k), work = buffer<T>(workspace);
  const Buffer<Integer> more = buffer<Integer>(8 * k);
  const Integer status = run_routine(20 * cubed(m, n), host, [=] {
    const auto height = static_cast<Integer>(n), width = static_cast<Integer>(m);
    const auto rank = static_cast<Integer>(k), length = static_cast<Integer>(workspace);
    Integer info = 0;
    gesdd("S", &height, &width, columns.get(), &height, found.get(), right.get(), &height,
          left.get(), &rank, work.get(), &length, more.get(), &info, 1);
    return info;
  });
  if (status != 0) return false;
  std::copy_n(left.get(), m * k, u);
  std::copy_n(found.get(), k, s);
  std::copy_n(right.get(), k * n, vt);
  return true;
}

template <class T>
bool lapack_triangular_solve(const T* a, std::int64_t n, const TriangularSolveOptions& options,
                             T* x, std::int64_t m, ir::Host& host) {
  using Trsm =
      void(const char*, const char*, const char*, const char*, const Integer*, const Integer*,
           const T*, const T*, const Integer*, T*, const Integer*, Length, Length, Length, Length);
  if (!is_for_lapack(n, m)) return false;
  static Trsm* const trsm = routine<Trsm, T>("trsm");
  if (!trsm) return false;
  // Rows are columns to it: it solves the transposed system, with a on the other side.
  const Buffer<T> factor = copied(a, n * n), solution = copied(x, n * m);
  run_routine(static_cast<double>(n * n) * static_cast<double>(m), host, [=] {
    const auto size = static_cast<Integer>(n), count = static_cast<Integer>(m);
    const bool left = options.left_side;
    const T one(1);
    trsm(left ? "R" : "L", options.lower ? "U" : "L", options.transpose_a ? "T" : "N",
         options.unit_diagonal ? "U" : "N", left ? &count : &size, left ? &size : &count, &one,
         factor.get(), &size, solution.get(), left ? &count : &size, 1, 1, 1, 1);
    return Integer{0};
  });
  std::copy_n(solution.get(), n * m, x);
  return true;
}

#else

template <class T>
bool lapack_cholesky(const T*, std::int64_t, T*, ir::Host&) {
  return false;
}
template <class T>
bool lapack_lu(const T*, std::int64_t, std::int64_t, T*, std::int32_t*, std::int32_t*, ir::Host&) {
  return false;
}
template <class T>
bool lapack_qr(const T*, std::int64_t, std::int64_t, T*, T*, ir::Host&) {
  return false;
}
template <class T>
bool lapack_eigh(const T*, std::int64_t, T*, T*, ir::Host&) {
  return false;
}
template <class T>
bool lapack_svd(const T*, std::int64_t, std::int64_t, T*, T*, T*, ir::Host&) {
  return false;
}
template <class T>
bool lapack_triangular_solve(const T*, std::int64_t, const TriangularSolveOptions&, T*,
                             std::int64_t, ir::Host&) {
  return false;
}

#endif

#define RONDO_FACTORISATIONS(T)                                                                   \
  template bool lapack_cholesky<T>(const T*, std::int64_t, T*, ir::Host&);                        \
  template bool lapack_lu<T>(const T*, std::int64_t, std::int64_t, T*, std::int32_t*,             \
                             std::int32_t*, ir::Host&);                                           \
  template bool lapack_qr<T>(const T*, std::int64_t, std::int64_t, T*, T*, ir::Host&);            \
  template bool lapack_triangular_solve<T>(const T*, std::int64_t, const TriangularSolveOptions&, \
                                           T*, std::int64_t, ir::Host&)
#define RONDO_DECOMPOSITIONS(T)                                            \
  RONDO_FACTORISATIONS(T);                                                 \
  template bool lapack_eigh<T>(const T*, std::int64_t, T*, T*, ir::Host&); \
  template bool lapack_svd<T>(const T*, std::int64_t, std::int64_t, T*, T*, T*, ir::Host&)
RONDO_DECOMPOSITIONS(float);
RONDO_DECOMPOSITIONS(double);
RONDO_FACTORISATIONS(std::complex<float>);
RONDO_FACTORISATIONS(std::complex<double>);
#undef RONDO_DECOMPOSITIONS
#undef RONDO_FACTORISATIONS

}  // namespace rondo::ops
