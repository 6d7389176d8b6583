// Factorisations of large matrices and solutions of triangular systems by OpenBLAS, if the build
// includes it.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "rondo/ops/linear_algebra.h"

namespace rondo::ops {

/// Each takes one matrix of f32, f64, c64 or c128, stored by rows. It returns false, without any
/// effect, where the kernel of the op has to: the matrix is small or (except for lu and
/// triangular_solve) not finite, or the library is not available or has failed. The library runs on
/// one thread, and results depend on the matrix alone. Polls the host about each millisecond.

/// l (n x n), NaN throughout unless x is positive definite.
template <class T>
bool lapack_cholesky(const T* x, std::int64_t n, T* l, ir::Host& host);

/// Elimination with row exchanges, in place, of a (m x n) with rows at that distance: row i was
/// exchanged with row pivots[i].
template <class T>
using Elimination = void(T* a, std::int64_t distance, std::int64_t m, std::int64_t n,
                         std::int32_t* pivots, ir::Poller& poller);
/// The same with n as the distance, also of a matrix that is not finite, for which `of_few`, our
/// own kernel, is called on parts.
template <class T>
bool lapack_lu(T* a, std::int64_t m, std::int64_t n, std::int32_t* pivots, Elimination<T>* of_few,
               ir::Host& host);

/// q (m x k) and r (k x n), where k is the smaller of m and n.
template <class T>
bool lapack_qr(const T* a, std::int64_t m, std::int64_t n, T* q, T* r, ir::Host& host);

/// n ascending values, and the vectors as columns (n x n).
template <class T, class Real>
bool lapack_eigh(const T* x, std::int64_t n, Real* values, T* vectors, ir::Host& host);

/// u (m x k), k descending s, and vt (k x n).
template <class T, class Real>
bool lapack_svd(const T* a, std::int64_t m, std::int64_t n, T* u, Real* s, T* vt, ir::Host& host);

/// The solutions in place of the right sides: x has m columns (rows, if a is on the right) for the
/// triangle of a (n x n). Like our kernel it multiplies by the reciprocals of the diagonal.
template <class T>
bool lapack_triangular_solve(const T* a, std::int64_t n, const TriangularSolveOptions& options,
                             T* x, std::int64_t m, ir::Host& host);

}  // namespace rondo::ops
