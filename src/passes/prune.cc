#include "passes/prune.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/layout.h"
#include "ir/region.h"

namespace rondo::passes {

namespace {

using ir::Node;
using Value = ir::ValueKey;
using ir::RegionLayout;
using Role = RegionLayout::Role;

Value value_of(const Tensor& tensor) { return {tensor.node(), tensor.result()}; }

const Literal* small_constant(const Tensor& tensor) {
  if (!ir::is_constant(tensor.node())) return nullptr;
  const Literal& value = tensor.node()->attrs<ir::ConstantAttributes>().value;
  return value.elements() <= ir::kCopiedConstantElements ? &value : nullptr;
}

/// What is to become of one construct.
class Pruning {
 public:
  /// `live`: which results of the node are used; `watched`: of the function that it stands in.
  Pruning(const RegionLayout& layout, const std::vector<bool>& live, const WatchedNodes& watched)
      : layout_(layout), node_(layout.node), fates_(layout.params()), wanted_(live) {
    for (std::size_t p = 0; p < fates_.size(); p++) fates_[p].same = p;
    for (const Function& region : node_->regions) {
      auto& indices = param_indices_.emplace_back();
      for (std::size_t p = 0; p < region.parameters().size(); p++)
        indices.emplace(region.parameters()[p].node(), p);
    }
    find_fates();
    find_forwarded();
    find_needed(watched);
  }

  bool changes_nothing() const {
    if (must_stay_) return true;
    for (std::size_t p = layout_.index; p < fates_.size(); p++) {
      if (fates_[p].kind != Fate::kKept || !needed_params_[p]) return false;
    }
    return std::all_of(needed_results_.begin(), needed_results_.end(),
                       [](bool needed) { return needed; });
  }

  /// The operands that the new construct, or what replaces its results, needs.
  std::vector<bool> needed_operands() const {
    std::vector<bool> needed(node_->operands.size());
    std::fill_n(needed.begin(), layout_.fixed, needs_node());
    for (std::size_t p = layout_.index; p < fates_.size(); p++) {
      needed[layout_.operand_of_param(p)] =
          is_root(p) && fates_[p].kind != Fate::kConstant && needed_params_[p];
    }
    for (std::size_t r = 0; r < layout_.results(); r++) {
      const auto operand = operand_of_result(r);
      if (wanted_[r] && operand) needed[*operand] = true;
    }
    return needed;
  }

  /// Makes the new construct in the function that is rewritten.
  void apply(FunctionRewrite& outer) const {
    Tensor made;
    std::vector<std::size_t> places(layout_.results());
    if (needs_node()) {
      made = ir::rebuild(layout_, new_parts(outer));
      outer.place(node_, made);
      std::size_t next = 0;
      for (std::size_t r = 0; r < layout_.results(); r++) {
        if (needed_results_[r]) places[r] = next++;
      }
    }
    for (std::size_t r = 0; r < layout_.results(); r++) {
      if (!wanted_[r]) continue;
      const Tensor old = Tensor::of(node_, static_cast<std::uint32_t>(r));
      if (const Tensor* constant = constant_result(r)) {
        outer.bind(old, ir::make_constant(*small_constant(*constant), node_->location()));
      } else if (const auto operand = operand_of_result(r)) {
        outer.bind(old, outer(node_->operands[*operand]));
      } else {
        outer.bind(old,
                   Tensor::of(made.node(), static_cast<std::uint32_t>(places[result_root(r)])));
      }
    }
  }

 private:
  struct Fate {
    enum Kind { kKept, kInvariant, kConstant, kAlias };  // kInvariant: a carry that never changes
    Kind kind = kKept;
    std::size_t same = 0;  // a parameter that has the same value; itself unless it is an alias
  };

  bool is_root(std::size_t p) const { return fates_[p].same == p; }
  std::size_t root_of(std::size_t p) const {
    while (!is_root(p)) p = fates_[p].same;
    return p;
  }
  Role role(std::size_t p) const { return layout_.role_of_param(p); }
  const Tensor& operand(std::size_t p) const {
    return node_->operands[layout_.operand_of_param(p)];
  }
  bool never_changes(std::size_t p) const {
    return role(p) == Role::kInvariant || fates_[p].kind == Fate::kInvariant ||
           fates_[p].kind == Fate::kConstant;
  }
  std::size_t carry_param(std::size_t carry) const { return layout_.index + carry; }

  /// The parameter that a value of a region is, after what is known of the parameters.
  std::optional<std::size_t> param_of(std::size_t region, const Tensor& value) const {
    const auto found = param_indices_[region].find(value.node());
    if (found == param_indices_[region].end()) return std::nullopt;
    return root_of(found->second);
  }
  /// The small constant that a value of a region is.
  const Literal* constant_of(std::size_t region, const Tensor& value) const {
    if (const auto p = param_of(region, value)) {
      return fates_[*p].kind == Fate::kConstant ? small_constant(operand(*p)) : nullptr;
    }
    return small_constant(value);
  }

