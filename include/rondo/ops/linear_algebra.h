// Linear algebra: factorisations, and what is computed by them.
//
// Matrices are the last two axes; leading axes count matrices. Names, results and orders are those
// of numpy.linalg, jax.numpy.linalg and jax.scipy.linalg. Values are computed in f32, f64, c64 or
// c128; f16 and bf16 are computed in f32 and rounded. A singular or indefinite matrix is no error:
// results that do not exist are NaN or infinite, for that matrix alone. All functions have
// derivatives of any order in both modes. They throw TraceError for operands that are no matrices
// of floating or complex numbers, or whose sizes do not fit.
#pragma once

#include <cstdint>
#include <optional>

#include "rondo/tensor.h"

namespace rondo {

/// The lower triangular matrices l with a positive diagonal for which matmul(l, adjoint of l) is
/// the Hermitian x[..., n, n], of which only the lower triangle is read. Like JAX's, the derivative
/// is that for Hermitian changes of x: a tangent counts by its Hermitian part, and a gradient is
/// Hermitian. A matrix that is not positive definite gives NaN throughout.
RONDO_API Tensor cholesky(const Operand& x);

/// Options of triangular_solve.
struct TriangularSolveOptions {
  bool left_side = true;       // a x = b; else x a = b
  bool lower = true;           // which triangle of a is read
  bool unit_diagonal = false;  // the diagonal of a is not read, but taken as ones
  bool transpose_a = false;    // with the transpose of a in place of a, not conjugated
  bool operator==(const TriangularSolveOptions&) const = default;
};

/// x[..., n, m] for which a x = b, where a[..., n, n] is triangular; for x a = b with
/// `left_side = false`, x and b are [..., m, n]. `lower` and the unread triangle are those of a as
/// given, before it is transposed. Leading axes broadcast. Zeros on the diagonal give NaN and
/// infinity. Like XLA's TriangularSolve.
RONDO_API Tensor triangular_solve(const Operand& a, const Operand& b,
                                  const TriangularSolveOptions& options = {});

/// P a = l u by Gaussian elimination with row exchanges, for a[..., m, n] with k = min(m, n).
struct Lu {
  /// [..., m, n]: u in and above the diagonal, l, whose diagonal is 1, below.
  Tensor lu;
  /// s32[..., k]: row i was exchanged with row pivots[i], which is not less, for i = 0, 1, …
  Tensor pivots;
  /// s32[..., m]: row i of P a is row permutation[i] of a.
  Tensor permutation;
};
/// The factors of a by Gaussian elimination. The element of greatest magnitude (|re| + |im|, as in
/// LAPACK) is the pivot. A column without a nonzero pivot is left, so that u has a zero on its
/// diagonal.
RONDO_API Lu lu(const Operand& a);

/// a = q r for a[..., m, n] with k = min(m, n), by Householder reflections.
struct Qr {
  Tensor q;  // [..., m, k], with orthonormal columns
  Tensor r;  // [..., k, n], upper triangular
};
/// An orthonormal basis q of the columns of a, and the triangle r. The signs are LAPACK's: the
/// diagonal of r may be negative. The derivative exists if the first k columns are independent.
RONDO_API Qr qr(const Operand& a);

/// The eigenvalues and eigenvectors of Hermitian matrices.
struct Eigh {
  Tensor values;   // [..., n], real, ascending
  Tensor vectors;  // [..., n, n]: column i belongs to values[i], has norm 1
};
/// The eigenvalues and eigenvectors of the symmetric or Hermitian x[..., n, n], of which only the
/// lower triangle is read, and only the real part of the diagonal. Derivatives as for `cholesky`;
/// those of vectors are infinite or NaN where eigenvalues are equal. The sign or phase of a vector
/// is arbitrary, and its derivative that of a vector which keeps it.
RONDO_API Eigh eigh(const Operand& x);

/// a = u diag(s) vt for a[..., m, n] with k = min(m, n).
struct Svd {
  Tensor u;   // [..., m, k], with orthonormal columns
  Tensor s;   // [..., k], real, not negative, descending
  Tensor vt;  // [..., k, n], with orthonormal rows
};
/// The singular values and vectors of real or complex matrices. The derivatives of u and vt are
/// infinite or NaN where singular values are equal or 0. The sign or phase of a pair of vectors is
/// arbitrary.
RONDO_API Svd svd(const Operand& a);

/// x for which matmul(l, adjoint of l) x = b, where l is the factor of `cholesky`. b is [..., n,
/// m], or a vector [n]; leading axes broadcast.
RONDO_API Tensor cho_solve(const Operand& l, const Operand& b);
/// x for which a x = b, where the square a has this factorisation. b as in `cho_solve`.
RONDO_API Tensor lu_solve(const Lu& factors, const Operand& b);
/// x for which a x = b, for a[..., n, n], by `lu`. b is [..., n, m], or a vector [n]; leading axes
/// broadcast. The derivative solves again with the same factors, and does not differentiate the
/// elimination.
RONDO_API Tensor solve(const Operand& a, const Operand& b);
/// x of least norm among those for which |a x - b| is least, for a[..., m, n], b[..., m, p] or a
/// vector [m], by `svd`. Singular values below rcond times the greatest count as zero; by default
/// rcond is max(m, n) times the epsilon of the dtype.
RONDO_API Tensor lstsq(const Operand& a, const Operand& b, std::optional<double> rcond = {});
/// The inverse of a[..., n, n].
RONDO_API Tensor inv(const Operand& a);
/// The Moore-Penrose inverse [..., n, m] of a[..., m, n], by `svd`, with rcond as in `lstsq` but
/// ten times as large by default (JAX's default). The derivative is that for a constant rank.
/// Complex matrices, here and in `lstsq`, as real ones of twice as many rows and columns.
RONDO_API Tensor pinv(const Operand& a, std::optional<double> rcond = {});

/// The determinants [...] of a[..., n, n]. The first derivative exists for singular matrices too;
/// the second one is NaN for them from n = 4 on.
RONDO_API Tensor det(const Operand& a);
/// A determinant is sign exp(logdet).
struct Slogdet {
  Tensor sign;    // [...]: 1, -1, 0, or a complex number of magnitude 1
  Tensor logdet;  // [...], real; -infinity for a singular matrix
};
/// The sign and the logarithm of the determinants of a[..., n, n], which do not overflow.
RONDO_API Slogdet slogdet(const Operand& a);

/// The exponential of a[..., n, n], by Padé approximation of degree 13 with scaling and squaring
/// (Higham, 2005; f32: degree 7), with a number of squarings that depends on the 1-norm: at most
/// 16, as in JAX. Matrices of a larger norm give NaN.
RONDO_API Tensor expm(const Operand& a);
/// The power n of a[..., k, k]; the inverse's for a negative n; the identity for 0.
RONDO_API Tensor matrix_power(const Operand& a, std::int64_t n);
/// The sums [...] of the diagonals of a[..., m, n]; also of integers.
RONDO_API Tensor matrix_trace(const Operand& a);
/// NumPy's Kronecker product. The operand of less rank gets leading axes of size 1; axis i of the
/// result has the size of axis i of a times that of b. Also of integers.
RONDO_API Tensor kron(const Operand& a, const Operand& b);
/// The cross products of vectors along the last axis, of size 3; leading axes broadcast. Also of
/// integers.
RONDO_API Tensor cross(const Operand& a, const Operand& b);

}  // namespace rondo
