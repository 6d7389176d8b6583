#include "passes/prune.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/lazy.h"
#include "ir/region_facts.h"
#include "passes/construct_needs.h"

namespace rondo::passes {

namespace {

using ir::Node;
using ir::RegionLayout;
using Kind = ConstructValues::Kind;
using Role = RegionLayout::Role;

/// One construct without its unneeded parts.
class Pruning {
 public:
  Pruning(const RegionLayout& layout, const std::vector<bool>& used, const WatchedNodes& watched,
          Copies copies)
      : layout_(layout),
        node_(layout.node),
        used_(used),
        values_(layout_, copies),
        needs_(layout_, values_, used, watched) {
    // All results might be known without the construct. Removing it would also remove observers in
    // it or on its operands, the error of a broken promise, and the error of a limit if the loop
    // never ends.
    const bool any_used = std::find(used.begin(), used.end(), true) != used.end();
    const auto is_watched = [&](const Tensor& operand) { return watched.contains(operand); };
    must_stay_ =
        !needs_node() &&
        (ir::observes(node_) || (any_used && (layout_.has_open_promise() || never_advances())) ||
         std::any_of(node_->operands.begin(), node_->operands.end(), is_watched));
  }
  Pruning(const Pruning&) = delete;  // its parts refer to one another
  Pruning& operator=(const Pruning&) = delete;

  bool changes_nothing() const {
    if (must_stay_) return true;
    for (std::size_t p = layout_.index; p < layout_.params(); p++) {
      if (values_.kind(p) != Kind::kVaries || !needs_.param(p)) return false;
    }
    for (std::size_t r = 0; r < layout_.results(); r++) {
      if (!needs_.result(r)) return false;
    }
    return true;
  }

  /// The operands that the new construct, or what replaces its results, needs.
  std::vector<bool> needed_operands() const {
    std::vector<bool> needed(node_->operands.size());
    std::fill_n(needed.begin(), layout_.fixed, needs_node());
    for (std::size_t p = layout_.index; p < layout_.params(); p++)
      needed[layout_.operand_of_param(p)] = stays(p);
    for (std::size_t r = 0; r < layout_.results(); r++) {
      const auto operand = values_.operand_of_result(r);
      if (used_[r] && operand) needed[*operand] = true;
    }
    return needed;
  }

  /// Creates the new construct in the function that is being rewritten.
  void apply(FunctionRewrite& outer) const {
    Tensor made;
    std::vector<std::uint32_t> places(layout_.results());
    if (needs_node()) {
      made = ir::rebuild(layout_, new_parts(outer));
      outer.place(node_, made);
      std::uint32_t next = 0;
      for (std::size_t r = 0; r < layout_.results(); r++) {
        if (needs_.result(r)) places[r] = next++;
      }
    }
    for (std::size_t r = 0; r < layout_.results(); r++) {
      if (!used_[r]) continue;
      const Tensor old = Tensor::of(node_, static_cast<std::uint32_t>(r));
      if (const Tensor* constant = values_.constant_result(r))
        outer.bind(old, ir::make_constant(*small_constant(*constant), node_->location()));
      else if (const auto operand = values_.operand_of_result(r))
        outer.bind(old, outer(node_->operands[*operand]));
      else
        outer.bind(old, Tensor::of(made.node(), places[values_.result_root(r)]));
    }
  }

 private:
  /// Whether a used result still comes from the construct.
  bool needs_node() const {
    for (std::size_t r = 0; r < layout_.results(); r++) {
      if (used_[r] && !values_.is_known(r)) return true;
    }
    return false;
  }
  /// A loop that makes no trip or never ends: its condition reads nothing that changes between
  /// trips.
  bool never_advances() const {
    if (!layout_.condition || layout_.trip_count) return false;
    for (std::size_t p = layout_.index; p < layout_.params(); p++) {
      if (layout_.role_of_param(p) == Role::kCarry && values_.kind(p) == Kind::kVaries &&
          needs_.param(p))
        return false;
    }
    return true;
  }
  /// Whether it is a parameter of the new construct.
  bool stays(std::size_t p) const {
    return needs_.param(p) && values_.is_root(p) && !values_.is_constant(p);
  }
  /// Its role there: a carry that never changes becomes an invariant.
  Role new_role(std::size_t p) const {
    return values_.kind(p) == Kind::kInvariant ? Role::kInvariant : layout_.role_of_param(p);
  }

  /// The original parameters that remain, in their new order.
  std::vector<std::size_t> new_order() const {
    std::vector<std::size_t> order;
    const auto add = [&](Role role, bool was_carry) {
      for (std::size_t p = 0; p < layout_.params(); p++) {
        if (stays(p) && new_role(p) == role &&
            (layout_.role_of_param(p) == Role::kCarry) == was_carry)
          order.push_back(p);
      }
    };
    add(Role::kIndex, false);
    add(Role::kCarry, true);
    add(Role::kX, false);
    add(Role::kInvariant, true);
    add(Role::kInvariant, false);
    return order;
  }