  void keep_still(std::size_t p) {
    fates_[p].kind = small_constant(operand(p)) ? Fate::kConstant : Fate::kInvariant;
  }
  void make_alias(std::size_t p, std::size_t of) { fates_[p] = {Fate::kAlias, of}; }

  void find_fates() {
    absl::flat_hash_map<Value, std::size_t> first_invariant, first_x;
    for (std::size_t p = layout_.index; p < fates_.size(); p++) {
      if (role(p) == Role::kInvariant && small_constant(operand(p)))
        fates_[p].kind = Fate::kConstant;
      if (role(p) != Role::kInvariant && role(p) != Role::kX) continue;
      auto& first = role(p) == Role::kX ? first_x : first_invariant;
      const auto [found, is_new] = first.try_emplace(value_of(operand(p)), p);
      if (!is_new && fates_[p].kind == Fate::kKept) make_alias(p, found->second);
    }
    if (layout_.carries == 0) return;
    // What is found about one carry can settle another. Each round settles one at least; chains of
    // them are rare and short, and what is left is found by the next run of the passes.
    constexpr int kRounds = 4;
    bool changed = true;
    for (int round = 0; changed && round < kRounds; round++) {
      changed = false;
      for (std::size_t carry = 0; carry < layout_.carries; carry++)
        changed = settle_carry(carry) || changed;
      changed = merge_carries() || changed;
    }
  }

  const Tensor& next_value(std::size_t carry) const {
    return node_->regions[layout_.body()].outputs()[carry];
  }

  bool settle_carry(std::size_t carry) {
    const std::size_t p = carry_param(carry);
    if (fates_[p].kind != Fate::kKept) return false;
    const Tensor& next = next_value(carry);
    if (const Literal* value = constant_of(layout_.body(), next)) {
      const Literal* init = small_constant(operand(p));
      if (!init || !init->identical(*value)) return false;
      fates_[p].kind = Fate::kConstant;
      return true;
    }
    const auto from = param_of(layout_.body(), next);
    if (from == p) {
      keep_still(p);
      return true;
    }
    if (from && never_changes(*from) && operand(*from).same_as(operand(p))) {
      make_alias(p, *from);
      return true;
    }
    return false;
  }

  /// Carries that begin and go on alike.
  bool merge_carries() {
    bool changed = false;
    absl::flat_hash_map<std::pair<Value, Value>, std::size_t> first;
    for (std::size_t carry = 0; carry < layout_.carries; carry++) {
      const std::size_t p = carry_param(carry);
      if (fates_[p].kind != Fate::kKept) continue;
      const Tensor& next = next_value(carry);
      Value after = value_of(next);
      if (const auto from = param_of(layout_.body(), next))
        after = value_of(node_->regions[layout_.body()].parameters()[*from]);
      const auto [found, is_new] = first.try_emplace(std::pair(value_of(operand(p)), after), p);
      if (is_new) continue;
      make_alias(p, found->second);
      changed = true;
    }
    return changed;
  }

  /// Ys that need not be computed by the construct: `forwarded_` has the parameter, `same_y_` an
  /// earlier equal y.
  void find_forwarded() {
    forwarded_.resize(layout_.ys);
    constant_ys_.resize(layout_.ys);
    same_y_.resize(layout_.ys);
    absl::flat_hash_map<std::vector<Value>, std::size_t> first;
    for (std::size_t y = 0; y < layout_.ys; y++) {
      same_y_[y] = y;
      const std::size_t r = layout_.carries + y;
      std::vector<Value> values;
      std::optional<std::size_t> param;
      const Tensor* constant = nullptr;
      bool same_param = true, same_constant = layout_.is_branch();
      for (std::size_t k = 0; k < node_->regions.size(); k++) {
        if (!layout_.is_body(k)) continue;
        const Tensor& value = node_->regions[k].outputs()[r];
        values.push_back(value_of(value));
        const auto p = param_of(k, value);
        same_param = same_param && p && (values.size() == 1 || p == param);
        if (values.size() == 1) param = p;
        const Literal* literal = constant_of(k, value);
        same_constant = same_constant && literal &&
                        (!constant || small_constant(*constant)->identical(*literal));
        if (same_constant && !constant) constant = p ? &operand(*p) : &value;
      }
      const Role wanted = layout_.is_branch() ? Role::kInvariant : Role::kX;
      if (same_constant) {
        constant_ys_[y] = constant;
      } else if (same_param && role(*param) == wanted &&
                 operand(*param).type() == node_->types[r]) {
        forwarded_[y] = param;
      } else {
        same_y_[y] = first.try_emplace(std::move(values), y).first->second;
      }
    }
  }

