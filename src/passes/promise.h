// The promised trip count of a while loop, in text: nothing can throw there, so a broken promise
// shows as NaN.
#pragma once

#include <span>
#include <vector>

#include "ir/node.h"

namespace rondo::passes {

/// True for a while loop with a promise that is not known to hold.
bool has_open_promise(const ir::Node& node);

/// True if it has one and results that can be NaN.
bool must_check_promise(const ir::Node& node);

/// The loop without the promise: it counts its trips and stops when they are used up. Results of
/// floating and complex dtypes are NaN if the condition still holds then.
std::vector<Tensor> check_promise(const ir::Node& node, std::span<const Tensor> operands);

}  // namespace rondo::passes
