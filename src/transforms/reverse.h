// Reverse mode over a program: forward with what the way back needs, then back op by op.
#pragma once

#include "transforms/tangents.h"

namespace rondo::transforms {

/// See Derivatives::reverse.
ir::Reverse reverse_walk(ir::Derivatives& derivatives, const Function& function,
                         std::span<const Tensor> arguments, const Flags& perturbed,
                         const Flags& active, const Flags& summed);

// What forward and reverse mode share (derivatives.cc).
bool has_rule(const ir::OpDef& op);
[[noreturn]] void no_derivative(const Node& node);
/// The node on other operands, as a new node.
Tensor copied_node(const Node& node, ir::Operands operands);
/// By the jvp rule, or the op itself where it is linear.
std::vector<Tensor> tangents_of(const ir::JvpCall& call);

}  // namespace rondo::transforms
