#include "ir/lazy.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace rondo::ir {

namespace {

/// How many scopes of this thread do not count, because a transform traces.
thread_local int eager_paused = 0;

std::shared_ptr<std::atomic<int>>& scopes_of_thread() {
  thread_local auto scopes = std::make_shared<std::atomic<int>>(0);
  return scopes;
}

}  // namespace

const OpDef LazyCell::kOp{.name = "lazy", .arity = 0, .kind = OpKind::kLazy};

LazyCell::LazyCell(Tensor definition)
    : op_(*definition.node()->op), definition_(std::move(definition)) {}
LazyCell::~LazyCell() { delete values_.load(std::memory_order_acquire); }

Tensor LazyCell::definition() const {
  std::lock_guard lock(mutex_);
  return definition_;
}

void LazyCell::set_values(std::vector<Literal> values) {
  auto owned = std::make_unique<const std::vector<Literal>>(std::move(values));
  Tensor dropped;  // after the lock: that may destroy much
  std::lock_guard lock(mutex_);
  if (values_.load(std::memory_order_relaxed)) return;
  values_.store(owned.release(), std::memory_order_release);
  std::swap(dropped, definition_);
}

bool eager_active() noexcept {
  return scopes_of_thread()->load(std::memory_order_relaxed) > eager_paused;
}
EagerPause::EagerPause() noexcept
    : saved_(std::exchange(eager_paused, scopes_of_thread()->load(std::memory_order_relaxed))) {}
EagerPause::~EagerPause() { eager_paused = saved_; }
std::shared_ptr<std::atomic<int>> eager_scopes() { return scopes_of_thread(); }

bool depends_on_trace(std::span<const Tensor> tensors) noexcept {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const Tensor& t) { return !t.empty() && t.node()->traced; });
}

const Node* parameter_behind(const Node* node) {
  absl::flat_hash_set<const Node*> seen;
  std::vector<const Node*> stack;
  const auto visit = [&](const Node* next) {
    if (next->traced && seen.insert(next).second) stack.push_back(next);
  };
  visit(node);
  while (!stack.empty()) {
    const Node* next = stack.back();
    stack.pop_back();
    if (is_parameter(next)) return next;
    for (const Tensor& operand : next->operands) visit(operand.node());
  }
  return nullptr;
}

}  // namespace rondo::ir
