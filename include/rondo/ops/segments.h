// Reductions of the rows of an array by the number of their segment, after jax.ops.
//
// Row i of axis 0 of x is combined into row ids[i] of the result, whose other axes are those of x.
// `ids` is an integer vector with a number for each row, in any order; rows whose number is not
// from 0 to num_segments - 1 are dropped. All throw TraceError for ids of another type or size and
// a negative number of segments. Each is one scatter, in the dtype of x; rows are combined in their
// order.
#pragma once

#include <cstdint>

#include "rondo/tensor.h"

namespace rondo {

/// The sum of the rows of each segment; pred counts in s32. 0 for a segment without rows.
RONDO_API Tensor segment_sum(const Operand& x, const Operand& ids, std::int64_t num_segments);
/// The product of the rows of each segment; pred in s32. 1 for a segment without rows.
RONDO_API Tensor segment_prod(const Operand& x, const Operand& ids, std::int64_t num_segments);
/// The greatest elements of the rows of each segment; NaN if one is NaN. A segment without rows has
/// the least value of the dtype: -infinity for floats. Throws TraceError for complex numbers.
RONDO_API Tensor segment_max(const Operand& x, const Operand& ids, std::int64_t num_segments);
/// The least elements of the rows of each segment; NaN if one is NaN. A segment without rows has
/// the greatest value of the dtype: infinity for floats. Throws TraceError for complex numbers.
RONDO_API Tensor segment_min(const Operand& x, const Operand& ids, std::int64_t num_segments);

}  // namespace rondo
