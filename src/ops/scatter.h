// Updates at the positions in an array of indices.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/derivative.h"
#include "ir/node.h"
#include "rondo/ops/indexing.h"

namespace rondo {

namespace ops {

/// Operands: n arrays, the indices, n updates. The region combines n elements and n updates, all
/// scalars, into n results.
struct ScatterAttributes {
  ScatterDims dims;
  bool operator==(const ScatterAttributes&) const = default;
};

extern const ir::OpDef kScatter;

/// The sizes of a window along each axis of the operand.
std::vector<std::int64_t> window_sizes(const ScatterDims& dims, const Shape& operand,
                                       const Shape& updates);

/// A region that returns the updates and ignores the elements.
bool overwrites(const Function& region);

// scatter_in_loops.cc
std::vector<Tensor> scatter_in_loops(const ir::Node& node, std::span<const Tensor> operands);

// scatter_derivatives.cc

/// Scatters to the positions that a gather reads.
ScatterDims scatter_dims_of(const GatherDims& dims);
/// x with the updates added.
Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates,
                   const ScatterDims& dims);
/// The cotangent of an array from the cotangents of elements that were read from it.
ir::CotangentPart added_to_zeros(const TensorType& type, const Tensor& indices,
                                 const Tensor& updates, const ScatterDims& dims);

/// Adding updates, and replacing elements by them, are linear.
bool is_linear_scatter(const ir::Node& node);
std::vector<Tensor> scatter_transpose(const ir::TransposeCall& c);
std::vector<Tensor> scatter_jvp(const ir::JvpCall& c);  // for other combiners

}  // namespace ops

}  // namespace rondo
