// Loops and branches in an EagerScope, which run trip by trip on values.
#pragma once

#include "ir/lazy.h"  // eager_active
#include "rondo/loops.h"

namespace rondo::control_flow {

/// Puts constants in the place of lazy tensors.
void evaluate_all(detail::Leaves& leaves, SourceLocation at);

}  // namespace rondo::control_flow
