// Reverse mode over a program: forward with what the backward pass needs, then back op by op; of an
// op that is not linear the jvp rule runs on tangents that stand for nothing yet, and what that
// leaves is transposed.
#pragma once

#include "transforms/tangents.h"

namespace rondo::transforms {

/// See Derivatives::reverse.
ir::Reverse reverse_walk(ir::Derivatives& derivatives, const Function& function,
                         std::span<const Tensor> arguments, const Flags& perturbed,
                         const Flags& active, const Flags& summed);

/// Is the node linear in the operands that are flagged?
bool is_linear_in(const Node& node, const Flags& flags);
/// Adds what a program that is linear in `arguments` (nodes made since, which `outputs` were
/// computed from) gives back for cotangents of the outputs. Empty outputs are zero.
void transpose_program(ir::Derivatives& derivatives, std::span<const Tensor> arguments,
                       std::span<const Tensor> outputs, std::span<const Tensor> cotangents,
                       const ir::Cotangents& of_arguments);

// What forward and reverse mode share (derivatives.cc).
bool has_rule(const ir::OpDef& op);
[[noreturn]] void no_derivative(const Node& node);
/// The node on other operands, as a new node.
Tensor copied_node(const Node& node, ir::Operands operands);
/// By the jvp rule, or the op itself where it is linear.
std::vector<Tensor> tangents_of(const ir::JvpCall& call);

}  // namespace rondo::transforms
