// Arrays out of nothing.
#pragma once

#include "ir/node.h"

namespace rondo::ops {

struct IotaAttributes {
  TensorType type;
  std::int64_t axis;
  bool operator==(const IotaAttributes&) const = default;
};

struct UnsetAttributes {
  TensorType type;
  bool operator==(const UnsetAttributes&) const = default;
};

extern const ir::OpDef kIota, kUnset;

/// An array whose elements are all written before they are read. To begin with they are zeros, or,
/// where a loop that carries the array writes it in place, what is in memory. For programs that
/// hold its writers and readers and give it to nobody: outside programs it is zeros.
Tensor unset(const TensorType& type, SourceLocation at);

}  // namespace rondo::ops
