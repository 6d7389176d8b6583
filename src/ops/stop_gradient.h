// stop_gradient: the identity without a derivative.
#pragma once

#include "ir/node.h"

namespace rondo::ops {

extern const ir::OpDef kStopGradient;

}  // namespace rondo::ops
