// Applies regions of scalars, such as combiners, to whole arrays.
#pragma once

#include <span>
#include <vector>

#include "ir/node.h"
#include "rondo/function.h"

namespace rondo::ops {

/// The first op of the region that is not elementwise; null if all are.
const ir::Node* first_not_elementwise(const Function& region);

/// A region of scalars applied to arrays of one shape, elementwise, as new nodes. Its ops must be
/// elementwise unless the shape is that of a scalar.
std::vector<Tensor> call_elementwise(const Function& region, std::span<const Tensor> arguments,
                                     const Shape& shape);

}  // namespace rondo::ops
