// Padding, and its reverse.
#pragma once

#include <vector>

#include "ir/node.h"

namespace rondo::ops {

/// Operands: the array and the scalar to pad with.
struct PadAttributes {
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
  std::vector<std::int64_t> interior;
  bool operator==(const PadAttributes&) const = default;
};

extern const ir::OpDef kPad;

}  // namespace rondo::ops
