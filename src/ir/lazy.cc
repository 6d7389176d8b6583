#include "ir/lazy.h"

#include <utility>

namespace rondo::ir {

namespace {
thread_local int eager_depth = 0;
}  // namespace

std::mutex& lazy_mutex() noexcept {
  static std::mutex mutex;
  return mutex;
}

bool eager_active() noexcept { return eager_depth > 0; }
EagerPause::EagerPause() noexcept : saved_(std::exchange(eager_depth, 0)) {}
EagerPause::~EagerPause() { eager_depth = saved_; }
void enter_eager() noexcept { eager_depth++; }
void leave_eager() noexcept { eager_depth--; }

void publish(const Node* node, std::vector<Literal> values) {
  auto owned = std::make_unique<const std::vector<Literal>>(std::move(values));
  Operands dropped;  // let go of after the lock: that may destroy much
  std::vector<Function> regions;
  std::lock_guard lock(lazy_mutex());
  if (node->values.load(std::memory_order_relaxed)) return;  // another thread was faster
  node->values.store(owned.release(), std::memory_order_release);
  if (node->frozen.load(std::memory_order_relaxed)) return;
  auto* changing = const_cast<Node*>(node);
  dropped.swap(changing->operands);
  regions.swap(changing->regions);
}

}  // namespace rondo::ir
