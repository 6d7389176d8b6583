// Factors and triangular systems in place, in blocks as they are stored by rows: a matrix need not
// be transposed as a whole, nor copied for another thread, since the run is polled between blocks.
#include <algorithm>
#include <complex>
#include <limits>
#include <utility>

#include "ops/kernels/lapack.h"
#include "ops/kernels/lapack_routines.h"
#include "ops/kernels/vector_gemm.h"

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

/// Threshold: Rows of triangles, squares and factors that the library computes as a whole: larger
/// ones by halves, with products by our own vector code where the processor has it. Set by Cholesky
/// in bench/ops_bench.cc: 0.77 of LAPACK's time for 512 rows, 0.88 with 128.
constexpr std::int64_t kWholeSides = 64;

enum class Form : std::uint8_t { kPlain, kTransposed, kAdjoint };

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

  /// c -= a b, of which the factors may be transposed.
  void subtract_product(const MatrixPart<const T>& a, Form of_a, const MatrixPart<const T>& b,
                        Form of_b, const MatrixPart<T>& c, ir::Host& host) const {
    const bool a_turned = of_a != Form::kPlain, b_turned = of_b != Form::kPlain;
    const std::int64_t terms = a_turned ? a.rows : a.columns;
    if constexpr (ElementOf<T>::kIsReal) {
      if (vector_subtract_product(a.data, a.distance, a_turned, b.data, b.distance, b_turned,
                                  c.rows, terms, c.columns, c.data, c.distance, host))
        return;
    }
    in_parts(c.rows, terms * c.columns, host, [&](std::int64_t first, std::int64_t end) {
      const Integer m = narrow(end - first), n = narrow(c.columns), count = narrow(terms);
      const Integer a_row = narrow(a.distance), b_row = narrow(b.distance);
      const Integer c_row = narrow(c.distance);
      const T minus_one(-1), one(1);
      gemm(name(of_b), name(of_a), &n, &m, &count, &minus_one, b.data, &b_row,
           a_turned ? a.data + first : a.row(first), &a_row, &one, c.row(first), &c_row, 1, 1);
    });
  }

  /// c -= a a^H, in the lower triangle of c.
  void subtract_square(const MatrixPart<const T>& a, const MatrixPart<T>& c, ir::Host& host) const {
    const std::int64_t n = c.rows, half = n / 2;
    if (n > kWholeSides) {
      const MatrixPart<const T> upper = a.part(0, half, 0, a.columns);
      const MatrixPart<const T> lower = a.part(half, n, 0, a.columns);
      subtract_square(upper, c.part(0, half, 0, half), host);
      subtract_product(lower, Form::kPlain, upper, Form::kAdjoint, c.part(half, n, 0, half), host);
      return subtract_square(lower, c.part(half, n, half, n), host);
    }
    const Integer size = narrow(n), count = narrow(a.columns);
    const Integer of_a = narrow(a.distance), of_c = narrow(c.distance);
    const Real minus_one(-1), one(1);
    herk("U", ElementOf<T>::kIsReal ? "T" : "C", &size, &count, &minus_one, a.data, &of_a, &one,
         c.data, &of_c, 1, 1);
    host.poll();
  }

  /// Solves for x in place of the right sides, in that form of the triangle of a.
  void solve(const MatrixPart<const T>& a, const TriangularSolveOptions& options, Form form,
             const MatrixPart<T>& x, ir::Host& host) const {
    const bool left = options.left_side;
    const std::int64_t n = a.rows, half = n / 2;
    if (n > kWholeSides) {
      // The halves of x, of which the first one solved for is subtracted from the other.
      const MatrixPart<T> low = left ? x.part(0, half, 0, x.columns) : x.part(0, x.rows, 0, half);
      const MatrixPart<T> high = left ? x.part(half, n, 0, x.columns) : x.part(0, x.rows, half, n);
      const MatrixPart<const T> upper = a.part(0, half, 0, half), lower = a.part(half, n, half, n);
      const MatrixPart<const T> other =
          options.lower ? a.part(half, n, 0, half) : a.part(0, half, half, n);
      const bool forward = (options.lower == (form == Form::kPlain)) == left;
      const MatrixPart<T>&first = forward ? low : high, &second = forward ? high : low;
      solve(forward ? upper : lower, options, form, first, host);
      if (left)
        subtract_product(other, form, first, Form::kPlain, second, host);
      else
        subtract_product(first, Form::kPlain, other, form, second, host);
      return solve(forward ? lower : upper, options, form, second, host);
    }
    in_parts(left ? x.columns : x.rows, n * n, host, [&](std::int64_t first, std::int64_t end) {
      const Integer count = narrow(end - first), size = narrow(n);
      const Integer of_a = narrow(a.distance), of_x = narrow(x.distance);
      const T one(1);
      trsm(left ? "R" : "L", options.lower ? "U" : "L", name(form),
           options.unit_diagonal ? "U" : "N", left ? &count : &size, left ? &size : &count, &one,
           a.data, &of_a, left ? x.data + first : x.row(first), &of_x, 1, 1, 1, 1);
    });
  }

  /// The factor in the lower triangle of a; false if a is not positive definite.
  bool factor(const MatrixPart<T>& a, ir::Host& host) const {
    const std::int64_t n = a.rows, half = n / 2;
    if (n <= kWholeSides) {
      const Integer size = narrow(n), distance = narrow(a.distance);
      Integer info = 0;
      potrf("U", &size, a.data, &distance, &info, 1);
      host.poll();
      return info == 0;
    }
    const MatrixPart<T> upper = a.part(0, half, 0, half), below = a.part(half, n, 0, half);
    const MatrixPart<T> rest = a.part(half, n, half, n);
    if (!factor(upper, host)) return false;
    solve(upper, {.left_side = false}, Form::kAdjoint, below, host);
    subtract_square(below, rest, host);
    return factor(rest, host);
  }

 private:
  static const char* name(Form form) {
    return form == Form::kPlain ? "N" : form == Form::kTransposed ? "T" : "C";
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
    routines_.solve(a.part(0, size, 0, size), {.unit_diagonal = true}, Form::kPlain, upper_right,
                    host_);
    if (size == k) return;
    const MatrixPart<T> rest = a.part(size, m, size, n);
    routines_.subtract_product(a.part(size, m, 0, size), Form::kPlain, upper_right, Form::kPlain,
                               rest, host_);
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
  const Form form = options.transpose_a ? Form::kTransposed : Form::kPlain;
  routines->solve({a, n, n, n}, options, form, sides, host);
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
