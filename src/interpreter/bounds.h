// RunOptions::check_bounds: the first index out of range.
#pragma once

#include <span>

#include "ir/node.h"
#include "rondo/literal.h"

namespace rondo::interpreter {

/// Throws ExecutionError if an index among the operands of a node is out of the range that its
/// record gives: with the index, the axis and the user's line.
void check_indices(const ir::Node& node, std::span<Literal* const> operands);

}  // namespace rondo::interpreter
