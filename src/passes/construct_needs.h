// What a loop or branch needs for those of its results that are used.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "passes/construct_values.h"
#include "passes/rewrite.h"

namespace rondo::passes {

class ConstructNeeds {
 public:
  /// `used`: which results of the construct are used; `watched`: the nodes of the enclosing
  /// function on which an observer depends. What an observer depends on is needed, inside the
  /// construct and in its operands.
  ConstructNeeds(const ir::RegionLayout& layout, const ConstructValues& values,
                 const std::vector<bool>& used, const WatchedNodes& watched);

  /// Of parameters and results with equal values, the representatives that are needed.
  bool param(std::size_t param) const { return params_[param]; }
  bool result(std::size_t result) const { return results_[result]; }
  bool node(std::size_t region, const ir::Node* node) const {
    return nodes_[region].contains(node);
  }

 private:
  void need_result(std::size_t result);
  void need_param(std::size_t param);
  void need_value(std::size_t region, const Tensor& value);
  void follow();

  const ir::RegionLayout& layout_;
  const ConstructValues& values_;
  std::vector<bool> params_, results_;
  std::vector<absl::flat_hash_set<const ir::Node*>> nodes_;  // of each region
  std::vector<std::pair<std::size_t, const ir::Node*>> pending_nodes_;
  std::vector<std::size_t> pending_results_;
};

}  // namespace rondo::passes
