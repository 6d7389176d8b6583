// Values that no program has used yet.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/memory.h"
#include "ir/node.h"
#include "rondo/literal.h"
#include "rondo/reference_count.h"

namespace rondo::ir {

/// What a tensor holds in place of a node where its value was computed before it was made, as the
/// results of a jitted call are: most of them are only read, or handed to the next call. The
/// constant that it is in a program is made when somebody asks for the node.
class KnownValue : public rondo::detail::Counted {
 public:
  /// The id is that of its node, so that the node counts as made when the value was.
  KnownValue(Literal literal, std::uint64_t id) noexcept : id_(id), literal_(std::move(literal)) {}
  /// Of elements that are written before anybody else has it.
  KnownValue(const TensorType& type, std::uint64_t id, std::byte*& elements)
      : id_(id), literal_(Literal::uninitialized(type, elements)) {}
  KnownValue(const KnownValue&) = delete;
  KnownValue& operator=(const KnownValue&) = delete;
  ~KnownValue();
  static void* operator new(std::size_t bytes) { return take_small_block(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept {
    give_small_block(block, bytes);
  }

  const Literal& literal() const noexcept { return literal_; }
  /// The constant, which stays as long as the value. The same for all threads.
  const Node* node() const;
  /// Null where nobody has asked for it yet.
  const Node* node_if_made() const noexcept { return node_.load(std::memory_order_acquire); }

 private:
  const std::uint64_t id_;
  Literal literal_;
  mutable std::atomic<const Node*> node_{nullptr};
};

/// A tensor of a value that is yet to be written, to `elements`, before anybody reads it.
inline Tensor make_known(const TensorType& type, std::byte*& elements) {
  return Tensor::adopt(new KnownValue(type, take_id(), elements));
}
/// A tensor of a value that was computed. Throws TraceError where the literal was moved from.
Tensor make_known(Literal literal);

}  // namespace rondo::ir
