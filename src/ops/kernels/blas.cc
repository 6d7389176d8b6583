#include "ops/kernels/blas.h"

#include <algorithm>
#include <limits>
#include <thread>

#include "base/parallel.h"

#ifdef RONDO_WITH_OPENBLAS
#include <cblas.h>
#ifdef RONDO_OPENBLAS_SONAME
#include <cstdio>

#include "base/shared_library.h"
#endif
#endif

namespace rondo::ops {

#ifdef RONDO_WITH_OPENBLAS

namespace {

/// Threshold: Products of a panel, between which the run polls and which threads share: about a
/// millisecond. Panels do not depend on the threads, so results do not. Not measured.
constexpr std::int64_t kPanelProducts = std::int64_t{1} << 25;
/// Threshold: Rows of a panel, so that packing the right side for each costs little. Not measured.
constexpr std::int64_t kLeastRows = 192;

struct Blas {
  decltype(&cblas_sgemm) sgemm = nullptr;
  decltype(&cblas_dgemm) dgemm = nullptr;
  decltype(&openblas_set_num_threads) set_threads = nullptr;
};

#ifdef RONDO_OPENBLAS_SONAME

const SharedLibrary& shared_library() {
  static const SharedLibrary library(RONDO_OPENBLAS_SONAME);
  return library;
}

Blas load() {
  const SharedLibrary& library = shared_library();
  const Blas blas{library.symbol<decltype(Blas::sgemm)>("cblas_sgemm"),
                  library.symbol<decltype(Blas::dgemm)>("cblas_dgemm"),
                  library.symbol<decltype(Blas::set_threads)>("openblas_set_num_threads")};
  if (blas.sgemm && blas.dgemm && blas.set_threads) return blas;
  std::fputs("rondo: " RONDO_OPENBLAS_SONAME
             " is not there or is no OpenBLAS; large matrices are computed without it, slower.\n",
             stderr);
  return {};
}

#else

Blas load() { return {cblas_sgemm, cblas_dgemm, openblas_set_num_threads}; }

#endif

/// OpenBLAS; null functions if it is not available. On one thread: it would start one for each
/// core, and its results depend on their number.
const Blas& openblas() {
  static const Blas loaded = [] {
    const Blas blas = load();
    if (blas.set_threads) blas.set_threads(1);
    return blas;
  }();
  return loaded;
}

template <class T, class Gemm>
void multiply_panels(Gemm gemm, const T* a, bool a_swapped, const T* b, bool b_swapped,
                     std::int64_t m, std::int64_t count, std::int64_t n, T* out, ir::Host& host) {
  const std::int64_t rows = std::max<std::int64_t>(kPanelProducts / (count * n), kLeastRows);
  const std::thread::id caller = std::this_thread::get_id();
  parallel_for((m + rows - 1) / rows, host.threads(), [&](std::int64_t number) {
    if (number > 0 && std::this_thread::get_id() == caller) host.poll();
    const std::int64_t first = number * rows;
    const std::int64_t panel = std::min(rows, m - first);
    const auto narrow = [](std::int64_t size) { return static_cast<blasint>(size); };
    gemm(CblasRowMajor, a_swapped ? CblasTrans : CblasNoTrans,
         b_swapped ? CblasTrans : CblasNoTrans, narrow(panel), narrow(n), narrow(count), T(1),
         a + first * (a_swapped ? 1 : count), narrow(a_swapped ? m : count), b,
         narrow(b_swapped ? count : n), T(0), out + first * n, narrow(n));
  });
  host.poll();
}

/// The library's sizes are ints.
bool fits(std::int64_t m, std::int64_t count, std::int64_t n) {
  return std::max({m, count, n}) <= std::numeric_limits<blasint>::max();
}

}  // namespace

bool blas_multiply(const float* a, bool a_swapped, const float* b, bool b_swapped, std::int64_t m,
                   std::int64_t count, std::int64_t n, float* out, ir::Host& host) {
  if (!fits(m, count, n) || !openblas().sgemm) return false;
  multiply_panels(openblas().sgemm, a, a_swapped, b, b_swapped, m, count, n, out, host);
  return true;
}
bool blas_multiply(const double* a, bool a_swapped, const double* b, bool b_swapped, std::int64_t m,
                   std::int64_t count, std::int64_t n, double* out, ir::Host& host) {
  if (!fits(m, count, n) || !openblas().dgemm) return false;
  multiply_panels(openblas().dgemm, a, a_swapped, b, b_swapped, m, count, n, out, host);
  return true;
}

void* openblas_function([[maybe_unused]] const char* name) {
#ifdef RONDO_OPENBLAS_SONAME
  if (openblas().set_threads) return shared_library().symbol<void*>(name);
#endif
  return nullptr;
}

#else

void* openblas_function(const char*) { return nullptr; }

bool blas_multiply(const float*, bool, const float*, bool, std::int64_t, std::int64_t, std::int64_t,
                   float*, ir::Host&) {
  return false;
}
bool blas_multiply(const double*, bool, const double*, bool, std::int64_t, std::int64_t,
                   std::int64_t, double*, ir::Host&) {
  return false;
}

#endif

}  // namespace rondo::ops
