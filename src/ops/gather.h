// Slices at the positions in an array of indices.
#pragma once

#include <string>
#include <vector>

#include "ir/derivative.h"
#include "ir/node.h"
#include "rondo/ops/indexing.h"

namespace rondo {

namespace ops {

/// Operands: the array and the indices.
struct GatherAttributes {
  GatherDims dims;
  std::vector<std::int64_t> slice_sizes;
  bool operator==(const GatherAttributes&) const = default;
};

extern const ir::OpDef kGather;

// scatter_derivatives.cc
std::vector<Tensor> gather_transpose(const ir::TransposeCall& c);

}  // namespace ops

}  // namespace rondo
