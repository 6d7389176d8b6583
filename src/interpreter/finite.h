// RunOptions::check_finite: finds where the first NaN or infinity of a run is created.
#pragma once

#include <span>

#include "ir/node.h"
#include "rondo/literal.h"

namespace rondo::interpreter {

/// Throws ExecutionError naming an element of the arguments that is not finite, and its parameter.
void check_arguments_finite(const Function& function, std::span<const Literal> arguments);

/// Throws ExecutionError if the results of a node have a NaN and its operands have none, or an
/// infinity although all operands are finite: with the element, the operands and the user's line.
void check_results_finite(const ir::Node& node, std::span<const Literal> operands,
                          std::span<const Literal> results);

}  // namespace rondo::interpreter
