// The record of running totals.
#pragma once

#include "ops/combiners.h"

namespace rondo::ops {

/// Element i along the axis is x[0] op ... op x[i]; from i to the last if `reverse`.
struct CumulativeAttributes {
  Combiner combiner;  // kAdd, kMultiply, kMaximum or kMinimum
  std::int64_t axis;
  bool reverse;
  bool operator==(const CumulativeAttributes&) const = default;
};
extern const ir::OpDef kCumulative;

}  // namespace rondo::ops
