// Lazy values: tensors outside any trace.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/memory.h"
#include "ir/node.h"
#include "rondo/detail/evaluate.h"
#include "rondo/device.h"
#include "rondo/sharded_array.h"

namespace rondo::ir {

/// The values of a definition, one for each result: usually one.
struct LazyValues {
  absl::InlinedVector<Literal, 1> list;
  static void* operator new(std::size_t bytes) { return take_small_block(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept {
    give_small_block(block, bytes);
  }
};

/// The content of a lazy tensor: the node that computes it, until it has its values. Safe on many
/// threads. All walks except evaluation end at the node that holds the cell, so no program depends
/// on what was evaluated. When the values are stored, the definition is released.
class LazyCell {
 public:
  /// The op of the node that holds a cell. It is part of no program, so the registry does not list
  /// it.
  static const OpDef kOp;

  explicit LazyCell(Tensor definition);
  /// For a value that is already on a device.
  explicit LazyCell(pjrt::DeviceArray array);
  /// The same in parts on the devices of a mesh.
  explicit LazyCell(pjrt::ShardedArray parts);
  LazyCell(const LazyCell&) = delete;
  LazyCell& operator=(const LazyCell&) = delete;
  ~LazyCell();
  static void* operator new(std::size_t bytes) { return take_small_block(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept {
    give_small_block(block, bytes);
  }

  const OpDef& op() const noexcept { return op_; }
  /// Whether it has its values, on the host or on a device.
  bool evaluated() const noexcept {
    return is_elsewhere() || values_.load(std::memory_order_acquire) != nullptr;
  }
  /// The value of a result of the definition; null before evaluation. It exists as long as the
  /// cell. Copies a value on a device to the host; throws ExecutionError if the program that
  /// computes it there has failed.
  const Literal* value(std::size_t result) const {
    const LazyValues* values = values_.load(std::memory_order_acquire);
    if (!values && is_elsewhere()) values = fetched();
    return values ? &values->list[result] : nullptr;
  }
  /// A result of the definition, if the values are on a device; else null. It exists as long as the
  /// cell.
  const pjrt::DeviceArray* array(std::size_t result) const noexcept {
    const auto* arrays = arrays_.load(std::memory_order_acquire);
    return arrays ? &(*arrays)[result] : nullptr;
  }
  /// A value in parts on a mesh; else an empty array.
  const pjrt::ShardedArray& parts() const noexcept { return parts_; }
  /// The node that computes the values; empty once they are stored.
  Tensor definition() const;
  /// The same, or null, while this process has one thread: it exists as long as the cell has no
  /// values.
  const Node* definition_of_one_thread() const noexcept { return definition_.node(); }
  /// Stores the values and releases the definition. Does nothing if another thread was faster.
  void set_values(std::unique_ptr<const LazyValues> values) const;
  /// While it is held, other threads that need the definition wait.
  using Claim = std::unique_lock<std::mutex>;
  Claim claim() const { return Claim(mutex_); }
  /// Does not block: if another thread holds the lock, the claim is not held.
  Claim try_to_claim() const { return Claim(mutex_, std::try_to_lock); }
  /// The same as set_values, for values that were computed on a device and stay there.
  void set_arrays(std::vector<pjrt::DeviceArray> arrays, Claim claim) const;

 private:
  friend struct DebuggerLayout;
  /// Whether the values were computed on devices. Another thread may copy them to the host or
  /// compute them there meanwhile, so having values does not imply that they are on a device.
  bool is_elsewhere() const noexcept {
    return parts_ || arrays_.load(std::memory_order_acquire) != nullptr;
  }
  const LazyValues* fetched() const;

  const OpDef& op_;
  const pjrt::ShardedArray parts_;
  mutable std::atomic<const std::vector<pjrt::DeviceArray>*> arrays_{nullptr};
  mutable std::atomic<const LazyValues*> values_{nullptr};
  mutable std::mutex mutex_;
  mutable Tensor definition_;
};

/// A tensor whose value is on a device.
Tensor make_device_value(pjrt::DeviceArray array, SourceLocation at = {});
/// The array of such a tensor; null for any other.
const pjrt::DeviceArray* device_value(const Tensor& tensor) noexcept;
/// The same for a value in parts on a mesh.
Tensor make_mesh_value(pjrt::ShardedArray array, SourceLocation at = {});
const pjrt::ShardedArray* mesh_value(const Tensor& tensor) noexcept;
/// Whether the value is not on the host: known_value would have to copy it.
inline bool is_elsewhere(const Tensor& tensor) noexcept {
  return device_value(tensor) || mesh_value(tensor);
}
/// The values of tensors that have them, on a device: those that are elsewhere are copied to it.
/// The tensors are released.
std::vector<pjrt::DeviceArray> arrays_on(const pjrt::Device& device, std::vector<Tensor> tensors);
/// The same on a mesh, with one spec per tensor for those that are not on a mesh yet.
std::vector<pjrt::ShardedArray> arrays_on(const Mesh& mesh, std::span<const PartitionSpec> specs,
                                          std::vector<Tensor> tensors);

/// True while an EagerScope of this thread is in effect (never inside a transform's own trace).
bool eager_active() noexcept;
/// Disables eager evaluation while a transform traces.
class EagerPause {
 public:
  EagerPause() noexcept;
  ~EagerPause();
  EagerPause(const EagerPause&) = delete;
  EagerPause& operator=(const EagerPause&) = delete;

 private:
  int saved_;
};
/// The number of existing EagerScopes that this thread created; they may end on any thread.
std::shared_ptr<std::atomic<int>> eager_scopes();

// Running the graph is in layers above, as the definitions of other public functions.
using detail::evaluate;
using detail::keep_values;

/// Whether one of the tensors depends on a parameter, and so has no value.
bool depends_on_trace(std::span<const Tensor> tensors) noexcept;
/// A parameter on which a node depends; null if there is none.
const Node* parameter_behind(const Node* node);

}  // namespace rondo::ir
