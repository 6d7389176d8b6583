// The promised trip count of a while loop in text, where nothing can throw: a broken promise gives
// NaN.
#pragma once

#include <span>
#include <vector>

#include "ir/node.h"

namespace rondo::control_flow {

/// Whether a while has no promise, one that is known to hold, or no results that can be NaN.
bool promise_needs_no_check(const ir::Node& node);

/// The loop without the promise: it counts its trips and stops when the promised number is reached.
/// Results of floating and complex dtypes are NaN if the condition still holds then.
std::vector<Tensor> while_with_checked_promise(const ir::Node& node,
                                               std::span<const Tensor> operands);

}  // namespace rondo::control_flow
