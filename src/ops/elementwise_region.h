// Regions of scalars, such as combiners: their check, and their application to whole arrays.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ops/support.h"
#include "rondo/function.h"

namespace rondo::ops {

/// Throws TraceError unless the node has one region, which takes two scalars of the dtypes of each
/// of the first `count` operands, accumulators before elements, and returns accumulators.
void check_combiner(const InferContext& context, std::size_t count);

/// The first op of the region that is not elementwise; null if all are.
const ir::Node* first_not_elementwise(const Function& region);

/// A region of scalars applied to arrays of one shape, elementwise, as new nodes. Its ops must be
/// elementwise unless the shape is that of a scalar.
std::vector<Tensor> call_elementwise(const Function& region, std::span<const Tensor> arguments,
                                     const Shape& shape);

}  // namespace rondo::ops
