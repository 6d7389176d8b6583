// The records of linear algebra, and what their rules share. Matrices are the last two axes;
// leading axes count matrices. Operands are f32, f64, c64 or c128.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/for_dtype.h"
#include "ir/derivative.h"
#include "ops/batch_rules.h"
#include "ops/combiners.h"
#include "ops/derivative_rules.h"
#include "ops/functions/helpers.h"
#include "ops/support.h"
#include "rondo/ops/linear_algebra.h"

namespace rondo::ops {

/// Operand: x. Without attributes.
extern const OpDef kCholesky;
/// Operands: a, b. Attributes: TriangularSolveOptions.
extern const OpDef kTriangularSolve;

/// Operand: a. Results: lu, pivots, permutation, as in Lu.
extern const OpDef kLu;

/// Operand: a. Results: q, r.
extern const OpDef kQr;
/// Operand: x. Results: values, vectors.
extern const OpDef kEigh;
/// Operand: a. Results: u, s, vt.
extern const OpDef kSvd;

/// Throws unless the operand holds matrices of a dtype named above, square ones if that is asked
/// for.
void check_matrices(const InferContext& context, std::size_t operand);
void check_square(const InferContext& context, std::size_t operand,
                  std::string_view remedy = "Give square matrices.");

/// How the elements of a type are split into matrices.
struct MatrixSizes {
  std::int64_t count = 1, rows = 0, columns = 0;
  explicit MatrixSizes(const TensorType& type);
  std::int64_t elements() const { return rows * columns; }
};

/// The type with its last axes replaced by these.
TensorType with_last_axes(const TensorType& type, std::size_t replaced,
                          std::span<const std::int64_t> axes);

/// The dtype of a magnitude: of the parts, for complex numbers.
constexpr DType magnitude_dtype(DType dtype) {
  return dtype == DType::kC64 ? DType::kF32 : dtype == DType::kC128 ? DType::kF64 : dtype;
}
/// The conjugates of complex numbers; others as they are.
Tensor conjugated(const Tensor& x);
/// x with its last two axes exchanged; `adjoint` also conjugates.
Tensor swapped(const Tensor& x);
Tensor adjoint(const Tensor& x);
/// (x + adjoint of x) / 2.
Tensor hermitian_part(const Tensor& x);
/// The diagonals [..., min(m, n)] of x[..., m, n].
Tensor diagonals(const Tensor& x);
/// Matrices with 1 on the diagonal and 0 elsewhere, of the dtype and shape of x.
Tensor identities_like(const Tensor& x);
/// pred of the shape of x: where the column is less than the row (kLt), …
enum class Triangle : std::uint8_t { kBelow, kOn, kOnOrBelow };
Tensor positions(const Tensor& x, Triangle triangle);

/// a^-1 b, or for `left_side = false` b a^-1; the leading axes are equal.
Tensor triangular_solution(const Tensor& a, const Tensor& b, const TriangularSolveOptions& options,
                           SourceLocation at);

/// x for which a x = b, with equal leading axes. The derivative of the second solves again with the
/// same factors; that of the first differentiates the factors.
Tensor solution(const Tensor& a, const Tensor& b, SourceLocation at);
Tensor differentiable_solution(const Tensor& a, const Tensor& b, SourceLocation at);

/// Row i of each matrix is row permutation[..., i] of x[..., m, n].
Tensor permuted_rows(const Tensor& x, const Tensor& permutation);
/// The results of f on each matrix of x, for expansions: a loop, if there are leading axes.
std::vector<Tensor> each_matrix(std::vector<Tensor> (*f)(const Tensor& matrix), const Tensor& x);

/// f16 and bf16 as f32; any other dtype unchanged.
Tensor in_wide_dtype(const Tensor& x);
/// x in that dtype.
Tensor in_dtype(const Tensor& x, DType dtype);
/// Two arrays of one dtype whose leading axes, all but the last two, are broadcast against each
/// other. Throws TraceError, also if one has no matrices.
std::array<Tensor, 2> matched_leading(const Helper& helper, std::string_view name, const Operand& a,
                                      const Operand& b);

template <class T>
T conjugate(T x) {
  if constexpr (kIsComplex<T>)
    return std::conj(x);
  else
    return x;
}
/// The dtype of a magnitude.
template <class T>
struct RealOf {
  using Type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using Type = T;
};
template <class T>
using Real = typename RealOf<T>::Type;
template <class T>
Real<T> squared(T x) {
  if constexpr (kIsComplex<T>)
    return x.real() * x.real() + x.imag() * x.imag();
  else
    return x * x;
}
/// The larger magnitude of the parts, NaN if one is.
template <class T>
Real<T> extent(T x) {
  if constexpr (kIsComplex<T>) {
    const Real<T> re = std::abs(x.real()), im = std::abs(x.imag());
    return re > im || std::isnan(re) ? re : im;
  } else {
    return std::abs(x);
  }
}
template <class T>
T not_a_number() {
  constexpr Real<T> kNan = std::numeric_limits<Real<T>>::quiet_NaN();
  if constexpr (kIsComplex<T>)
    return {kNan, kNan};
  else
    return kNan;
}
/// Products of complex numbers by the textbook's formula: C++'s looks for infinities.
template <class T>
T times(T a, T b) {
  if constexpr (kIsComplex<T>)
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  else
    return a * b;
}

/// The sum of a[i] conj(b[i]), in eight partial sums, which a compiler keeps in vectors.
inline constexpr std::int64_t kSums = 8;
template <class T>
T dot_rows(const T* a, const T* b, std::int64_t n) {
  T sums[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= n; i += kSums) {
    for (std::int64_t k = 0; k < kSums; k++) sums[k] += times(a[i + k], conjugate(b[i + k]));
  }
  T rest{};
  for (; i < n; i++) rest += times(a[i], conjugate(b[i]));
  for (std::int64_t k = 4; k > 0; k /= 2) {
    for (std::int64_t j = 0; j < k; j++) sums[j] += sums[j + k];
  }
  return sums[0] + rest;
}
/// The sum of |a[i]|^2.
template <class T>
Real<T> squared_norm(const T* a, std::int64_t n) {
  return std::real(dot_rows(a, a, n));
}
/// x less that sum; less one product after another, if they are too few for partial sums.
template <class T>
T less_products(T x, const T* a, const T* b, std::int64_t n) {
  if (n >= kSums) return x - dot_rows(a, b, n);
  for (std::int64_t i = 0; i < n; i++) x -= times(a[i], conjugate(b[i]));
  return x;
}
/// to[i] -= factor from[i].
template <class T>
void subtract_row(T* to, T factor, const T* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i++) to[i] -= times(factor, from[i]);
}

/// Calls f.template operator()<T>() for f32, f64, c64 and c128; the type rules let no other dtype
/// pass.
template <class F>
void for_inexact(DType dtype, F&& f) {
  for_dtype(dtype, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T> || kIsComplex<T>) f.template operator()<T>();
  });
}

}  // namespace rondo::ops
