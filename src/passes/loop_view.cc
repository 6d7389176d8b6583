#include "passes/loop_view.h"

#include <utility>

#include "control_flow/fori.h"
#include "control_flow/scan.h"
#include "control_flow/while.h"

namespace rondo::passes {

namespace {

std::size_t unsigned_count(std::int64_t count) { return static_cast<std::size_t>(count); }

/// The attributes of a construct that has as many carries and xs.
ir::Attributes attributes_with_counts(const ir::Node* node, std::size_t carries, std::size_t xs) {
  if (const auto* loop = node->attributes.try_as<control_flow::WhileAttributes>()) {
    control_flow::WhileAttributes changed = *loop;
    changed.carries = static_cast<std::int64_t>(carries);
    return changed;
  }
  if (const auto* fori = node->attributes.try_as<control_flow::ForiAttributes>()) {
    control_flow::ForiAttributes changed = *fori;
    changed.carries = static_cast<std::int64_t>(carries);
    return changed;
  }
  if (const auto* scan = node->attributes.try_as<control_flow::ScanAttributes>()) {
    control_flow::ScanAttributes changed = *scan;
    changed.carries = static_cast<std::int64_t>(carries);
    changed.xs = static_cast<std::int64_t>(xs);
    return changed;
  }
  return node->attributes;
}

}  // namespace

std::optional<LoopView> LoopView::of(const ir::Node* node) {
  if (node->regions.empty()) return std::nullopt;
  LoopView view;
  view.node = node;
  if (node->op == &control_flow::kWhile) {
    view.carries = unsigned_count(node->attrs<control_flow::WhileAttributes>().carries);
    view.condition = 0;
  } else if (node->op == &control_flow::kConditional) {
    view.fixed = 1;
  } else if (node->op == &control_flow::kForiLoop) {
    view.carries = unsigned_count(node->attrs<control_flow::ForiAttributes>().carries);
    view.fixed = 2;
    view.index = 1;
  } else if (node->op == &control_flow::kScan) {
    const auto& attributes = node->attrs<control_flow::ScanAttributes>();
    view.carries = unsigned_count(attributes.carries);
    view.xs = unsigned_count(attributes.xs);
  } else {
    return std::nullopt;
  }
  view.invariants = node->operands.size() - view.fixed - view.carries - view.xs;
  view.ys = node->types.size() - view.carries;
  return view;
}

LoopView::Role LoopView::role_of_param(std::size_t param) const {
  if (param < index) return Role::kIndex;
  if (param < index + carries) return Role::kCarry;
  return param < index + carries + xs ? Role::kX : Role::kInvariant;
}

std::optional<std::int64_t> LoopView::trip_count() const {
  if (const auto* loop = node->attributes.try_as<control_flow::WhileAttributes>())
    return loop->trip_count;
  if (const auto* fori = node->attributes.try_as<control_flow::ForiAttributes>())
    return fori->trip_count;
  if (const auto* scan = node->attributes.try_as<control_flow::ScanAttributes>())
    return scan->length;
  return std::nullopt;
}

Tensor remake(const LoopView& view, LoopParts parts) {
  ir::Attributes attributes =
      attributes_with_counts(view.node, parts.carries.size(), parts.xs.size());
  ir::Operands operands = std::move(parts.fixed);
  ir::ResultTypes types;
  for (Tensor& carry : parts.carries) {
    types.push_back(carry.type());
    operands.push_back(std::move(carry));
  }
  types.insert(types.end(), parts.ys.begin(), parts.ys.end());
  for (Tensor& x : parts.xs) operands.push_back(std::move(x));
  for (Tensor& invariant : parts.invariants) operands.push_back(std::move(invariant));
  return ir::make_typed(*view.node->op, std::move(operands), std::move(attributes),
                        std::move(types), view.node->location(), std::move(parts.regions));
}

Tensor with_trip_count(const ir::Node* node, std::int64_t trips) {
  ir::Attributes attributes;
  if (const auto* loop = node->attributes.try_as<control_flow::WhileAttributes>()) {
    control_flow::WhileAttributes changed = *loop;
    changed.trip_count = trips;
    attributes = std::move(changed);
  } else {
    control_flow::ForiAttributes changed = node->attrs<control_flow::ForiAttributes>();
    changed.trip_count = trips;
    attributes = std::move(changed);
  }
  return ir::make_typed(*node->op, node->operands, std::move(attributes), node->types,
                        node->location(), node->regions);
}

}  // namespace rondo::passes
