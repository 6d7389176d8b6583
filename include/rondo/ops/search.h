// Searching sorted arrays, counting, and interpolation, after NumPy.
//
// NaN sorts after all numbers, as in sort. All throw TraceError for dtypes that differ and for
// arrays of another rank.
#pragma once

#include <cstdint>
#include <utility>

#include "rondo/tensor.h"

namespace rondo {

/// On which side of equal elements a value is inserted.
enum class Side : std::uint8_t { kLeft, kRight };

/// s32, of the shape of `values`: where each would be inserted in `sorted`, an ascending vector:
/// before (kLeft) or after (kRight) equal elements. Binary search: logarithmic in the size of
/// `sorted`.
RONDO_API Tensor searchsorted(const Operand& sorted, const Operand& values,
                              Side side = Side::kLeft);
/// s32[length]: how often each of 0, 1, ..., length - 1 occurs among the integers of x; others are
/// not counted.
RONDO_API Tensor bincount(const Operand& x, std::int64_t length);
/// s32, of the shape of x: the number of the bin of each element. Bin i is from bins[i - 1] to
/// below bins[i] if the bins ascend, and from below bins[i - 1] down to bins[i] if they descend.
RONDO_API Tensor digitize(const Operand& x, const Operand& bins);
/// The distinct values of an ascending vector and how often each occurs in it: {values, s32
/// counts}, both of the size of the vector; after the last distinct one the counts are 0 and the
/// values repeat the last.
RONDO_API std::pair<Tensor, Tensor> unique_counts(const Operand& sorted);
/// The distinct values of an array.
struct Unique {
  Tensor values;   // [size], ascending, NaN last and once; then `fill`
  Tensor counts;   // s32[size]: how often each occurs; 0 for a fill
  Tensor inverse;  // s32, of the shape of x: the number of each element's value
};
/// The first `size` distinct values of x, ascending. If there are fewer, the rest is `fill`, a
/// scalar of the dtype of x; without it the least value. If there are more, the inverse of an
/// element whose value is not among them is `size` or more. Like jax.numpy.unique with a size. The
/// derivative of a value goes to its first occurrence.
RONDO_API Unique unique(const Operand& x, std::int64_t size);
RONDO_API Unique unique(const Operand& x, std::int64_t size, const Operand& fill);

/// s32[size, rank]: the indices of the elements of x that are not 0 (or true), in row-major order:
/// the first `size` of them, or rows of the integer `fill` after the last. Like jax.numpy.argwhere
/// with a size.
RONDO_API Tensor argwhere(const Operand& x, std::int64_t size, const Operand& fill = 0);

/// pred, of the shape of x: whether each element is among `values`, an array of any shape. NaN
/// never is.
RONDO_API Tensor isin(const Operand& x, const Operand& values);

/// s32[bins]: how many elements of x are in each of `bins` intervals of one width from lo to hi,
/// which hold their lower end; the last one holds hi too. Other elements and NaN are not counted.
/// The ends are scalars of the dtype of x, a float or an integer (which is converted to f64).
/// numpy.histogram's counts.
RONDO_API Tensor histogram(const Operand& x, std::int64_t bins, const Operand& lo,
                           const Operand& hi);

/// The piecewise linear function through the points (xp, fp) at x: xp and fp are vectors of one
/// size, xp ascends. Constant outside. Differentiable in x and fp.
RONDO_API Tensor interp(const Operand& x, const Operand& xp, const Operand& fp);

}  // namespace rondo
