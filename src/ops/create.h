// Arrays out of nothing.
#pragma once

#include "ir/node.h"

namespace rondo::ops {

struct IotaAttributes {
  TensorType type;
  std::int64_t axis;
  bool operator==(const IotaAttributes&) const = default;
};

extern const ir::OpDef kIota;

}  // namespace rondo::ops