  void find_needed(const WatchedNodes& watched) {
    needed_params_.assign(layout_.params(), false);
    std::fill_n(needed_params_.begin(), layout_.index, true);
    needed_results_.assign(layout_.results(), false);
    seen_.resize(node_->regions.size());
    for (std::size_t r = 0; r < layout_.results(); r++) {
      if (wanted_[r]) need_result(r);
    }
    if (layout_.condition)
      need_value(*layout_.condition, node_->regions[*layout_.condition].outputs()[0]);
    // What an observer watches stays: inside, and on the way in.
    for (std::size_t k = 0; k < node_->regions.size(); k++) {
      if (!layout_.is_body(k) || !observes(node_->regions[k])) continue;
      const WatchedNodes inside(node_->regions[k]);
      for (std::size_t r = 0; r < layout_.results(); r++) {
        if (inside.contains(node_->regions[k].outputs()[r])) need_result(r);
      }
    }
    for (std::size_t p = layout_.index; !watched.empty() && p < fates_.size(); p++) {
      if (watched.contains(operand(p))) need_param(p);
    }
    walk();
    // All results might be known without the construct, which would take with it what is watched on
    // the way in or inside, and the error of a promise that is broken.
    const bool wanted = std::find(wanted_.begin(), wanted_.end(), true) != wanted_.end();
    must_stay_ =
        !needs_node() && (observes(node_) || (wanted && layout_.has_open_promise()) ||
                          std::any_of(node_->operands.begin(), node_->operands.end(),
                                      [&](const Tensor& t) { return watched.contains(t); }));
  }

  std::size_t result_root(std::size_t r) const {
    return r < layout_.carries ? root_of(carry_param(r)) - layout_.index
                               : layout_.carries + same_y_[r - layout_.carries];
  }
  const Tensor* constant_result(std::size_t r) const {
    return r < layout_.carries ? nullptr : constant_ys_[r - layout_.carries];
  }
  /// The operand that a result is, where it is one.
  std::optional<std::size_t> operand_of_result(std::size_t r) const {
    if (r >= layout_.carries) {
      const auto param = forwarded_[r - layout_.carries];
      return param ? std::optional(layout_.operand_of_param(*param)) : std::nullopt;
    }
    const std::size_t root = root_of(carry_param(r));
    return never_changes(root) ? std::optional(layout_.operand_of_param(root)) : std::nullopt;
  }
  /// Does a result that is used come from the construct still?
  bool needs_node() const {
    for (std::size_t r = 0; r < layout_.results(); r++) {
      if (wanted_[r] && !constant_result(r) && !operand_of_result(r)) return true;
    }
    return false;
  }

  void need_result(std::size_t r) {
    if (constant_result(r) || operand_of_result(r)) return;
    r = result_root(r);
    if (needed_results_[r]) return;
    needed_results_[r] = true;
    pending_results_.push_back(r);
  }
  void need_param(std::size_t p) {
    p = root_of(p);
    if (fates_[p].kind == Fate::kConstant || needed_params_[p]) return;
    needed_params_[p] = true;
    if (role(p) == Role::kCarry && fates_[p].kind == Fate::kKept) need_result(p - layout_.index);
  }
  void need_value(std::size_t region, const Tensor& value) {
    if (ir::is_parameter(value.node())) {
      need_param(param_indices_[region].at(value.node()));
    } else if (seen_[region].insert(value.node()).second) {
      pending_nodes_.emplace_back(region, value.node());
    }
  }
  /// Follows what is needed to all that it needs.
  void walk() {
    while (!pending_nodes_.empty() || !pending_results_.empty()) {
      if (pending_nodes_.empty()) {
        const std::size_t r = pending_results_.back();
        pending_results_.pop_back();
        if (r < layout_.carries) needed_params_[carry_param(r)] = true;
        for (std::size_t k = 0; k < node_->regions.size(); k++) {
          if (layout_.is_body(k)) need_value(k, node_->regions[k].outputs()[r]);
        }
        continue;
      }
      const auto [region, node] = pending_nodes_.back();
      pending_nodes_.pop_back();
      for (const Tensor& operand : node->operands) need_value(region, operand);
    }
  }

  /// The old parameters that stay, in their new order.
  std::vector<std::size_t> new_order() const {
    std::vector<std::size_t> order;
    auto add = [&](auto&& wanted) {
      for (std::size_t p = 0; p < fates_.size(); p++) {
        if (needed_params_[p] && is_root(p) && fates_[p].kind != Fate::kConstant && wanted(p))
          order.push_back(p);
      }
    };
    add([&](std::size_t p) { return role(p) == Role::kIndex; });
    add([&](std::size_t p) { return role(p) == Role::kCarry && fates_[p].kind == Fate::kKept; });
    add([&](std::size_t p) { return role(p) == Role::kX; });
    add([&](std::size_t p) { return fates_[p].kind == Fate::kInvariant; });
    add([&](std::size_t p) { return role(p) == Role::kInvariant; });
    return order;
  }

