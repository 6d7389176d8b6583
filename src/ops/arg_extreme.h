// The record of argmax and argmin.
#pragma once

#include "ops/support.h"

namespace rondo::ops {

struct ArgExtremeAttributes {
  std::int64_t axis;
  bool greatest;  // argmax; else argmin
  bool operator==(const ArgExtremeAttributes&) const = default;
};
/// Result: s32 without the axis; the first of equal elements, the first NaN if there is one.
extern const ir::OpDef kArgExtreme;

}  // namespace rondo::ops
