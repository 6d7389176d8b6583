// LAPACK's matrices are stored by columns: ours are their transposes.
#include "ops/kernels/lapack.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <memory>

#include "ops/kernels/lapack_routines.h"
#include "ops/kernels/run_polled.h"

namespace rondo::ops {

#ifdef RONDO_WITH_OPENBLAS

namespace {

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

template <class T, class Real>
bool lapack_eigh(const T* x, std::int64_t n, Real* values, T* vectors, ir::Host& host) {
  using Syevd = void(const char*, const char*, const Integer*, T*, const Integer*, T*, T*,
                     const Integer*, Integer*, const Integer*, Integer*, Length, Length);
  using Heevd =
      void(const char*, const char*, const Integer*, T*, const Integer*, Real*, T*, const Integer*,
           Real*, const Integer*, Integer*, const Integer*, Integer*, Length, Length);
  constexpr bool kIsReal = ElementOf<T>::kIsReal;
  using Routine = std::conditional_t<kIsReal, Syevd, Heevd>;
  if (!is_for_lapack(n, n) || !lower_is_finite(x, n)) return false;
  static Routine* const eigenvectors = routine<Routine, T>(kIsReal ? "syevd" : "heevd");
  if (!eigenvectors) return false;
  const std::int64_t workspace = 1 + 6 * n + 2 * n * n, integers = 3 + 5 * n;
  const Buffer<T> columns = copied(x, n * n), work = buffer<T>(workspace);
  const Buffer<Real> found = buffer<Real>(n), reals = buffer<Real>(kIsReal ? 1 : workspace);
  const Buffer<Integer> more = buffer<Integer>(integers);
  const Integer status = run_routine(9 * cubed(n, n), host, [=] {
    const auto size = static_cast<Integer>(n), length = static_cast<Integer>(workspace);
    const auto count = static_cast<Integer>(integers);
    Integer info = 0;
    if constexpr (kIsReal) {
      eigenvectors("V", "U", &size, columns.get(), &size, found.get(), work.get(), &length,
                   more.get(), &count, &info, 1, 1);
    } else {
      eigenvectors("V", "U", &size, columns.get(), &size, found.get(), work.get(), &length,
                   reals.get(), &length, more.get(), &count, &info, 1, 1);
    }
    return info;
  });
  if (status != 0) return false;
  std::copy_n(found.get(), n, values);
  transpose_to(vectors, columns.get(), n, n);
  // Those of the transpose, which is the conjugate.
  if constexpr (!kIsReal) {
    for (std::int64_t i = 0; i < n * n; i++) vectors[i] = std::conj(vectors[i]);
  }
  return true;
}

template <class T, class Real>
bool lapack_svd(const T* a, std::int64_t m, std::int64_t n, T* u, Real* s, T* vt, ir::Host& host) {
  using OfReal =
      void(const char*, const Integer*, const Integer*, T*, const Integer*, T*, T*, const Integer*,
           T*, const Integer*, T*, const Integer*, Integer*, Integer*, Length);
  using OfComplex = void(const char*, const Integer*, const Integer*, T*, const Integer*, Real*, T*,
                         const Integer*, T*, const Integer*, T*, const Integer*, Real*, Integer*,
                         Integer*, Length);
  constexpr bool kIsReal = ElementOf<T>::kIsReal;
  using Gesdd = std::conditional_t<kIsReal, OfReal, OfComplex>;
  if (!is_for_lapack(m, n) || !are_finite(a, m * n)) return false;
  static Gesdd* const gesdd = routine<Gesdd, T>("gesdd");
  if (!gesdd) return false;
  // It factors the transpose, conj(v) s u^T, into conj(v) by columns, which is vt by rows, and u by
  // rows.
  const std::int64_t k = std::min(m, n), workspace = 5 * k * k + 64 * (m + n);
  const Buffer<T> columns = copied(a, m * n), right = buffer<T>(k * n), left = buffer<T>(m * k);
  const Buffer<T> work = buffer<T>(workspace);
  const Buffer<Real> found = buffer<Real>(k);
  const Buffer<Real> reals =
      buffer<Real>(kIsReal ? 1 : std::max(5 * k * (k + 1), k * (2 * std::max(m, n) + 2 * k + 1)));
  const Buffer<Integer> more = buffer<Integer>(8 * k);
  const Integer status = run_routine(20 * cubed(m, n), host, [=] {
    const auto height = static_cast<Integer>(n), width = static_cast<Integer>(m);
    const auto rank = static_cast<Integer>(k), length = static_cast<Integer>(workspace);
    Integer info = 0;
    if constexpr (kIsReal) {
      gesdd("S", &height, &width, columns.get(), &height, found.get(), right.get(), &height,
            left.get(), &rank, work.get(), &length, more.get(), &info, 1);
    } else {
      gesdd("S", &height, &width, columns.get(), &height, found.get(), right.get(), &height,
            left.get(), &rank, work.get(), &length, reals.get(), more.get(), &info, 1);
    }
    return info;
  });
  if (status != 0) return false;
  std::copy_n(left.get(), m * k, u);
  std::copy_n(found.get(), k, s);
  std::copy_n(right.get(), k * n, vt);
  return true;
}

#else

template <class T>
bool lapack_qr(const T*, std::int64_t, std::int64_t, T*, T*, ir::Host&) {
  return false;
}
template <class T, class Real>
bool lapack_eigh(const T*, std::int64_t, Real*, T*, ir::Host&) {
  return false;
}
template <class T, class Real>
bool lapack_svd(const T*, std::int64_t, std::int64_t, T*, Real*, T*, ir::Host&) {
  return false;
}
#endif

#define RONDO_DECOMPOSITIONS(T, Real)                                                  \
  template bool lapack_qr<T>(const T*, std::int64_t, std::int64_t, T*, T*, ir::Host&); \
  template bool lapack_eigh(const T*, std::int64_t, Real*, T*, ir::Host&);             \
  template bool lapack_svd(const T*, std::int64_t, std::int64_t, T*, Real*, T*, ir::Host&)
RONDO_DECOMPOSITIONS(float, float);
RONDO_DECOMPOSITIONS(double, double);
RONDO_DECOMPOSITIONS(std::complex<float>, float);
RONDO_DECOMPOSITIONS(std::complex<double>, double);
#undef RONDO_DECOMPOSITIONS

}  // namespace rondo::ops
