// Forward mode of every loop and branch.
#pragma once

#include "ir/derivative.h"

namespace rondo::control_flow {

/// The same construct on values and tangents: by the layout of its record, each carry and each x
/// that has a tangent stands beside it, and the condition and the selector are what they were.
ir::Jvp construct_jvp(const ir::JvpCall& call);

}  // namespace rondo::control_flow
