// Loops and branches in an EagerScope, which run on values as they are called.
#pragma once

#include "ir/lazy.h"  // eager_active
#include "rondo/loops.h"

namespace rondo::control_flow {

/// Replaces lazy tensors by constants.
void evaluate_all(detail::Leaves& leaves, SourceLocation at);

}  // namespace rondo::control_flow
