// shard: the identity, with the sharding of its value on a mesh of devices.
#pragma once

#include "ir/node.h"

namespace rondo::ops {

extern const ir::OpDef kShard;  // its attribute is an ir::Sharding

}  // namespace rondo::ops
