#include "ir/order.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/function_data.h"
#include "ir/layout.h"

namespace rondo::ir {

namespace {

using Value = ValueKey;

// The most nodes that one reader may move with it. Longer chains cost more than they save.
constexpr std::size_t kLongestChain = 32;

/// The operands that a node that is not a branch may overwrite: of a loop its carry.
std::pair<std::size_t, std::size_t> overwritten(const Node* node) {
  if (node->op->structure.updates) return {0, node->types.size()};
  const auto layout = region_layout(node);
  if (!layout || !layout->is_loop()) return {0, 0};
  return {layout->fixed, layout->fixed + layout->carries};
}

bool is_branch(const Node* node) {
  const auto layout = region_layout(node);
  return layout && layout->is_branch();
}

class Order {
 public:
  explicit Order(const Function& function) : body_(function.body()) {
    for (const Node* node : body_) {
      for (const std::size_t i : written_operands(node)) users_[value(node->operands[i])] = {};
    }
    if (users_.empty()) return;
    for (const Tensor& result : function.outputs())
      users_.erase(value(result));  // it outlives them
    emitted_.resize(body_.size());
    for (std::size_t i = 0; i < body_.size(); i++) {
      place_.emplace(body_[i], i);
      for (const Tensor& operand : body_[i]->operands) {
        const auto found = users_.find(value(operand));
        if (found != users_.end()) found->second.push_back(i);
      }
    }
  }

  std::vector<const Node*> run() {
    if (users_.empty()) return body_;
    for (std::size_t i = 0; i < body_.size(); i++) {
      if (emitted_[i]) continue;
      for (const std::size_t operand : written_operands(body_[i]))
        emit_readers(value(body_[i]->operands[operand]), i);
      emit(i);
    }
    return std::move(order_);
  }

 private:
  static Value value(const Tensor& tensor) { return {tensor.node(), tensor.result()}; }

  void emit(std::size_t i) {
    emitted_[i] = true;
    order_.push_back(body_[i]);
  }

  /// Emits the readers of an array that follow its writer, if all of them can precede it.
  void emit_readers(const Value& array, std::size_t writer) {
    const auto users = users_.find(array);
    if (users == users_.end()) return;
    std::vector<std::size_t> chain;
    for (const std::size_t user : users->second) {
      if (user > writer && !emitted_[user] && !add_chain(chain, user, writer)) return;
    }
    std::sort(chain.begin(), chain.end());
    for (const std::size_t i : chain) emit(i);
  }

  /// Adds a node and what it needs of the nodes after the writer; false if that cannot be moved.
  bool add_chain(std::vector<std::size_t>& chain, std::size_t reader, std::size_t writer) const {
    std::vector<std::size_t> open{reader};
    while (!open.empty()) {
      const std::size_t i = open.back();
      open.pop_back();
      if (i == writer || chain.size() == kLongestChain) return false;
      if (std::find(chain.begin(), chain.end(), i) != chain.end()) continue;
      const Node* node = body_[i];
      const bool moves = (is_constant(node) || node->op->runs()) && !node->op->observer &&
                         !node->op->structure.updates;
      if (!moves) return false;
      chain.push_back(i);
      for (const Tensor& operand : node->operands) {
        const auto found = place_.find(operand.node());
        if (found != place_.end() && found->second >= writer && !emitted_[found->second])
          open.push_back(found->second);
      }
    }
    return true;
  }

  const std::vector<const Node*>& body_;
  absl::flat_hash_map<Value, std::vector<std::size_t>> users_;  // of arrays that are overwritten
  absl::flat_hash_map<const Node*, std::size_t> place_;
  std::vector<bool> emitted_;
  std::vector<const Node*> order_;
};

}  // namespace

std::vector<std::size_t> written_operands(const Node* node) {
  constexpr std::int64_t kSmall = 16;
  std::vector<std::size_t> written;
  const auto add = [&](std::size_t operand) {
    if (node->operand_type(operand).elements() > kSmall) written.push_back(operand);
  };
  if (!is_branch(node)) {
    const auto [first, last] = overwritten(node);
    for (std::size_t i = first; i < last; i++) add(i);
    return written;
  }
  absl::flat_hash_set<const Node*> in_regions;  // parameters
  for (const Function& region : node->regions) {
    for (const Node* inner : region.body()) {
      // For a branch in a branch, every argument: looking into it would recurse.
      const auto [first, last] =
          is_branch(inner) ? std::pair(std::size_t{0}, inner->operands.size()) : overwritten(inner);
      for (std::size_t i = first; i < last; i++) in_regions.insert(inner->operands[i].node());
    }
  }
  const RegionLayout layout = *region_layout(node);
  for (std::size_t i = layout.fixed; i < node->operands.size(); i++) {
    const bool found =
        std::any_of(node->regions.begin(), node->regions.end(), [&](const Function& region) {
          return in_regions.contains(region.parameters()[layout.param_of_operand(i)].node());
        });
    if (found) add(i);
  }
  return written;
}

std::vector<const Node*> reads_before_writes(const Function& function) {
  return Order(function).run();
}

}  // namespace rondo::ir
