// Concatenation of arrays.
#pragma once

#include "ir/node.h"

namespace rondo::ops {

struct ConcatenateAttributes {
  std::int64_t axis;
  bool operator==(const ConcatenateAttributes&) const = default;
};

extern const ir::OpDef kConcatenate;

}  // namespace rondo::ops
