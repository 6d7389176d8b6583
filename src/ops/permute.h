// Transpose and reverse: the same elements in another order.
#pragma once

#include <vector>

#include "ir/node.h"

namespace rondo::ops {

/// Axis i of the result is axis permutation[i] of the operand.
struct TransposeAttributes {
  std::vector<std::int64_t> permutation;
  bool operator==(const TransposeAttributes&) const = default;
};
struct ReverseAttributes {
  std::vector<std::int64_t> axes;  // sorted, distinct
  bool operator==(const ReverseAttributes&) const = default;
};

extern const ir::OpDef kTranspose;
extern const ir::OpDef kReverse;

/// x itself if the permutation changes nothing.
Tensor transposed(const Tensor& x, std::vector<std::int64_t> permutation, SourceLocation at);

}  // namespace rondo::ops
