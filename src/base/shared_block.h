// A memory block shared by several arrays, which are released one by one; the block is reused as a
// whole.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/memory.h"

namespace rondo {

/// The header of such a block. The thread that created it owns it: it takes all parts together, and
/// takes them again when all are released. It counts its own releases in a separate number, without
/// a locked instruction; other threads count in a shared one. An owner that no longer needs the
/// block disowns it; the last release then destroys it. (Counts that favour one thread: J. Choi et
/// al., "Biased reference counting", 2018.)
class SharedBlock {
 public:
  /// All parts start as taken.
  SharedBlock(std::uint32_t parts, void (*destroy)(SharedBlock*) noexcept) noexcept
      : owner_(this_thread()), destroy_(destroy), parts_(parts), left_(parts + 1) {}
  SharedBlock(const SharedBlock&) = delete;
  SharedBlock& operator=(const SharedBlock&) = delete;

  void release_part() noexcept {
    if (owner_.load(std::memory_order_relaxed) == this_thread())
      released_by_owner_++;
    else
      drop(1);
  }

  // For the owner only.
  bool all_released() const noexcept {
    return left_.load(std::memory_order_acquire) == released_by_owner_ + 1;
  }
  /// Takes all parts again.
  void use_again() noexcept {
    left_.store(parts_ + 1, std::memory_order_relaxed);
    released_by_owner_ = 0;
  }
  /// The block may be destroyed by this.
  void disown() noexcept {
    owner_.store(nullptr, std::memory_order_relaxed);
    drop(released_by_owner_ + 1);
  }

 private:
  /// An address that is unique to this thread while it runs.
  static const void* this_thread() noexcept { return &detail::small_blocks; }
  void drop(std::uint32_t count) noexcept {
    if (left_.fetch_sub(count, std::memory_order_acq_rel) == count) destroy_(this);
  }

  std::atomic<const void*> owner_;
  void (*const destroy_)(SharedBlock*) noexcept;
  const std::uint32_t parts_;
  std::uint32_t released_by_owner_ = 0;
  /// Parts not released by other threads, plus one for the owner.
  std::atomic<std::uint32_t> left_;
};

}  // namespace rondo
