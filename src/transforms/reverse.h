// Reverse mode of a program: a forward run that computes what the backward pass needs, then a walk
// back op by op. For an op that is not linear, the jvp rule runs on placeholder tangents, and the
// linear program that results is transposed.
#pragma once

#include "transforms/tangents.h"

namespace rondo::transforms {

/// See Derivatives::reverse.
ir::Reverse reverse_walk(ir::Derivatives& derivatives, const Function& function,
                         std::span<const Tensor> arguments, const Flags& perturbed,
                         const Flags& active, const Flags& summed);

/// Whether the node is linear in the flagged operands.
bool is_linear_in(const Node& node, const Flags& flags);
/// Transposes a program that is linear in `arguments`: adds the cotangents that it propagates from
/// those of the outputs. It consists of the nodes created since the arguments from which `outputs`
/// were computed. Empty outputs are zero.
void transpose_program(ir::Derivatives& derivatives, std::span<const Tensor> arguments,
                       std::span<const Tensor> outputs, std::span<const Tensor> cotangents,
                       const ir::Cotangents& of_arguments);

// Shared by forward and reverse mode (derivatives.cc).
bool has_rule(const ir::OpDef& op);
[[noreturn]] void no_derivative(const Node& node);
/// A new node like this one, on other operands.
Tensor copied_node(const Node& node, ir::Operands operands);
/// The jvp rule's tangents, or the op itself if it is linear.
std::vector<Tensor> tangents_of(const ir::JvpCall& call);

}  // namespace rondo::transforms
