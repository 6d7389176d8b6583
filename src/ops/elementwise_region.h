// Regions of scalars, such as combiners, on whole arrays.
#pragma once

#include <span>
#include <vector>

#include "ir/node.h"
#include "rondo/function.h"

namespace rondo::ops {

/// The first op of the region that does not act element by element; null if all do.
const ir::Node* first_not_elementwise(const Function& region);

/// A region of scalars on arrays of one shape, element by element, as new nodes. Its ops act
/// element by element unless the shape is that of a scalar.
std::vector<Tensor> call_elementwise(const Function& region, std::span<const Tensor> arguments,
                                     const Shape& shape);

}  // namespace rondo::ops
