// Tangents and cotangents of the values of a program, as the derivative drivers keep them.
#pragma once

#include <algorithm>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/derivative.h"

namespace rondo::transforms {

using ir::Flags;
using ir::Node;

using ir::ValueKey;

/// Tangents of the values of a program; empty ones are not stored.
class TangentMap {
 public:
  Tensor get(const Tensor& of) const {
    const auto found = map_.find(of);
    return found == map_.end() ? Tensor() : found->second;
  }
  void set(const Tensor& of, Tensor tangent) {
    if (!tangent.empty()) map_.insert_or_assign(of, std::move(tangent));
  }

 private:
  absl::flat_hash_map<ValueKey, Tensor> map_;
};

/// The cotangents of the values of a program. Those of its parameters may be sums of an enclosing
/// program, which are added to directly.
class CotangentMap {
 public:
  void bind(const Tensor& value, ir::CotangentSum* sum) {
    if (sum) sums_.insert_or_assign(value, sum);
  }
  ir::CotangentSum& operator[](const Tensor& value) {
    const auto [found, is_new] = sums_.try_emplace(value, nullptr);
    if (is_new) found->second = &own_.emplace_back();
    return *found->second;
  }
  bool is_zero(const Tensor& value) const {
    const auto found = sums_.find(value);
    return found == sums_.end() || found->second->empty();
  }
  /// Those of the results of a node, after all of its uses were visited.
  std::vector<Tensor> take_results(const Node* node) {
    std::vector<Tensor> all(node->types.size());
    for (std::uint32_t r = 0; r < all.size(); r++) {
      const auto found = sums_.find(ValueKey(node, r));
      if (found != sums_.end()) all[r] = found->second->take();
    }
    return all;
  }
  /// Those of the operands of a node for which `is_wanted` holds.
  template <class IsWanted>
  ir::Cotangents of_operands(const Node* node, const IsWanted& is_wanted) {
    ir::Cotangents all;
    for (const Tensor& operand : node->operands)
      all.append(is_wanted(operand) ? &(*this)[operand] : nullptr);
    return all;
  }

 private:
  std::deque<ir::CotangentSum> own_;
  absl::flat_hash_map<ValueKey, ir::CotangentSum*> sums_;
};

inline bool any_of(const Flags& flags) {
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}

inline bool any_given(std::span<const Tensor> tangents) {
  return std::any_of(tangents.begin(), tangents.end(), [](const Tensor& t) { return !t.empty(); });
}

/// The values of a function that can be perturbed and whose cotangent is needed.
class ActivePath {
 public:
  ActivePath(const Function& function, const Flags& parameters, const Flags& results) {
    for (std::size_t i = 0; i < parameters.size(); i++) {
      const Tensor& parameter = function.parameters()[i];
      if (parameters[i] && ir::has_tangent(parameter.type())) perturbed_.insert(parameter);
    }
    for (const Node* node : function.body()) {
      if (node->op->derivative.zero) continue;
      const bool any = std::any_of(node->operands.begin(), node->operands.end(),
                                   [&](const Tensor& t) { return is_perturbed(t); });
      for (std::uint32_t r = 0; any && r < node->types.size(); r++) {
        if (ir::has_tangent(node->types[r])) perturbed_.insert(ValueKey(node, r));
      }
    }
    const auto activate = [&](const Tensor& tensor) {
      if (is_perturbed(tensor)) active_.insert(tensor);
    };
    for (std::size_t i = 0; i < results.size(); i++) {
      if (results[i]) activate(function.outputs()[i]);
    }
    for (auto node = function.body().rbegin(); node != function.body().rend(); ++node) {
      bool any = false;
      for (std::uint32_t r = 0; r < (*node)->types.size(); r++) any = any || is_active(*node, r);
      if (!any) continue;
      for (const Tensor& operand : (*node)->operands) activate(operand);
    }
  }

  bool is_perturbed(const Tensor& tensor) const { return perturbed_.contains(tensor); }
  bool is_active(const Node* node, std::uint32_t result) const {
    return active_.contains(ValueKey(node, result));
  }
  bool is_active(const Tensor& tensor) const { return active_.contains(tensor); }
  Flags active_results(const Node* node) const {
    Flags flags(node->types.size());
    for (std::uint32_t r = 0; r < node->types.size(); r++) flags[r] = is_active(node, r);
    return flags;
  }
  Flags perturbed_operands(const Node* node) const {
    Flags flags;
    for (const Tensor& operand : node->operands) flags.push_back(is_perturbed(operand));
    return flags;
  }

 private:
  absl::flat_hash_set<ValueKey> perturbed_;
  absl::flat_hash_set<ValueKey> active_;
};

}  // namespace rondo::transforms
