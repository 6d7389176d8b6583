#include "ops/index_rules.h"

#include <algorithm>

#include "ops/broadcast.h"
#include "ops/concatenate.h"
#include "ops/dynamic_slice.h"
#include "ops/pad.h"
#include "ops/permute.h"
#include "ops/slice.h"

namespace rondo::ops {

ir::LoopNest same_bytes(const ir::Node&) { return ir::SameBytes{}; }

ir::LoopNest broadcast_reads(const ir::Node& node) {
  ir::AccessMap map;
  for (const std::int64_t axis : node.attrs<BroadcastAttributes>().dimensions)
    map.push_back({axis, 0, 1});
  return map;
}

ir::LoopNest transpose_reads(const ir::Node& node) {
  const auto& permutation = node.attrs<TransposeAttributes>().permutation;
  ir::AccessMap map(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); i++)
    map[static_cast<std::size_t>(permutation[i])] = {static_cast<std::int64_t>(i), 0, 1};
  return map;
}

ir::LoopNest reverse_reads(const ir::Node& node) {
  ir::AccessMap map;
  const Shape& shape = node.type().shape;
  for (std::int64_t axis = 0; axis < shape.rank(); axis++) map.push_back({axis, 0, 1});
  for (const std::int64_t axis : node.attrs<ReverseAttributes>().axes)
    map[static_cast<std::size_t>(axis)] = {axis, shape[axis] - 1, -1};
  return map;
}

ir::LoopNest slice_reads(const ir::Node& node) {
  const auto& slice = node.attrs<SliceAttributes>();
  ir::AccessMap map;
  for (std::size_t i = 0; i < slice.starts.size(); i++)
    map.push_back({static_cast<std::int64_t>(i), slice.starts[i], slice.strides[i]});
  return map;
}

ir::LoopNest dynamic_slice_reads(const ir::Node& node) {
  const Shape &shape = node.operand_type(0).shape, &part = node.type().shape;
  ir::AccessMap map;
  for (std::int64_t i = 0; i < shape.rank(); i++)
    map.push_back({i, 0, 1, 1 + static_cast<int>(i), shape[i] - part[i]});
  return map;
}

ir::LoopNest dynamic_update_slice_writes(const ir::Node& node) {
  const Shape &shape = node.type().shape, &part = node.operand_type(1).shape;
  ir::InsertionMap map{0, -1, {{1, {}}}};
  for (std::int64_t i = 0; i < shape.rank(); i++) {
    map.parts[0].axes.push_back({0, part[i], 0, 1, 2 + static_cast<int>(i), shape[i] - part[i]});
  }
  return map;
}

ir::LoopNest concatenate_writes(const ir::Node& node) {
  const std::int64_t axis = node.attrs<ConcatenateAttributes>().axis;
  ir::InsertionMap map;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < node.operands.size(); i++) {
    const Shape& shape = node.operand_type(i).shape;
    ir::Part part{static_cast<int>(i), {}};
    for (std::int64_t j = 0; j < shape.rank(); j++)
      part.axes.push_back({0, shape[j], j == axis ? start : 0, 1});
    start += shape[axis];
    map.parts.push_back(std::move(part));
  }
  return map;
}

ir::LoopNest pad_writes(const ir::Node& node) {
  const auto& pad = node.attrs<PadAttributes>();
  const Shape &shape = node.operand_type(0).shape, &whole = node.type().shape;
  ir::InsertionMap map{-1, 1, {{0, {}}}};
  // Element j of an axis goes to low + j * (interior + 1), if that is in the result.
  for (std::size_t i = 0; i < pad.low.size(); i++) {
    const auto axis = static_cast<std::int64_t>(i);
    const std::int64_t step = pad.interior[i] + 1;
    const std::int64_t first = pad.low[i] >= 0 ? 0 : (-pad.low[i] - 1) / step + 1;
    const std::int64_t room = whole[axis] - 1 - pad.low[i];  // the last position in the result
    const std::int64_t last = room < 0 ? -1 : std::min(shape[axis] - 1, room / step);
    map.parts[0].axes.push_back(
        {first, std::max<std::int64_t>(last - first + 1, 0), pad.low[i] + first * step, step});
  }
  return map;
}

}  // namespace rondo::ops
