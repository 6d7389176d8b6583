// The record of the inverse error function.
#pragma once

#include "ops/support.h"

namespace rondo::ops {

extern const ir::OpDef kErfInv;

}  // namespace rondo::ops
