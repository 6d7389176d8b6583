// Factors and triangular systems in place, in blocks as they are stored by rows: a matrix need not
// be transposed as a whole, nor copied for another thread, since the run is polled between blocks.
#include <algorithm>
#include <complex>
#include <limits>
#include <utility>

#include "ops/kernels/lapack.h"
#include "ops/kernels/lapack_routines.h"

namespace rondo::ops {

#ifdef RONDO_WITH_OPENBLAS

namespace {

/// Threshold: Products of a block, between which the run is polled: about a millisecond. Not
/// measured.
constexpr std::int64_t kBlockProducts = std::int64_t{1} << 24;
/// Threshold: Rows of a triangle and right sides from which LAPACK solves: for 16 of each it takes
/// 0.4 to 0.75 of our kernel's time. Set by CholeskyGradient in bench/ops_bench.cc: 96 µs for 128
/// rows, 108 where LAPACK solves from 32 on.
constexpr std::int64_t kLeastSolved = 16;
/// Threshold: Columns of a panel, whose elimination is a library's: it must be transposed for that.
/// Set by LuFactors in bench/ops_bench.cc: 0.93 of LAPACK's time for 128 rows, 1.04 with 32
/// and 1.10 with 64.
constexpr std::int64_t kPanelColumns = 16;
/// Threshold: Columns that our own kernel eliminates where the library's would not be polled for
/// long, or there are numbers that are not finite. Not measured.
constexpr std::int64_t kFewColumns = 8;

/// A part of a matrix, whose rows begin at this distance.
template <class T>
struct MatrixPart {
  T* data;
  std::int64_t rows, columns, distance;

  operator MatrixPart<const T>() const { return {data, rows, columns, distance}; }
  T* row(std::int64_t i) const { return data + i * distance; }
  MatrixPart part(std::int64_t top, std::int64_t bottom, std::int64_t left,
                  std::int64_t right) const {
    return {row(top) + left, bottom - top, right - left, distance};
  }
};

Integer narrow(std::int64_t size) { return static_cast<Integer>(size); }

/// Calls f(first, end) for parts of a range that each take about a millisecond, and polls.
template <class F>
void in_parts(std::int64_t count, std::int64_t products_of_one, ir::Host& host, F&& f) {
  constexpr std::int64_t kLeast = 16;
  const std::int64_t size =
      std::max(kLeast, kBlockProducts / std::max<std::int64_t>(1, products_of_one));
  for (std::int64_t first = 0; first < count; first += size) {
    f(first, std::min(count, first + size));
    host.poll();
  }
}

/// Rows are columns to the library: what it computes is c^T, x^T.
template <class T>
struct BlockRoutines {
  using Gemm = void(const char*, const char*, const Integer*, const Integer*, const Integer*,
                    const T*, const T*, const Integer*, const T*, const Integer*, const T*, T*,
                    const Integer*, Length, Length);
  using Trsm = void(const char*, const char*, const char*, const char*, const Integer*,
                    const Integer*, const T*, const T*, const Integer*, T*, const Integer*, Length,
                    Length, Length, Length);
  using Real = typename ElementOf<T>::Real;
  using Herk = void(const char*, const char*, const Integer*, const Integer*, const Real*, const T*,
                    const Integer*, const Real*, T*, const Integer*, Length, Length);
  using Potrf = void(const char*, const Integer*, T*, const Integer*, Integer*, Length);
  using Getrf = void(const Integer*, const Integer*, T*, const Integer*, Integer*, Integer*);

  Gemm* gemm = routine<Gemm, T>("gemm");
  Trsm* trsm = routine<Trsm, T>("trsm");
  Herk* herk = routine<Herk, T>(ElementOf<T>::kIsReal ? "syrk" : "herk");
  Potrf* potrf = routine<Potrf, T>("potrf");
  Getrf* getrf = routine<Getrf, T>("getrf");

  /// Null where the library is not available.
  static const BlockRoutines* find() {
    static const BlockRoutines found;
    const bool all = found.gemm && found.trsm && found.herk && found.potrf && found.getrf;
    return all ? &found : nullptr;
  }

  /// c -= a b, or a b^H
  void subtract_product(const MatrixPart<const T>& a, const MatrixPart<const T>& b,
                        const MatrixPart<T>& c, bool adjoint, ir::Host& host) const {
    in_parts(c.rows, a.columns * c.columns, host, [&](std::int64_t first, std::int64_t end) {
      const Integer m = narrow(end - first), n = narrow(c.columns), count = narrow(a.columns);
      const Integer of_a = narrow(a.distance), of_b = narrow(b.distance), of_c = narrow(c.distance);
      const T minus_one(-1), one(1);
      gemm(adjoint ? "C" : "N", "N", &n, &m, &count, &minus_one, b.data, &of_b, a.row(first), &of_a,
           &one, c.row(first), &of_c, 1, 1);
    });
  }

