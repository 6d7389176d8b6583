// Memory of several arrays, which are released one by one, and which is used again as a whole.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/memory.h"

namespace rondo {

/// What such a block of memory begins with. The thread that made it owns it: it takes all parts
/// together, and takes them again when they are released. It counts what it releases itself in a
/// number of its own, without a locked instruction; other threads count in a shared one. An owner
/// that has no use for the block any more disowns it: whoever releases the last part destroys it
/// then. (Counts that favour one thread: J. Choi et al., "Biased reference counting", 2018.)
class SharedBlock {
 public:
  /// All parts are taken.
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

  // For the owner alone.
  bool all_released() const noexcept {
    return left_.load(std::memory_order_acquire) == released_by_owner_ + 1;
  }
  /// All parts are taken again.
  void use_again() noexcept {
    left_.store(parts_ + 1, std::memory_order_relaxed);
    released_by_owner_ = 0;
  }
  /// The block may be gone after this.
  void disown() noexcept {
    owner_.store(nullptr, std::memory_order_relaxed);
    drop(released_by_owner_ + 1);
  }

 private:
  /// An address that no other thread has while this one runs.
  static const void* this_thread() noexcept { return &detail::small_blocks; }
  void drop(std::uint32_t count) noexcept {
    if (left_.fetch_sub(count, std::memory_order_acq_rel) == count) destroy_(this);
  }

  std::atomic<const void*> owner_;
  void (*const destroy_)(SharedBlock*) noexcept;
  const std::uint32_t parts_;
  std::uint32_t released_by_owner_ = 0;
  /// Parts that no other thread has released, and one for the owner.
  std::atomic<std::uint32_t> left_;
};

}  // namespace rondo
