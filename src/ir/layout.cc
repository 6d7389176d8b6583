#include "ir/layout.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"

namespace rondo {

std::span<const std::string_view> field_words(Checkpoint::Policy) {
  static constexpr std::string_view kWords[] = {"automatic", "tape",     "online",
                                                "revolve",   "periodic", "none"};
  return kWords;
}

void field_value(ir::FieldText& text, Checkpoint& checkpoint) {
  ir::field_value(text, checkpoint.policy);
  if (text.reads()) checkpoint.slots = 0;
  if (!text.piece_if(checkpoint.slots != 0, "(")) return;
  ir::field_value(text, checkpoint.slots);
  text.piece(")");
}

}  // namespace rondo

namespace rondo::ir {

std::optional<Induction> induction_of(const Node& node) {
  return node.op->construct.induction ? node.op->construct.induction(node) : std::nullopt;
}

bool counts(const Node& node) {
  if (!node.op->construct.counted || region_layout(&node)->has_open_promise()) return false;
  const std::optional<Induction> induction = induction_of(node);
  // With other steps the counter may wrap.
  return induction && induction->carry && (induction->trips || induction->step == 1);
}

std::optional<Induction> runtime_counter(const Node& node) {
  std::optional<Induction> induction = induction_of(node);
  if (induction && !(induction->carry && induction->limit)) induction.reset();
  return induction;
}

bool RegionLayout::has_open_promise() const {
  if (!max_trip_count || ends_by_itself) return false;
  return !trip_count || *trip_count > *max_trip_count;
}

RegionLayout::Role RegionLayout::role_of_param(std::size_t param) const {
  if (param >= first_given()) return role_of_operand(operand_of_param(param));
  return Role::kIndex;
}

bool RegionLayout::is_invariant(std::size_t region, std::size_t param) const {
  return param + invariants >= node->regions[region].parameters().size();
}

RegionLayout::ResultRole RegionLayout::role_of_result(std::size_t region,
                                                      std::size_t result) const {
  if (!is_body(region)) return ResultRole::kPredicate;
  return result < carries ? ResultRole::kCarry : ResultRole::kY;
}

RegionLayout::Role RegionLayout::role_of_operand(std::size_t operand) const {
  if (operand < fixed) return is_call() ? Role::kArgument : Role::kFixed;
  if (operand < fixed + carries) return Role::kCarry;
  return operand < fixed + carries + xs ? Role::kX : Role::kInvariant;
}

std::optional<RegionLayout> region_layout(const Node* node) {
  if (!node->op->construct.layout || node->regions.empty()) return std::nullopt;
  RegionLayout layout = node->op->construct.layout(*node);
  layout.node = node;
  // A node that verify() rejects may have fewer than the attributes say.
  const auto rest = [](std::size_t all, std::size_t part) { return all - std::min(all, part); };
  layout.invariants = rest(node->operands.size(), layout.fixed + layout.carries + layout.xs);
  layout.ys = rest(node->types.size(), layout.carries);
  return layout;
}

Tensor rebuild(const RegionLayout& layout, ConstructParts parts) {
  RegionLayout changed = layout;
  changed.carries = parts.carries.size();
  changed.xs = parts.xs.size();
  changed.invariants = parts.invariants.size();
  changed.ys = parts.ys.size();
  Operands operands = std::move(parts.fixed);
  ResultTypes types;
  for (Tensor& carry : parts.carries) {
    types.push_back(carry.type());
    operands.push_back(std::move(carry));
  }
  types.insert(types.end(), parts.ys.begin(), parts.ys.end());
  for (Tensor& x : parts.xs) operands.push_back(std::move(x));
  for (Tensor& invariant : parts.invariants) operands.push_back(std::move(invariant));
  const Node& node = *layout.node;
  return make_typed(*node.op, std::move(operands), node.op->construct.relayout(node, changed),
                    std::move(types), node.location(), std::move(parts.regions));
}

Tensor with_trip_count(const Node* node, std::int64_t trips) {
  RegionLayout layout = *region_layout(node);
  layout.trip_count = trips;
  return make_typed(*node->op, node->operands, node->op->construct.relayout(*node, layout),
                    node->types, node->location(), node->regions);
}

std::size_t selected_region(const Literal& selector, std::size_t regions) {
  if (selector.dtype() == DType::kPred) return selector.data<bool>()[0] ? 0 : 1;
  const std::int32_t number = selector.data<std::int32_t>()[0];
  const std::size_t last = regions - 1;
  return number < 0 ? last : std::min(static_cast<std::size_t>(number), last);
}

}  // namespace rondo::ir
