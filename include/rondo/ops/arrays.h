// Array functions composed of the ops of shapes and slices.
//
// Names, defaults and results follow NumPy. All throw TraceError for axes out of range and shapes
// that do not fit, and are differentiable if their elements are.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "rondo/tensor.h"

namespace rondo {

/// n numbers from `lo` to `hi`, inclusive, at equal distances; `lo` alone for n = 1. Scalars of a
/// floating dtype. A tensor in place of the dtype gives its own: `linspace(0, 1, n, x)`.
RONDO_API Tensor linspace(const Operand& lo, const Operand& hi, std::int64_t n,
                          DType dtype = DType::kF32);
template <std::same_as<Tensor> Like>
Tensor linspace(const Operand& lo, const Operand& hi, std::int64_t n, const Like& like) {
  return linspace(lo, hi, n, like.dtype());
}
/// f[n,m]: the products of each element of a and each of b, which are flattened.
RONDO_API Tensor outer(const Operand& a, const Operand& b);
/// For a vector, the matrix with it on diagonal k and zeros elsewhere; for a matrix, its diagonal
/// k. k > 0 is above the main diagonal.
RONDO_API Tensor diag(const Operand& x, std::int64_t k = 0);
/// x with zeros above diagonal k of its last two axes.
RONDO_API Tensor tril(const Operand& x, std::int64_t k = 0);
/// x with zeros below diagonal k of its last two axes.
RONDO_API Tensor triu(const Operand& x, std::int64_t k = 0);
/// A matrix of scalars, row by row; C++ scalars take the dtype of the tensors among them. Throws
/// TraceError for rows of different lengths and for elements that are no scalars.
RONDO_API Tensor matrix(std::initializer_list<std::initializer_list<Tensor>> rows,
                        SourceLocation at = SourceLocation::current());

/// The coordinates of the points of a grid: {x of each, y of each}, both [size of y, size of x],
/// for two vectors. NumPy's indexing "xy".
RONDO_API std::pair<Tensor, Tensor> meshgrid(const Operand& x, const Operand& y);

/// The frequencies of the elements of a discrete Fourier transform of n samples, which are `d`
/// apart: [n], from 0 to the highest, then the negative ones up to -1 / (n d). Of a floating dtype.
RONDO_API Tensor fftfreq(std::int64_t n, const Operand& d = 1, DType dtype = DType::kF32);
/// The frequencies of the elements of rfft of n samples, which are `d` apart: [n / 2 + 1], from 0
/// on. Of a floating dtype.
RONDO_API Tensor rfftfreq(std::int64_t n, const Operand& d = 1, DType dtype = DType::kF32);
/// Moves the zero frequency from the beginning of the axes, all of them if there are none, to the
/// middle: element size / 2.
RONDO_API Tensor fftshift(const Operand& x, const Axes& axes = {});
/// The inverse of fftshift.
RONDO_API Tensor ifftshift(const Operand& x, const Axes& axes = {});

/// Rotates elements by `shift` positions along the axis; those that leave at the end re-enter at
/// the beginning.
RONDO_API Tensor roll(const Operand& x, std::int64_t shift, std::int64_t axis);
/// Reverses the order along the axes, all of them if there are none.
RONDO_API Tensor flip(const Operand& x, const Axes& axes = {});
/// x repeated reps[i] times along axis i. More reps than axes add leading axes; fewer leave the
/// first axes unchanged.
RONDO_API Tensor tile(const Operand& x, const std::vector<std::int64_t>& reps);
/// Repeats each element n times along the axis.
RONDO_API Tensor repeat(const Operand& x, std::int64_t n, std::int64_t axis);
/// The differences of adjacent elements along the axis, one fewer than its size; for pred, whether
/// they differ.
RONDO_API Tensor diff(const Operand& x, std::int64_t axis = -1);

/// Column j of axis 1, without that axis: a C++ integer (negative counts from the end, out of range
/// throws) or an integer scalar tensor (clamped).
RONDO_API Tensor column(const Operand& x, const Operand& j);
/// The element, or slice, at one index for each of the first axes, without these axes. Each is a
/// C++ integer (negative counts from the end, out of range throws) or an integer scalar tensor
/// (clamped).
RONDO_API Tensor at(const Operand& x, const std::vector<Tensor>& indices);
/// x with that element, or slice, replaced by `value`, which broadcasts to it; a C++ scalar takes
/// the dtype of x. Indices in braces may also be ranges (rondo/ops/slices.h).
RONDO_API Tensor update(const Operand& x, const std::vector<Tensor>& indices, const Operand& value);

}  // namespace rondo