  /// c -= a a^H, in the lower triangle of c.
  void subtract_square(const MatrixPart<const T>& a, const MatrixPart<T>& c, ir::Host& host) const {
    const std::int64_t n = c.rows, half = n / 2;
    if (n * n * a.columns > 2 * kBlockProducts && n > 1) {
      const MatrixPart<const T> upper = a.part(0, half, 0, a.columns);
      const MatrixPart<const T> lower = a.part(half, n, 0, a.columns);
      subtract_square(upper, c.part(0, half, 0, half), host);
      subtract_product(lower, upper, c.part(half, n, 0, half), true, host);
      return subtract_square(lower, c.part(half, n, half, n), host);
    }
    const Integer size = narrow(n), count = narrow(a.columns);
    const Integer of_a = narrow(a.distance), of_c = narrow(c.distance);
    const Real minus_one(-1), one(1);
    herk("U", ElementOf<T>::kIsReal ? "T" : "C", &size, &count, &minus_one, a.data, &of_a, &one,
         c.data, &of_c, 1, 1);
    host.poll();
  }

  /// Solves for x in place of the right sides; with the adjoint of a where `adjoint` says so.
  void solve(const MatrixPart<const T>& a, const TriangularSolveOptions& options, bool adjoint,
             const MatrixPart<T>& x, ir::Host& host) const {
    const bool left = options.left_side;
    const char* const form = adjoint ? "C" : options.transpose_a ? "T" : "N";
    in_parts(left ? x.columns : x.rows, a.rows * a.rows, host,
             [&](std::int64_t first, std::int64_t end) {
               const Integer count = narrow(end - first), size = narrow(a.rows);
               const Integer of_a = narrow(a.distance), of_x = narrow(x.distance);
               const T one(1);
               trsm(left ? "R" : "L", options.lower ? "U" : "L", form,
                    options.unit_diagonal ? "U" : "N", left ? &count : &size, left ? &size : &count,
                    &one, a.data, &of_a, left ? x.data + first : x.row(first), &of_x, 1, 1, 1, 1);
             });
  }

  /// The factor in the lower triangle of a; false if a is not positive definite.
  bool factor(const MatrixPart<T>& a, ir::Host& host) const {
    const std::int64_t n = a.rows, half = n / 2;
    if (n * n * n <= 4 * kBlockProducts) {
      const Integer size = narrow(n), distance = narrow(a.distance);
      Integer info = 0;
      potrf("U", &size, a.data, &distance, &info, 1);
      host.poll();
      return info == 0;
    }
    const MatrixPart<T> upper = a.part(0, half, 0, half), below = a.part(half, n, 0, half);
    const MatrixPart<T> rest = a.part(half, n, half, n);
    if (!factor(upper, host)) return false;
    solve(upper, {.left_side = false}, true, below, host);
    subtract_square(below, rest, host);
    return factor(rest, host);
  }
};

/// Elimination by halves of the columns. Row exchanges are numbered from the first row of each
/// part.
template <class T>
class BlockedElimination {
 public:
  BlockedElimination(const BlockRoutines<T>& routines, Elimination<T>* of_few, ir::Host& host)
      : routines_(routines), of_few_(of_few), host_(host), poller_(host) {}

  void factor(const MatrixPart<T>& a, std::int32_t* pivots) {
    const std::int64_t m = a.rows, n = a.columns;
    if (n <= kPanelColumns && m * n * n <= kBlockProducts && factor_panel(a, pivots)) return;
    if (n <= kFewColumns || m <= 1) return of_few_(a.data, a.distance, m, n, pivots, poller_);
    const std::int64_t size = n > m ? m : n / 2, k = std::min(m, n);
    const MatrixPart<T> left = a.part(0, m, 0, size), right = a.part(0, m, size, n);
    const MatrixPart<T> upper_right = a.part(0, size, size, n);
    factor(left, pivots);
    exchange(right, pivots, size);
    routines_.solve(a.part(0, size, 0, size), {.unit_diagonal = true}, false, upper_right, host_);
    if (size == k) return;
    const MatrixPart<T> rest = a.part(size, m, size, n);
    routines_.subtract_product(a.part(size, m, 0, size), upper_right, rest, false, host_);
    factor(rest, pivots + size);
    exchange(a.part(size, m, 0, size), pivots + size, k - size);
    for (std::int64_t i = size; i < k; i++) pivots[i] += static_cast<std::int32_t>(size);
  }

