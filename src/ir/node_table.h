// Values by node, for code that sets the value of each node of a function once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/node.h"

namespace rondo::ir {

/// A map from the parameters and nodes of a function. V is false if nothing was stored. Ids
/// increase as a program is traced, so this is usually an array that is accessed in order, which a
/// hash map of a million nodes is not.
template <class V>
class NodeTable {
 public:
  explicit NodeTable(const Function& function) {
    std::uint64_t last = 0;
    first_ = UINT64_MAX;
    const auto see = [&](const Node* node) {
      first_ = std::min(first_, node->id);
      last = std::max(last, node->id);
    };
    for (const Tensor& parameter : function.parameters()) see(parameter.node());
    for (const Node* node : function.body()) see(node);
    const std::size_t count = function.parameters().size() + function.body().size();
    if (count == 0) return;
    if (last - first_ < kSparsest * count) {
      dense_count_ = last - first_ + 1;
      dense_.resize(static_cast<std::size_t>(dense_count_));
    } else {
      sparse_.reserve(count);
    }
  }

  void set(const Node* node, const V& value) {
    if (const std::uint64_t at = node->id - first_; at < dense_count_)
      dense_[static_cast<std::size_t>(at)] = value;
    else
      sparse_.insert_or_assign(node, value);
  }
  /// The value stored for the node; V(), or null, if there is none. Valid until the next call of
  /// set().
  const V* find(const Node* node) const {
    if (const std::uint64_t at = node->id - first_; at < dense_count_)
      return &dense_[static_cast<std::size_t>(at)];
    const auto found = sparse_.find(node);
    return found == sparse_.end() ? nullptr : &found->second;
  }
  /// The same; V() if there is none.
  V get(const Node* node) const {
    const V* const value = find(node);
    return value ? *value : V();
  }

 private:
  static constexpr std::uint64_t kSparsest = 4;  // ids for each node

  std::uint64_t first_ = 0;
  std::uint64_t dense_count_ = 0;
  std::vector<V> dense_;
  absl::flat_hash_map<const Node*, V> sparse_;
};

}  // namespace rondo::ir
