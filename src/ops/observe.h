// The records of the ops that tell the outside what passes.
#pragma once

#include "ir/node.h"

namespace rondo::ops {

extern const ir::OpDef kTap, kPrint, kProgress, kTellLanes;

}  // namespace rondo::ops
