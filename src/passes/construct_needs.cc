#include "passes/construct_needs.h"

#include <algorithm>

#include "ir/region_facts.h"

namespace rondo::passes {

using ir::Node;

ConstructNeeds::ConstructNeeds(const ir::RegionLayout& layout, const ConstructValues& values,
                               const std::vector<bool>& used, const WatchedNodes& watched)
    : layout_(layout),
      values_(values),
      params_(layout.params()),
      results_(layout.results()),
      nodes_(layout.node->regions.size()) {
  const std::vector<Function>& regions = layout.node->regions;
  std::fill_n(params_.begin(), layout.index, true);
  for (std::size_t r = 0; r < results_.size(); r++) {
    if (used[r]) need_result(r);
  }
  if (layout.condition) need_value(*layout.condition, regions[*layout.condition].outputs()[0]);
  for (std::size_t k = 0; k < regions.size(); k++) {
    if (!layout.is_body(k) || !ir::observes(regions[k])) continue;
    const WatchedNodes inside(regions[k]);
    for (std::size_t r = 0; r < results_.size(); r++) {
      if (inside.contains(regions[k].outputs()[r])) need_result(r);
    }
  }
  for (std::size_t p = layout.index; !watched.empty() && p < params_.size(); p++) {
    if (watched.contains(values.operand(p))) need_param(p);
  }
  follow();
}

void ConstructNeeds::need_result(std::size_t result) {
  if (values_.is_known(result)) return;
  result = values_.result_root(result);
  if (results_[result]) return;
  results_[result] = true;
  pending_results_.push_back(result);
}

void ConstructNeeds::need_param(std::size_t param) {
  param = values_.root_of(param);
  if (values_.is_constant(param) || params_[param]) return;
  params_[param] = true;
  const bool is_carry = layout_.role_of_param(param) == ir::RegionLayout::Role::kCarry;
  if (is_carry && values_.kind(param) == ConstructValues::Kind::kVaries)
    need_result(param - layout_.index);
}

void ConstructNeeds::need_value(std::size_t region, const Tensor& value) {
  if (ir::is_parameter(value.node()))
    need_param(values_.number_of(region, value.node()));
  else if (nodes_[region].insert(value.node()).second)
    pending_nodes_.emplace_back(region, value.node());
}

/// Adds everything that what is needed depends on.
void ConstructNeeds::follow() {
  while (!pending_nodes_.empty() || !pending_results_.empty()) {
    if (!pending_nodes_.empty()) {
      const auto [region, node] = pending_nodes_.back();
      pending_nodes_.pop_back();
      for (const Tensor& operand : node->operands) need_value(region, operand);
      continue;
    }
    const std::size_t result = pending_results_.back();
    pending_results_.pop_back();
    if (result < layout_.carries) params_[layout_.index + result] = true;
    for (std::size_t k = 0; k < nodes_.size(); k++) {
      if (layout_.is_body(k)) need_value(k, layout_.node->regions[k].outputs()[result]);
    }
  }
}

}  // namespace rondo::passes
