// Forward mode of every loop and branch.
#pragma once

#include "ir/derivative.h"

namespace rondo::control_flow {

/// The same construct on values and tangents, by the layout of its record: each carry and each x
/// with a tangent is followed by its tangent. The condition and the selector are unchanged.
ir::Jvp construct_jvp(const ir::JvpCall& call);

}  // namespace rondo::control_flow
