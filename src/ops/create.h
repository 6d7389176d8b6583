// Arrays without operands.
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

/// An array whose elements are all written before they are read. Initially they are zeros, or, if a
/// loop that carries the array writes it in place, uninitialized memory. Only for arrays whose
/// readers and writers are all in the program: outside programs it is zeros.
Tensor unset(const TensorType& type, SourceLocation at);

}  // namespace rondo::ops
