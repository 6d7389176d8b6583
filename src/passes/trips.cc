#include "passes/trips.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ir/loop_nest.h"
#include "ir/region_facts.h"
#include "ops/permute.h"
#include "passes/hoist.h"
#include "passes/rewrite.h"

namespace rondo::passes {

using ir::Node;
using ir::RegionLayout;

std::optional<RegionLayout> batchable_layout(const Node* node) {
  auto layout = ir::region_layout(node);
  if (!layout || !layout->is_loop() || layout->condition ||
      layout->trip_count.value_or(0) < kLeastBatchedTrips || node->regions.size() != 1 ||
      (layout->index > 0 && !node->op->construct.over_slices))
    layout.reset();
  return layout;
}

Tensor over_slices(const Node* loop) {
  const RegionLayout layout = *ir::region_layout(loop);
  if (layout.index == 0) return Tensor::of(loop);
  const ir::LoopOverSlices sliced = loop->op->construct.over_slices(*loop);
  const Function& body = loop->regions[0];
  FunctionRewrite rewrite(body);
  std::vector<Tensor> params;
  const auto add = [&](std::size_t first, std::size_t count) {
    for (std::size_t p = first; p < first + count; p++) {
      params.push_back(parameter_at(body.parameters()[p], params.size()));
      rewrite.bind(body.parameters()[p], params.back());
    }
  };
  add(layout.index, layout.carries);
  add(0, layout.index);
  add(layout.index + layout.carries, layout.invariants);
  for (const Node* node : body.body()) rewrite.replace(node, rewrite.rebuilt(node));
  std::vector<Tensor> results;
  for (const Tensor& result : body.outputs()) results.push_back(rewrite(result));
  const auto carry = layout.carry_of(loop->operands),
             invariants = layout.invariants_of(loop->operands);
  ir::Operands operands(carry.begin(), carry.end());
  operands.push_back(sliced.indices);
  operands.insert(operands.end(), invariants.begin(), invariants.end());
  return ir::make_typed(
      *sliced.op, std::move(operands), sliced.attributes, loop->types, loop->location(),
      {rewrite.finish(std::move(params), std::move(results), body.result_names())});
}

double room_for_trips(const RegionLayout& layout) {
  double moved = 0;
  for (const Tensor& operand : layout.node->operands)
    moved += static_cast<double>(operand.type().bytes());
  for (const TensorType& type : layout.node->types) moved += static_cast<double>(type.bytes());
  return std::max(kMostBatchedBytes * moved, static_cast<double>(kHoistedBytes));
}

double bytes_of_trips(const RegionLayout& layout, const TensorType& type) {
  return static_cast<double>(*layout.trip_count) * static_cast<double>(type.bytes());
}

namespace {

bool can_be_batched(const Node* node) {
  const ir::OpDef& op = *node->op;
  return op.batching.why_not.empty() &&
         (op.batching.rule || op.structure.elementwise || op.expansion.rule) &&
         !op.construct.layout && !op.batching.axis_name && !ir::observes(node);
}

TripSource source_of(RegionLayout::Role role) {
  switch (role) {
    case RegionLayout::Role::kInvariant:
      return TripSource::kInvariants;
    case RegionLayout::Role::kX:
    case RegionLayout::Role::kIndex:
      return TripSource::kSlices;
    default:
      return TripSource::kCarry;
  }
}

}  // namespace

bool is_product(const Node* node) {
  const ir::OpDef& op = *node->op;
  if (op.cost != ir::Cost::kHeavy || op.derivative.linear != ir::Linear::kSeparately ||
      node->operands.size() != 2 || node->type().elements() == 0)
    return false;
  const auto written = ir::loops_as<ir::Contraction>(*node);
  if (!written) return true;
  double multiplications = static_cast<double>(node->type().elements());
  for (const std::int64_t size : written->sizes) multiplications *= static_cast<double>(size);
  return multiplications >= kLeastMultiplications;
}

double uses(const TensorType& element, const TensorType& a, const TensorType& b) {
  // For m x k and k x n to m x n, this gives mkn multiplications.
  return std::sqrt(static_cast<double>(a.elements()) * static_cast<double>(b.elements()) /
                   static_cast<double>(element.elements()));
}

TripSources::TripSources(const RegionLayout& layout) {
  const Function& body = layout.node->regions[0];
  for (std::size_t p = 0; p < layout.params(); p++)
    sources_.emplace(body.parameters()[p].node(), source_of(layout.role_of_param(p)));
  for (const Node* node : body.body()) {
    TripSource source = TripSource::kInvariants;
    for (const Tensor& operand : node->operands)
      source = std::max(source, sources_.at(operand.node()));
    const bool stays = source == TripSource::kSlices ? !can_be_batched(node)
                                                     : ir::observes(node) || ir::may_not_end(node);
    sources_.emplace(node, stays ? TripSource::kCarry : source);
  }
}

Tensor with_axis_moved(const Tensor& x, std::int64_t from, std::int64_t to, SourceLocation at) {
  std::vector<std::int64_t> order;
  for (std::int64_t axis = 0; axis < x.rank(); axis++) {
    if (axis != from) order.push_back(axis);
  }
  order.insert(order.begin() + to, from);
  return ops::transposed(x, std::move(order), at);
}

}  // namespace rondo::passes
