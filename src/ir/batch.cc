#include "ir/batch.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/function_data.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::ir {

Flags BatchCall::batched() const {
  Flags flags;
  for (const BatchValue& operand : operands) flags.push_back(operand.batched);
  return flags;
}

Tensor BatchCall::full(std::size_t i) const { return full_value(operands[i], lanes(), at()); }

Operands BatchCall::all_full() const {
  Operands all;
  for (std::size_t i = 0; i < operands.size(); i++) all.push_back(full(i));
  return all;
}

void BatchCall::fail(const std::string& message) const { ir::fail(node.op->name, message, at()); }

TensorType with_lanes(const TensorType& type, std::int64_t lanes) {
  return {type.dtype, with_first(lanes, type.shape.dims())};
}

Tensor full_value(const BatchValue& value, std::int64_t lanes, SourceLocation at) {
  if (value.batched) return value.value;
  std::vector<std::int64_t> map(value.value.shape().size());
  std::iota(map.begin(), map.end(), std::int64_t{1});
  return broadcast_in_dim(Operand(value.value, at),
                          with_lanes(value.value.type(), lanes).shape.vector(), map);
}

Tensor broadcast_lanes(const Tensor& lanes, const Shape& shape, SourceLocation at) {
  if (shape.rank() == 1) return lanes;
  return broadcast_in_dim(Operand(lanes, at), shape.vector(), {0});
}

BatchValues all_batched(std::vector<Tensor> values) {
  BatchValues all;
  for (Tensor& value : values) all.push_back({std::move(value), true});
  return all;
}

std::vector<std::int64_t> behind_lanes(std::span<const std::int64_t> axes) {
  std::vector<std::int64_t> behind;
  for (const std::int64_t axis : axes) behind.push_back(axis + 1);
  return behind;
}

std::vector<std::int64_t> with_first(std::int64_t first, std::span<const std::int64_t> rest) {
  std::vector<std::int64_t> all{first};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

BatchValues batch_alike(const BatchCall& call) { return batch_with(call, call.node.attributes); }

BatchValues batch_with(const BatchCall& call, Attributes attributes) {
  return all_batched(make_many(*call.node.op, call.all_full(), std::move(attributes), call.at(),
                               call.node.regions));
}

Tensor blend(const Tensor& active, const Tensor& next, const Tensor& previous, SourceLocation at) {
  const auto same = [&](const Tensor& x) {
    return x.node() == previous.node() && x.result() == previous.result();
  };
  // The chain of updates from `previous` to `next`, the last one first.
  std::vector<const Node*> updates;
  Tensor from = next;
  while (!same(from) && from.node()->op->batching.blend && from.node()->types.size() == 1) {
    updates.push_back(from.node());
    from = from.node()->operand(0);
  }
  if (!same(from)) {
    return where(Operand(broadcast_lanes(active, next.shape(), at), at), Operand(next, at),
                 Operand(previous, at));
  }
  Tensor blended = previous;
  for (auto update = updates.rbegin(); update != updates.rend(); ++update) {
    Operands operands = (*update)->operands;
    operands[0] = blended;
    blended = (*update)->op->batching.blend(**update, operands, active);
  }
  return blended;
}

}  // namespace rondo::ir
