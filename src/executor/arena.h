// Allocates places in one piece of memory while a program is being written. The program runs in the
// order in which it is written, so memory that is free here is free then.
#pragma once

#include <cstdint>

#include "absl/container/btree_map.h"
#include "base/guard_pages.h"

namespace rondo::executor {

class Arena {
 public:
  static constexpr std::int64_t kAlignment = 64;

  /// Guarded: each place ends where a page begins that belongs to no place (base/guard_pages.h).
  explicit Arena(bool guarded = guard_pages_wanted()) : guarded_(guarded) {}

  /// The offset of `bytes` bytes: a multiple of the alignment, unless it is guarded.
  std::int64_t allocate(std::int64_t bytes);
  void release(std::int64_t offset, std::int64_t bytes);
  /// The largest size in use so far.
  std::int64_t size() const noexcept { return size_; }

 private:
  std::int64_t allocate_guarded(std::int64_t bytes);
  static std::int64_t rounded(std::int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  absl::btree_map<std::int64_t, std::int64_t> free_;  // offset, bytes; never two in a row
  std::int64_t end_ = 0;
  std::int64_t size_ = 0;
  bool guarded_;
  absl::btree_multimap<std::int64_t, std::int64_t> free_pages_;  // if guarded: how many, offset
};

}  // namespace rondo::executor
