// The records of ops that report values to the host.
#pragma once

#include "ir/node.h"

namespace rondo::ops {

extern const ir::OpDef kTap, kPrint, kProgress, kTellLanes;

}  // namespace rondo::ops
