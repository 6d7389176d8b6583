// The bytes that objects hold, for caches with a bound in bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "rondo/literal.h"
#include "rondo/shape.h"

namespace rondo {

/// Adds up the blocks of memory that objects hold; a shared block counts once. Each type adds what
/// it holds beside itself by a function `count_held(HeldBytes&)`.
class HeldBytes {
 public:
  std::int64_t total() const { return static_cast<std::int64_t>(total_); }

  /// Adds a block from the allocator with its overhead: malloc's blocks are multiples of 16 bytes,
  /// 8 of which it uses itself. Nothing for 0 bytes.
  void block(std::size_t bytes) {
    if (bytes > 0) total_ += std::max<std::size_t>(32, (bytes + 8 + 15) / 16 * 16);
  }
  /// Adds bytes from elsewhere.
  void add(std::int64_t bytes) { total_ += static_cast<std::size_t>(bytes); }
  /// Adds a block that may be shared. True if it was not counted before, so its owner has to count
  /// what it holds.
  bool shared(const void* at, std::size_t bytes) {
    if (!at || !seen_.insert(at).second) return false;
    block(bytes);
    return true;
  }
  /// Adds a block from make_shared.
  template <class T>
  bool shared(const std::shared_ptr<T>& object) {
    return shared(object.get(), kSharedBytes + sizeof(T));
  }

  template <class T>
  void elements(const std::vector<T>& list) {
    block(list.capacity() * kSize<T>);
  }
  template <class T, std::size_t kInline>
  void elements(const absl::InlinedVector<T, kInline>& list) {
    if (list.capacity() > kInline) block(list.capacity() * kSize<T>);
  }
  template <class Key, class Value>
  void elements(const absl::flat_hash_map<Key, Value>& map) {
    using Element = typename absl::flat_hash_map<Key, Value>::value_type;
    constexpr std::size_t kControlBytes = 16;  // and one byte per place
    if (map.capacity() > 0) block(kControlBytes + map.capacity() * (sizeof(Element) + 1));
  }
  void text(const std::string& text) {
    static const std::size_t in_place = std::string().capacity();
    if (text.capacity() > in_place) block(text.capacity() + 1);
  }
  void shape(const Shape& shape) {
    constexpr std::size_t kHeader = 16;
    shared(shape.begin(), kHeader + shape.size() * sizeof(std::int64_t));
  }
  void literal(const Literal& literal);

 private:
  static constexpr std::size_t kSharedBytes = 16;  // of a control block
  template <class T>
  static constexpr std::size_t kSize =
      sizeof(T);  // NOLINT(bugprone-sizeof-expression): a pointer's

  std::size_t total_ = 0;
  absl::flat_hash_set<const void*> seen_;
};

}  // namespace rondo
