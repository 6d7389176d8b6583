#include "passes/clamp_indices.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "base/for_dtype.h"
#include "ir/index_range.h"
#include "ir/lazy.h"
#include "ir/node.h"
#include "ops/dynamic_slice.h"
#include "passes/rewrite.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::passes {

namespace {

using ir::IndexRange;
using ir::Node;

/// The limits of one operand of a node.
struct Limits {
  Tensor lowest, highest;
};

/// A range whose limit is an operand belongs to an op that is itself a clamp.
bool is_clamped(const IndexRange& range) { return !range.drops && range.room_operand < 0; }

/// `values` of the components along the axis of the indices that holds them; else of all indices.
Tensor limit(const std::vector<std::int64_t>& values, std::int64_t axis, const TensorType& indices,
             SourceLocation at) {
  const bool one = axis < 0;
  const std::vector<std::int64_t> dims(one ? 0 : 1, static_cast<std::int64_t>(values.size()));
  Literal literal = Literal::uninitialized({indices.dtype, dims});
  for_any_dtype(indices.dtype, [&]<class T>() {
    if constexpr (is_integer(dtype_of<T>)) {
      const std::uint64_t greatest = integer_limits(dtype_of<T>).greatest;
      for (std::size_t i = 0; i < values.size(); i++) {
        // If the last position exceeds the dtype's range, every number of the dtype is in range.
        const bool past = values[i] > 0 && static_cast<std::uint64_t>(values[i]) > greatest;
        literal.mutable_data<T>()[i] = past ? static_cast<T>(greatest) : static_cast<T>(values[i]);
      }
    }
  });
  Tensor constant = ir::make_constant(std::move(literal), at);
  if (one) return constant;
  return broadcast_in_dim(Operand(constant, at), indices.shape.vector(), {axis});
}

/// The limits of operand `i` of a node that has an index range; every component has a range.
Limits limits_of(std::span<const IndexRange> ranges, std::size_t i, const TensorType& indices,
                 SourceLocation at) {
  std::vector<std::int64_t> rooms;
  std::int64_t axis = -1;
  for (const IndexRange& range : ranges) {
    if (range.operand != i) continue;
    rooms.resize(std::max(rooms.size(), static_cast<std::size_t>(range.component) + 1));
    rooms[static_cast<std::size_t>(range.component)] = range.room;
    axis = range.vector_dim;
  }
  return {limit({0}, -1, indices, at), limit(rooms, axis, indices, at)};
}

/// Whether constant indices are in range.
bool lie_in_range(const Literal& indices, std::span<const IndexRange> ranges, std::size_t operand) {
  std::int64_t room = std::numeric_limits<std::int64_t>::max();
  for (const IndexRange& range : ranges)
    if (range.operand == operand) room = std::min(room, range.room);
  for (std::int64_t i = 0; i < indices.elements(); i++) {
    const std::int64_t index = ops::index_at(indices, i);
    if (index < 0 || index > room) return false;
  }
  return true;
}

/// Inserts clamps before the operands that are indices; false if none is needed.
bool clamp_operands(const Node* node, ir::Operands& operands) {
  if (!node->op->structure.indices) return false;
  const std::vector<IndexRange> ranges = node->op->structure.indices(*node);
  const SourceLocation at = node->location();
  std::vector<bool> done(operands.size());
  bool changed = false;
  for (const IndexRange& range : ranges) {
    const std::size_t i = range.operand;
    if (!is_clamped(range) || done[i]) continue;
    done[i] = true;
    const Literal* constant = ir::constant_value(operands[i]);
    if (constant && lie_in_range(*constant, ranges, i)) continue;
    const Limits limits = limits_of(ranges, i, operands[i].type(), at);
    operands[i] =
        clamp(Operand(limits.lowest, at), Operand(operands[i], at), Operand(limits.highest, at));
    changed = true;
  }
  return changed;
}

Function clamped(const Function& source) {
  FunctionRewrite rewrite(source);
  for (const Node* node : source.body()) {
    ir::Operands operands = rewrite.operands_of(node);
    if (clamp_operands(node, operands))
      rewrite.replace(node, ir::rebuild(node, std::move(operands)));
    else if (rewrite.changed())
      rewrite.replace(node, rewrite.rebuilt(node));
  }
  return rewrite.finish();
}

}  // namespace

Function clamp_indices(const Function& function) {
  const ir::EagerPause pause;
  const ir::BuildScope building;
  return rewrite_regions(function, nullptr, clamped);
}

}  // namespace rondo::passes
