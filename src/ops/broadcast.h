// Broadcast and reshape: the two ops that all families use.
#pragma once

#include <vector>

#include "ir/node.h"

namespace rondo::ops {

/// Axis i of the operand becomes axis map[i] of the result; all other axes repeat it.
struct BroadcastAttributes {
  Shape shape;
  std::vector<std::int64_t> dimensions;
  bool operator==(const BroadcastAttributes&) const = default;
};
struct ReshapeAttributes {
  Shape shape;
  bool operator==(const ReshapeAttributes&) const = default;
};

extern const ir::OpDef kBroadcastInDim;
extern const ir::OpDef kReshape;

/// As HLO's broadcast: sizes of mapped axes must be equal.
Tensor broadcast_axes(const Tensor& x, const Shape& shape, std::vector<std::int64_t> map,
                      SourceLocation at);
/// x itself if the shape is the same.
Tensor reshape_to(const Tensor& x, const Shape& shape, SourceLocation at);

}  // namespace rondo::ops
