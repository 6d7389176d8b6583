// An order of a function's nodes that depends only on its wiring, by which programs are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/node.h"

namespace rondo::ir {

/// Whether the order in which it runs is observable, even if what it computes is not.
inline bool order_is_seen(const Node* node) {
  return node->op->observer || node->op->construct.layout;
}

/// A function in an order that depends only on its wiring: operands first, in the order in which
/// the results need them; then what only observers need.
struct CanonicalOrder {
  std::vector<const Node*> nodes;
  absl::flat_hash_map<const Node*, std::uint64_t> numbers;  // the parameters' first

  explicit CanonicalOrder(const Function& function) {
    nodes.reserve(function.body().size());
    numbers.reserve(function.body().size() + function.parameters().size());
    for (const Tensor& param : function.parameters()) numbers.emplace(param.node(), numbers.size());
    std::vector<std::pair<const Node*, std::size_t>> stack;  // with the next operand to visit
    constexpr std::uint64_t kUnderWay = ~std::uint64_t{0};
    auto visit = [&](const Tensor& tensor) {
      if (numbers.try_emplace(tensor.node(), kUnderWay).second)
        stack.emplace_back(tensor.node(), 0);
    };
    std::uint64_t next = numbers.size();
    auto walk = [&](const Tensor& last) {
      visit(last);
      while (!stack.empty()) {
        auto& [node, operand] = stack.back();
        if (operand < node->operands.size()) {
          visit(node->operands[operand++]);
          continue;
        }
        numbers[node] = next++;
        nodes.push_back(node);
        stack.pop_back();
      }
    };
    for (const Tensor& result : function.outputs()) walk(result);
    for (const Node* node : function.body()) {
      if (order_is_seen(node)) walk(Tensor::of(node));
    }
  }
};

}  // namespace rondo::ir
