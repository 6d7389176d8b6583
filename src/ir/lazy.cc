#include "ir/lazy.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace rondo::ir {

namespace {

/// How many scopes of this thread are inactive because a transform is tracing.
constinit thread_local int eager_paused = 0;

/// The thread's number of scopes; null before the first one. Used until the thread has ended, when
/// the object that it points to is gone.
constinit thread_local const std::atomic<int>* scopes_of_thread = nullptr;
constinit thread_local bool thread_ends = false;
struct KeptScopes {
  std::shared_ptr<std::atomic<int>> count = std::make_shared<std::atomic<int>>(0);
  KeptScopes() { scopes_of_thread = count.get(); }
  ~KeptScopes() {
    scopes_of_thread = nullptr;
    thread_ends = true;
  }
};

int scopes_now() noexcept {
  return scopes_of_thread ? scopes_of_thread->load(std::memory_order_relaxed) : 0;
}

}  // namespace

const OpDef LazyCell::kOp{.name = "lazy", .arity = 0, .kind = OpKind::kLazy};

LazyCell::LazyCell(Tensor definition)
    : op_(*definition.node()->op), definition_(std::move(definition)) {}
LazyCell::LazyCell(pjrt::DeviceArray array)
    : op_(kOp), arrays_(new std::vector<pjrt::DeviceArray>{std::move(array)}) {}
LazyCell::LazyCell(pjrt::ShardedArray parts) : op_(kOp), parts_(std::move(parts)) {}
LazyCell::~LazyCell() {
  delete values_.load(std::memory_order_acquire);
  delete arrays_.load(std::memory_order_acquire);
}

Tensor LazyCell::definition() const {
  std::lock_guard lock(mutex_);
  return definition_;
}

const LazyValues* LazyCell::fetched() const {
  auto values = std::make_unique<LazyValues>();
  if (const auto* arrays = arrays_.load(std::memory_order_acquire)) {
    for (const pjrt::DeviceArray& array : *arrays) values->list.push_back(array.to_literal());
  } else {
    values->list.push_back(parts_.to_literal());
  }
  set_values(std::move(values));
  return values_.load(std::memory_order_acquire);
}

void LazyCell::set_values(std::unique_ptr<const LazyValues> values) const {
  Tensor dropped;  // released after the lock: that may destroy much
  std::lock_guard lock(mutex_);
  if (values_.load(std::memory_order_relaxed)) return;
  values_.store(values.release(), std::memory_order_release);
  std::swap(dropped, definition_);
}

void LazyCell::set_arrays(std::vector<pjrt::DeviceArray> arrays, Claim claim) const {
  auto owned = std::make_unique<const std::vector<pjrt::DeviceArray>>(std::move(arrays));
  Tensor dropped;
  const Claim held = std::move(claim);
  if (evaluated()) return;
  arrays_.store(owned.release(), std::memory_order_release);
  std::swap(dropped, definition_);
}

Tensor make_device_value(pjrt::DeviceArray array, SourceLocation at) {
  ResultTypes types{array.type()};
  return Tensor::adopt(new Node(LazyCell::kOp, {}, {}, std::move(types), {}, at,
                                std::make_unique<LazyCell>(std::move(array))));
}

const pjrt::DeviceArray* device_value(const Tensor& tensor) noexcept {
  if (tensor.value()) return nullptr;
  const Node* node = tensor.node();
  return node && node->cell ? node->cell->array(tensor.result()) : nullptr;
}

Tensor make_mesh_value(pjrt::ShardedArray array, SourceLocation at) {
  ResultTypes types{array.type()};
  return Tensor::adopt(new Node(LazyCell::kOp, {}, {}, std::move(types), {}, at,
                                std::make_unique<LazyCell>(std::move(array))));
}

const pjrt::ShardedArray* mesh_value(const Tensor& tensor) noexcept {
  if (tensor.value()) return nullptr;
  const Node* node = tensor.node();
  return node && node->cell && node->cell->parts() ? &node->cell->parts() : nullptr;
}

std::vector<pjrt::ShardedArray> arrays_on(const Mesh& mesh, std::span<const PartitionSpec> specs,
                                          std::vector<Tensor> tensors) {
  std::vector<pjrt::ShardedArray> arrays;
  arrays.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); i++) {
    if (const pjrt::ShardedArray* array = mesh_value(tensors[i]))
      arrays.push_back(*array);
    else
      arrays.emplace_back(*known_value(tensors[i]), mesh, specs[i]);
  }
  return arrays;
}

std::vector<pjrt::DeviceArray> arrays_on(const pjrt::Device& device, std::vector<Tensor> tensors) {
  std::vector<pjrt::DeviceArray> arrays;
  arrays.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    if (const pjrt::DeviceArray* array = device_value(tensor))
      arrays.push_back(array->device() == device ? *array : array->copy_to(device));
    else
      arrays.emplace_back(*known_value(tensor), device);
  }
  return arrays;
}

bool eager_active() noexcept { return scopes_now() > eager_paused; }
EagerPause::EagerPause() noexcept : saved_(std::exchange(eager_paused, scopes_now())) {}
EagerPause::~EagerPause() { eager_paused = saved_; }
std::shared_ptr<std::atomic<int>> eager_scopes() {
  if (thread_ends) return std::make_shared<std::atomic<int>>(0);  // a scope that is never queried
  thread_local KeptScopes kept;
  return kept.count;
}

bool depends_on_trace(std::span<const Tensor> tensors) noexcept {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const Tensor& t) { return !t.empty() && !t.value() && t.node()->traced; });
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
