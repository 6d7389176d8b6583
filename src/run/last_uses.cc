#include "run/last_uses.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/lazy.h"
#include "ir/node.h"
#include "ir/run_limits.h"
#include "rondo/run_scope.h"

namespace rondo::ir {

namespace {

/// Counts, from the kept tensors back to the values, the handles that are released with the
/// definitions of these tensors.
class GoingHandles {
 public:
  GoingHandles(const LazyProgram& program, std::span<const Tensor> kept) : program_(program) {
    for (const Tensor& tensor : kept) kept_.insert(tensor.node());
    const auto& steps = program.steps;
    for (std::size_t end = steps.size(); end > 0;) {  // those of one node are consecutive
      std::size_t begin = end;
      const Node* node = steps[end - 1].node.node();
      while (begin > 0 && steps[begin - 1].node.node() == node) begin--;
      if (goes(begin, end)) {
        for (const Tensor& operand : node->operands) going_[operand.node()]++;
      }
      end = begin;
    }
    for (const Tensor& value : program.values) going_[value.node()]++;
  }

  /// Whether all handles to a value are released.
  bool all_go(const Tensor& value) const { return references(value.node()) == count(value.node()); }

 private:
  static std::uint32_t references(const Node* node) {
    return node->references.load(std::memory_order_acquire);
  }
  std::uint32_t count(const Node* node) const {
    const auto found = going_.find(node);
    return found == going_.end() ? 0 : found->second;
  }
  /// Whether the node of these steps is released: only these steps, operands of released nodes, and
  /// lazy tensors that are kept or released hold it.
  bool goes(std::size_t begin, std::size_t end) const {
    const Node* node = program_.steps[begin].node.node();
    std::uint32_t held = count(node);
    for (std::size_t i = begin; i < end; i++) {
      const Node* lazy = program_.steps[i].lazy;
      if (lazy && !kept_.contains(lazy) && references(lazy) != count(lazy)) return false;
      held += lazy ? 2 : 1;  // the step's, and the cell's
    }
    return references(node) == held;
  }

  const LazyProgram& program_;
  absl::flat_hash_set<const Node*> kept_;
  absl::flat_hash_map<const Node*, std::uint32_t> going_;
};

}  // namespace

LastUses::LastUses(const LazyProgram& program, std::span<const Tensor> kept) : kept_(kept) {
  // A run with limits donates nothing, and may call the user, who may request the tensors.
  const RunOptions* const options = detail::scoped_run_options();
  if (options && !is_plain(*options)) return;
  const auto is_on_device = [](const Tensor& value) { return device_value(value) != nullptr; };
  if (std::none_of(program.values.begin(), program.values.end(), is_on_device) || !claim()) return;
  const GoingHandles going(program, kept);
  for (const Tensor& value : program.values) {
    // The handles of the cell and of the argument; a literal is copied to the device.
    handles_.push_back(!is_on_device(value) ? 1 : going.all_go(value) ? 2 : 0);
  }
}

/// False, without any claim, if another thread computes one of the tensors: waiting for it while
/// others wait for this thread could deadlock.
bool LastUses::claim() {
  for (const Tensor& tensor : kept_) {
    claims_.push_back(tensor.node()->cell->try_to_claim());
    if (claims_.back().owns_lock()) continue;
    claims_.clear();
    return false;
  }
  return true;
}

std::vector<pjrt::DeviceArray> LastUses::keep(std::vector<pjrt::DeviceArray> results) {
  auto next = std::make_move_iterator(results.begin());
  for (std::size_t i = 0; i < kept_.size(); i++) {
    const Node* node = kept_[i].node();
    const auto end = next + static_cast<std::ptrdiff_t>(node->types.size());
    auto claim = claims_.empty() ? node->cell->claim() : std::move(claims_[i]);
    node->cell->set_arrays({next, end}, std::move(claim));
    next = end;
  }
  return {next, std::make_move_iterator(results.end())};
}

}  // namespace rondo::ir
