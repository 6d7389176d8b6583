// What the type rules of the constructs share.
#pragma once

#include <cstddef>

#include "ir/node.h"

namespace rondo::control_flow {

/// Fails unless the region's parameters are the operands from `first_operand` on, with their types.
void check_region_parameters(const ir::InferContext& context, const Function& region,
                             std::size_t first_operand);

}  // namespace rondo::control_flow
