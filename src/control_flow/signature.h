// Shared by the type rules of the constructs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ir/node.h"

namespace rondo::control_flow {

/// Fails unless the region's parameters from `first_parameter` on are the operands from
/// `first_operand` on, with their types.
void check_region_parameters(const ir::InferContext& context, const Function& region,
                             std::size_t first_operand, std::size_t first_parameter = 0);

/// The types of a loop's carry, whose initial values are the operands from `first_operand` on.
/// Fails unless `next`, the body's results for it, are as many and have the same types.
ir::InferredTypes carried_types(const ir::InferContext& context, std::span<const Tensor> next,
                                std::size_t first_operand, std::size_t carries);

/// The types of the carry of a loop over integers from operand 0 to operand 1, whose body takes the
/// index before the carry and the invariants.
ir::InferredTypes indexed_loop_types(const ir::InferContext& context, std::size_t carries);

/// The types of a conditional's results. Its regions take the operands after the selector. Fails
/// unless all regions return the same types, and unless a pred selects between two.
ir::InferredTypes branch_types(const ir::InferContext& context);

}  // namespace rondo::control_flow
