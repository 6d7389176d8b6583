// Values that no program uses yet.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/memory.h"
#include "base/shared_block.h"
#include "ir/node.h"
#include "rondo/detail/reference_count.h"
#include "rondo/literal.h"

namespace rondo::ir {

/// What a tensor holds instead of a node if its value was computed before it was created, as the
/// results of a jitted call are. Most of them are only read, or passed to the next call. The node,
/// a constant, is created when it is first requested.
class KnownValue : public rondo::detail::Counted {
 public:
  /// The id is that of its node, so that the node counts as created with the value.
  KnownValue(Literal literal, std::uint64_t id) noexcept : id_(id), literal_(std::move(literal)) {}
  /// Of elements that are written before the value is shared.
  KnownValue(const TensorType& type, std::uint64_t id, std::byte*& elements)
      : id_(id), literal_(Literal::uninitialized(type, elements)) {}
  /// A part of `block`, with its elements at `storage`, preceded by kHeaderBytes of free space. It
  /// is not in use until it is given out.
  KnownValue(const TensorType& type, void* storage, SharedBlock& block) noexcept
      : is_part_(true), literal_(type, Literal::part(storage, type, block)) {}
  KnownValue(const KnownValue&) = delete;
  KnownValue& operator=(const KnownValue&) = delete;
  ~KnownValue();
  static void* operator new(std::size_t bytes) { return take_small_block(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept {
    give_small_block(block, bytes);
  }

  static constexpr std::size_t kHeaderBytes = Literal::kHeaderBytes;
  static constexpr std::size_t kElementsOffset = Literal::kElementsOffset;

  /// The first handle of a part, whose elements the caller writes to `elements`.
  Tensor give_out(std::uint64_t id, std::byte*& elements) noexcept {
    references.store(1, std::memory_order_relaxed);
    id_ = id;
    elements = Literal::give_out(*literal_.storage_);
    return Tensor::adopt(this);
  }
  /// For a part whose block is destroyed, before its destructor.
  void forget_elements() noexcept { literal_.storage_ = nullptr; }
  /// Called for the last handle. A part remains, to be given out again.
  void destroy() const noexcept {
    if (!is_part_) {
      delete this;
      return;
    }
    if (const Node* node = node_if_made()) {
      node_.store(nullptr, std::memory_order_relaxed);
      release(node);
    }
    Literal::release(literal_.storage_);  // the block may be destroyed by this
  }

  const Literal& literal() const noexcept { return literal_; }
  /// The constant, which exists as long as the value. The same on all threads.
  const Node* node() const;
  /// Null if it was not requested yet.
  const Node* node_if_made() const noexcept { return node_.load(std::memory_order_acquire); }

 private:
  friend struct DebuggerLayout;
  const bool is_part_ = false;
  std::uint64_t id_ = 0;
  Literal literal_;
  mutable std::atomic<const Node*> node_{nullptr};
};

/// A tensor whose value the caller writes to `elements` before it is read.
inline Tensor make_known(const TensorType& type, std::byte*& elements) {
  return Tensor::adopt(new KnownValue(type, take_id(), elements));
}
/// A tensor of a computed value. Throws TraceError if the literal was moved from.
Tensor make_known(Literal literal);

}  // namespace rondo::ir
