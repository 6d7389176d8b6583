#include "passes/control.h"

#include <algorithm>
#include <utility>

#include "ir/layout.h"
#include "ir/region_facts.h"
#include "passes/fold.h"

namespace rondo::passes {

namespace {

using ir::Node;

const Literal* constant_value(const Tensor& tensor) {
  return ir::is_constant(tensor.node()) ? &tensor.node()->attrs<ir::ConstantAttributes>().value
                                        : nullptr;
}

/// Whether a condition holds (for any lane) for the initial values, as far as they are constants.
std::optional<bool> condition_at_first(const ir::RegionLayout& layout) {
  const Function& condition = layout.node->regions[*layout.condition];
  absl::flat_hash_map<ir::ValueKey, Literal> known;
  for (std::size_t p = layout.index; p < layout.params(); p++) {
    const Literal* value = constant_value(layout.node->operands[layout.operand_of_param(p)]);
    if (value) known.emplace(condition.parameters()[p], *value);
  }
  auto find = [&](const Tensor& tensor) -> const Literal* {
    if (const Literal* value = constant_value(tensor)) return value;
    const auto found = known.find(tensor);
    return found == known.end() ? nullptr : &found->second;
  };
  for (const Node* node : condition.body()) {
    std::vector<const Literal*> operands;
    for (const Tensor& operand : node->operands) operands.push_back(find(operand));
    if (ir::is_constant(node) ||
        std::find(operands.begin(), operands.end(), nullptr) != operands.end())
      continue;
    std::optional<std::vector<Literal>> values = fold_values(node, operands);
    if (!values) continue;
    for (std::uint32_t i = 0; i < values->size(); i++)
      known.emplace(ir::ValueKey(node, i), std::move((*values)[i]));
  }
  const Literal* result = find(condition.outputs()[0]);
  if (!result) return std::nullopt;
  const std::span<const bool> lanes = result->data<bool>();
  return std::find(lanes.begin(), lanes.end(), true) != lanes.end();
}

bool makes_no_trip(const ir::RegionLayout& layout) {
  if (layout.trip_count) return *layout.trip_count == 0;
  return layout.condition && !layout.runs_first && condition_at_first(layout) == false;
}

std::vector<Tensor> inits_of(const ir::RegionLayout& layout) {
  const auto carry = layout.carry_of(layout.node->operands);
  std::vector<Tensor> results(carry.begin(), carry.end());
  for (std::size_t y = layout.carries; y < layout.results(); y++) {
    results.push_back(
        ir::make_constant(Literal::zeros(layout.node->types[y]), layout.node->location()));
  }
  return results;
}

}  // namespace

bool ends_at_once(const Node* node) {
  const auto layout = ir::region_layout(node);
  return layout && layout->is_loop() && makes_no_trip(*layout);
}

std::vector<Tensor> results_of_no_trip(const Node* node) {
  return inits_of(*ir::region_layout(node));
}

std::optional<std::vector<Tensor>> decide(const Node* node, const WatchedNodes& watched) {
  const auto layout = ir::region_layout(node);
  if (!layout || layout->is_call()) return std::nullopt;
  for (const Tensor& operand : node->operands) {
    if (watched.contains(operand)) return std::nullopt;  // the results might not use it
  }
  if (layout->is_branch()) {
    if (node->op->construct.flow != ir::Flow::kSelect) return std::nullopt;
    const Literal* selector = constant_value(node->operands[0]);
    if (!selector) return std::nullopt;
    const Function& branch = node->regions[ir::selected_region(*selector, node->regions.size())];
    if (ir::observes(branch))
      return std::nullopt;  // inlined, it would lose what only an unused result needs
    return ir::Replay::inline_call(branch, layout->invariants_of(node->operands));
  }
  if (layout->condition && ir::observes(node->regions[*layout->condition]))
    return std::nullopt;  // it is evaluated once
  if (!makes_no_trip(*layout)) return std::nullopt;
  return inits_of(*layout);
}

Function count_trips(const Function& function) {
  FunctionRewrite rewrite(function);
  for (const Node* node : function.body()) {
    std::optional<std::int64_t> trips;
    const auto induction = ir::induction_of(*node);
    if (induction && !ir::region_layout(node)->trip_count) trips = induction->trips;
    if (!trips && !rewrite.changed()) continue;
    const Tensor rebuilt = rewrite.rebuilt(node);
    rewrite.replace(node, trips ? ir::with_trip_count(rebuilt.node(), *trips) : rebuilt);
  }
  return rewrite.finish();
}

}  // namespace rondo::passes