 private:
  /// By the library; false, without any effect, if a is not finite: pivots may be anything after an
  /// overflow.
  bool factor_panel(const MatrixPart<T>& a, std::int32_t* pivots) {
    bool usable = true;
    for (std::int64_t i = 0; i < a.rows; i++) usable &= are_finite(a.row(i), a.columns);
    if (!usable) return false;
    const Buffer<T> columns = buffer<T>(a.rows * a.columns);
    Integer exchanges[kPanelColumns] = {};
    transpose_to(columns.get(), a.rows, a.data, a.distance, a.rows, a.columns);
    const Integer m = narrow(a.rows), n = narrow(a.columns);
    Integer info = 0;
    routines_.getrf(&m, &n, columns.get(), &m, exchanges, &info);
    const std::int64_t k = std::min(a.rows, a.columns);
    for (std::int64_t i = 0; i < k; i++) usable &= exchanges[i] > i && exchanges[i] <= m;
    host_.poll();
    if (info < 0 || !usable) return false;
    for (std::int64_t i = 0; i < k; i++) pivots[i] = static_cast<std::int32_t>(exchanges[i] - 1);
    transpose_to(a.data, a.distance, columns.get(), a.rows, a.columns, a.rows);
    return true;
  }

  void exchange(const MatrixPart<T>& a, const std::int32_t* pivots, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i++) {
      if (pivots[i] == i) continue;
      std::swap_ranges(a.row(i), a.row(i) + a.columns, a.row(pivots[i]));
      poller_.did(a.columns);
    }
  }

  const BlockRoutines<T>& routines_;
  Elimination<T>* of_few_;
  ir::Host& host_;
  ir::Poller poller_;
};

}  // namespace

template <class T>
bool lapack_cholesky(const T* x, std::int64_t n, T* l, ir::Host& host) {
  if (!is_for_lapack(n, n) || !lower_is_finite(x, n)) return false;
  const BlockRoutines<T>* const routines = BlockRoutines<T>::find();
  if (!routines) return false;
  for (std::int64_t i = 0; i < n; i++) {
    std::copy_n(x + i * n, i + 1, l + i * n);
    std::fill_n(l + i * n + i + 1, n - i - 1, T{});
  }
  bool positive = routines->factor({l, n, n, n}, host);
  for (std::int64_t i = 0; i < n; i++) positive &= std::real(l[i * n + i]) > 0;
  if (!positive)
    std::fill_n(l, n * n, T(std::numeric_limits<typename ElementOf<T>::Real>::quiet_NaN()));
  return true;
}

template <class T>
bool lapack_lu(T* a, std::int64_t m, std::int64_t n, std::int32_t* pivots, Elimination<T>* of_few,
               ir::Host& host) {
  if (!is_for_lapack(m, n)) return false;
  const BlockRoutines<T>* const routines = BlockRoutines<T>::find();
  if (!routines) return false;
  BlockedElimination<T>(*routines, of_few, host).factor({a, m, n, n}, pivots);
  return true;
}

template <class T>
bool lapack_triangular_solve(const T* a, std::int64_t n, const TriangularSolveOptions& options,
                             T* x, std::int64_t m, ir::Host& host) {
  if (!is_for_lapack(n, m, kLeastSolved)) return false;
  const BlockRoutines<T>* const routines = BlockRoutines<T>::find();
  if (!routines) return false;
  const MatrixPart<T> sides =
      options.left_side ? MatrixPart<T>{x, n, m, m} : MatrixPart<T>{x, m, n, n};
  routines->solve({a, n, n, n}, options, false, sides, host);
  return true;
}

#else

template <class T>
bool lapack_cholesky(const T*, std::int64_t, T*, ir::Host&) {
  return false;
}
template <class T>
bool lapack_lu(T*, std::int64_t, std::int64_t, std::int32_t*, Elimination<T>*, ir::Host&) {
  return false;
}
template <class T>
bool lapack_triangular_solve(const T*, std::int64_t, const TriangularSolveOptions&, T*,
                             std::int64_t, ir::Host&) {
  return false;
}

#endif

#define RONDO_IN_BLOCKS(T)                                                                        \
  template bool lapack_cholesky<T>(const T*, std::int64_t, T*, ir::Host&);                        \
  template bool lapack_lu<T>(T*, std::int64_t, std::int64_t, std::int32_t*, Elimination<T>*,      \
                             ir::Host&);                                                          \
  template bool lapack_triangular_solve<T>(const T*, std::int64_t, const TriangularSolveOptions&, \
                                           T*, std::int64_t, ir::Host&)
RONDO_IN_BLOCKS(float);
RONDO_IN_BLOCKS(double);
RONDO_IN_BLOCKS(std::complex<float>);
RONDO_IN_BLOCKS(std::complex<double>);
#undef RONDO_IN_BLOCKS

}  // namespace rondo::ops
