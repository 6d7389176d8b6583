// Arrays made, taken apart and put together again: Tensor code over the ops of shapes and parts.
//
// Names, defaults and results follow NumPy. All throw TraceError for axes out of range and shapes
// that do not fit, and are differentiable where their elements are.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "rondo/tensor.h"

namespace rondo {

/// n numbers from `lo` to `hi`, both among them, at equal distances; `lo` alone for n = 1. Scalars,
/// of a floating dtype. Instead of a dtype a tensor says that its own is meant: `linspace(0, 1, n,
/// x)`.
RONDO_API Tensor linspace(const Operand& lo, const Operand& hi, std::int64_t n,
                          DType dtype = DType::kF32);
template <std::same_as<Tensor> Like>
Tensor linspace(const Operand& lo, const Operand& hi, std::int64_t n, const Like& like) {
  return linspace(lo, hi, n, like.dtype());
}
/// f[n,m]: the products of each element of a and each of b, which are flattened.
RONDO_API Tensor outer(const Operand& a, const Operand& b);
/// Of a vector, the matrix with it on diagonal k and zeros elsewhere; of a matrix, its diagonal k.
/// k > 0 lies above the main diagonal.
RONDO_API Tensor diag(const Operand& x, std::int64_t k = 0);
/// x with zeros above diagonal k of its last two axes.
RONDO_API Tensor tril(const Operand& x, std::int64_t k = 0);
/// x with zeros below diagonal k of its last two axes.
RONDO_API Tensor triu(const Operand& x, std::int64_t k = 0);
/// A matrix of scalars, row by row; C++ scalars take the dtype of the tensors beside them. Throws
/// TraceError for rows of different lengths and for what is no scalar.
RONDO_API Tensor matrix(std::initializer_list<std::initializer_list<Tensor>> rows,
                        SourceLocation at = SourceLocation::current());

/// Elements move `shift` places along the axis; what leaves at the end comes in at the beginning.
RONDO_API Tensor roll(const Operand& x, std::int64_t shift, std::int64_t axis);
/// The order reversed along the axes, all of them if there are none.
RONDO_API Tensor flip(const Operand& x, const Axes& axes = {});
/// x repeated reps[i] times along axis i. More reps than axes add axes in front; fewer leave the
/// first axes as they are.
RONDO_API Tensor tile(const Operand& x, const std::vector<std::int64_t>& reps);
/// Each element n times along the axis.
RONDO_API Tensor repeat(const Operand& x, std::int64_t n, std::int64_t axis);
/// The differences of neighbours along the axis, one less than its size; of pred, whether they
/// differ.
RONDO_API Tensor diff(const Operand& x, std::int64_t axis = -1);

/// Column j of axis 1, without that axis: a C++ integer (negative counts from the end, out of range
/// throws) or an integer scalar tensor (clamped).
RONDO_API Tensor column(const Operand& x, const Operand& j);
/// The element, or the part, at one index for each of the first axes, without these axes. Each is a
/// C++ integer (negative counts from the end, out of range throws) or an integer scalar tensor
/// (clamped).
RONDO_API Tensor at(const Operand& x, const std::vector<Tensor>& indices);
/// x with that element, or part, replaced by `value`, which broadcasts to it; a C++ scalar takes
/// the dtype of x. Indices in braces may be ranges too (rondo/ops/slices.h).
RONDO_API Tensor update(const Operand& x, const std::vector<Tensor>& indices, const Operand& value);

}  // namespace rondo
