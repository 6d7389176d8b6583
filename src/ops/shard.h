// shard: the identity, and where its value lies on a mesh of devices.
#pragma once

#include "ir/node.h"

namespace rondo::ops {

extern const ir::OpDef kShard;  // its attribute is an ir::Sharding

}  // namespace rondo::ops