  ir::ConstructParts new_parts(const FunctionRewrite& outer) const {
    ir::ConstructParts parts;
    for (std::size_t i = 0; i < layout_.fixed; i++)
      parts.fixed.push_back(outer(node_->operands[i]));
    const std::vector<std::size_t> order = new_order();
    for (const std::size_t p : order) {
      const Role role = new_role(p);
      if (role == Role::kIndex) continue;
      auto& group = role == Role::kInvariant ? parts.invariants
                    : role == Role::kX       ? parts.xs
                                             : parts.carries;
      group.push_back(outer(values_.operand(p)));
    }
    for (std::size_t r = layout_.carries; r < layout_.results(); r++) {
      if (needs_.result(r)) parts.ys.push_back(node_->types[r]);
    }
    for (std::size_t k = 0; k < node_->regions.size(); k++)
      parts.regions.push_back(new_region(k, order));
    return parts;
  }

  Function new_region(std::size_t k, const std::vector<std::size_t>& order) const {
    const Function& region = node_->regions[k];
    FunctionRewrite rewrite(region);
    std::vector<Tensor> by_old(layout_.params());
    std::vector<Tensor> params;
    for (const std::size_t p : order) {
      by_old[p] = parameter_at(region.parameters()[p], params.size());
      params.push_back(by_old[p]);
    }
    for (std::size_t p = 0; p < layout_.params(); p++) {
      const std::size_t root = values_.root_of(p);
      if (values_.is_constant(root)) {
        rewrite.bind(region.parameters()[p], values_.copied(root));
      } else if (!by_old[root].empty()) {
        rewrite.bind(region.parameters()[p], by_old[root]);
      }
    }
    for (const Node* node : region.body()) {
      if (needs_.node(k, node)) rewrite.replace(node, rewrite.rebuilt(node));
    }
    std::vector<Tensor> results;
    std::vector<std::string> names;
    for (std::size_t r = 0; r < region.outputs().size(); r++) {
      if (layout_.is_body(k) && !needs_.result(r)) continue;
      results.push_back(rewrite(region.outputs()[r]));
      if (!region.result_names().empty()) names.push_back(region.result_names()[r]);
    }
    return rewrite.finish(std::move(params), std::move(results), std::move(names));
  }

  RegionLayout layout_;
  const Node* node_;
  std::vector<bool> used_;  // results, outside
  ConstructValues values_;
  ConstructNeeds needs_;
  bool must_stay_ = false;
};

std::optional<RegionLayout> prunable(const Node* node) {
  auto layout = ir::region_layout(node);
  if (layout && layout->is_call()) layout.reset();  // its rules know the operands by number
  return layout;
}

Function pruned(const Function& function, Copies copies) {
  const auto& body = function.body();
  if (std::none_of(body.begin(), body.end(),
                   [](const Node* node) { return prunable(node).has_value(); }))
    return function;
  const WatchedNodes watched(function);
  // Backwards from the results, so that what only a dropped value needs is not needed either.
  absl::flat_hash_set<const Node*> live;
  absl::flat_hash_set<ir::ValueKey> live_results;  // of constructs
  absl::flat_hash_map<const Node*, std::unique_ptr<Pruning>> changes;
  auto need = [&](const Tensor& tensor) {
    live.insert(tensor.node());
    if (!tensor.node()->regions.empty()) live_results.insert(tensor);
  };
  for (const Tensor& result : function.outputs()) need(result);
  for (auto at = body.rbegin(); at != body.rend(); ++at) {
    const Node* node = *at;
    if (!live.contains(node)) continue;
    if (const auto layout = prunable(node)) {
      std::vector<bool> used(node->types.size());
      for (std::uint32_t r = 0; r < used.size(); r++) used[r] = live_results.contains({node, r});
      auto pruning = std::make_unique<Pruning>(*layout, used, watched, copies);
      if (!pruning->changes_nothing()) {
        const std::vector<bool> needed = pruning->needed_operands();
        for (std::size_t i = 0; i < needed.size(); i++) {
          if (needed[i]) need(node->operands[i]);
        }
        changes.emplace(node, std::move(pruning));
        continue;
      }
    }
    for (const Tensor& operand : node->operands) need(operand);
  }
  if (changes.empty()) return function;
  FunctionRewrite rewrite(function);
  for (const Node* node : body) {
    if (!live.contains(node)) continue;
    const auto change = changes.find(node);
    if (change != changes.end())
      change->second->apply(rewrite);
    else if (rewrite.changed())
      rewrite.replace(node, rewrite.rebuilt(node));
  }
  return rewrite.finish();
}

}  // namespace

Function prune_function(const Function& function) { return pruned(function, Copies::kConstants); }

Function copy_indices(const Function& function) {
  const ir::EagerPause pause;
  const ir::BuildScope building;
  const auto pass = [](const Function& f) { return pruned(f, Copies::kConstantsAndIndices); };
  return rewrite_regions(function, pass, nullptr);
}

}  // namespace rondo::passes
