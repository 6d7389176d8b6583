// Matrices as 2 x 2 blocks. The tangents of triangular factors follow from those of their blocks,
// so that products and systems are those of blocks that are not zero.
#pragma once

#include <cstdint>

#include "rondo/tensor.h"

namespace rondo::ops {

/// Threshold: Rows and columns of matrices whose tangents are computed as a whole: smaller blocks
/// spare fewer operations than it costs to take and join them. Set by CholeskyGradient in
/// bench/ops_bench.cc: 2.8 times the value for 128 rows, 3.0 with 32 and 3.9 with 64.
inline constexpr std::int64_t kWholeRows = 16;

struct Blocks {
  Tensor upper_left, upper_right, lower_left, lower_right;

  /// The blocks of each matrix of x, the first of which has that many rows and columns.
  static Blocks of(const Tensor& x, std::int64_t size);
  /// The matrices of these blocks; empty ones have no elements.
  Tensor joined() const;
};

}  // namespace rondo::ops