  ir::ConstructParts new_parts(const FunctionRewrite& outer) const {
    ir::ConstructParts parts;
    for (std::size_t i = 0; i < layout_.fixed; i++)
      parts.fixed.push_back(outer(node_->operands[i]));
    const std::vector<std::size_t> order = new_order();
    for (std::size_t p : order) {
      if (role(p) == Role::kIndex) continue;
      auto& group = fates_[p].kind == Fate::kInvariant || role(p) == Role::kInvariant
                        ? parts.invariants
                    : role(p) == Role::kX ? parts.xs
                                          : parts.carries;
      group.push_back(outer(operand(p)));
    }
    for (std::size_t y = 0; y < layout_.ys; y++) {
      if (needed_results_[layout_.carries + y])
        parts.ys.push_back(node_->types[layout_.carries + y]);
    }
    for (std::size_t k = 0; k < node_->regions.size(); k++)
      parts.regions.push_back(new_region(k, order));
    return parts;
  }

  Function new_region(std::size_t k, const std::vector<std::size_t>& order) const {
    const Function& region = node_->regions[k];
    FunctionRewrite rewrite(region);
    std::vector<Tensor> by_old(fates_.size());
    std::vector<Tensor> params;
    for (std::size_t p : order) {
      by_old[p] = parameter_at(region.parameters()[p], params.size());
      params.push_back(by_old[p]);
    }
    for (std::size_t p = 0; p < fates_.size(); p++) {
      const std::size_t root = root_of(p);
      if (fates_[root].kind == Fate::kConstant) {
        rewrite.bind(region.parameters()[p], ir::make_constant(*small_constant(operand(root)),
                                                               operand(root).node()->location()));
      } else if (!by_old[root].empty()) {
        rewrite.bind(region.parameters()[p], by_old[root]);
      }
    }
    for (const Node* node : region.body()) {
      if (seen_[k].contains(node)) rewrite.replace(node, rewrite.rebuilt(node));
    }
    std::vector<Tensor> results;
    std::vector<std::string> names;
    for (std::size_t r = 0; r < region.outputs().size(); r++) {
      if (layout_.is_body(k) && !needed_results_[r]) continue;
      results.push_back(rewrite(region.outputs()[r]));
      if (!region.result_names().empty()) names.push_back(region.result_names()[r]);
    }
    return rewrite.finish(std::move(params), std::move(results), std::move(names));
  }

  RegionLayout layout_;
  const Node* node_;
  std::vector<absl::flat_hash_map<const Node*, std::size_t>> param_indices_;  // of each region
  std::vector<Fate> fates_;   // of each region parameter
  std::vector<bool> wanted_;  // results that are used outside
  std::vector<std::optional<std::size_t>> forwarded_;
  std::vector<const Tensor*> constant_ys_;
  std::vector<std::size_t> same_y_;
  std::vector<bool> needed_params_;                     // of roots
  std::vector<bool> needed_results_;                    // of bodies, of roots
  std::vector<absl::flat_hash_set<const Node*>> seen_;  // nodes that are needed, by region
  std::vector<std::pair<std::size_t, const Node*>> pending_nodes_;
  std::vector<std::size_t> pending_results_;
  bool must_stay_ = false;
};

std::optional<RegionLayout> prunable(const Node* node) {
  auto layout = ir::region_layout(node);
  if (layout && layout->is_call()) layout.reset();  // its rules know the operands by number
  return layout;
}

}  // namespace

Function prune_function(const Function& function) {
  const auto& body = function.body();
  if (std::none_of(body.begin(), body.end(),
                   [](const Node* node) { return prunable(node).has_value(); }))
    return function;
  const WatchedNodes watched(function);
  // From the results back, so that what only a dropped value needs is not needed either.
  absl::flat_hash_set<const Node*> live;
  absl::flat_hash_set<Value> live_results;  // of constructs
  absl::flat_hash_map<const Node*, std::unique_ptr<Pruning>> changes;
  auto need = [&](const Tensor& tensor) {
    live.insert(tensor.node());
    if (!tensor.node()->regions.empty()) live_results.insert(value_of(tensor));
  };
  for (const Tensor& result : function.outputs()) need(result);
  for (auto at = body.rbegin(); at != body.rend(); ++at) {
    const Node* node = *at;
    if (!live.contains(node)) continue;
    if (const auto layout = prunable(node)) {
      std::vector<bool> used(node->types.size());
      for (std::uint32_t r = 0; r < used.size(); r++) used[r] = live_results.contains({node, r});
      auto pruning = std::make_unique<Pruning>(*layout, used, watched);
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

}  // namespace rondo::passes
