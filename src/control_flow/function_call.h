// Calls of a function that stays one function, however many nodes call it.
#pragma once

#include <span>
#include <vector>

#include "ir/node.h"

namespace rondo::control_flow {

/// Operands: the arguments. Region: the function, which may be that of other nodes too. Derivatives
/// and batched forms are calls as well, of functions that are derived once. A program that runs has
/// the calls inlined that it has room for (passes/inline_calls.h).
extern const ir::OpDef kFunctionCall;

/// The function on these arguments.
std::vector<Tensor> call_function(const Function& function, std::span<const Tensor> arguments,
                                  SourceLocation at);

}  // namespace rondo::control_flow
