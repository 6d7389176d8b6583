// Counts a test program's allocations: by operators new and delete, which one source of the program
// defines by including this. Counts nothing under a sanitizer.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

#include "support/sanitized.h"

namespace rondo::testing {

/// For this thread: blocks allocated and released, the bytes of all allocations, and the largest of
/// them in bytes.
inline thread_local std::int64_t allocations = 0;
inline thread_local std::int64_t allocated_bytes = 0;
inline thread_local std::int64_t frees = 0;
inline thread_local std::size_t largest_allocation = 0;
/// What malloc returned for blocks that are not yet released, with its overhead of 8 bytes each. A
/// block counts for the thread that allocates and for the one that releases it.
inline thread_local std::int64_t held_bytes = 0;
/// For the process: blocks with an explicit alignment, as literals have them. Those that exist, and
/// all that were created.
inline std::atomic<std::int64_t> live_aligned_blocks{0};
inline std::atomic<std::int64_t> aligned_blocks_made{0};

template <class F>
std::int64_t allocations_of(const F& f) {
  const std::int64_t before = allocations;
  f();
  return allocations - before;
}

inline std::int64_t size_of_block(void* block) noexcept {
  constexpr std::size_t kHeader = sizeof(std::size_t);
  return block ? static_cast<std::int64_t>(malloc_usable_size(block) + kHeader) : 0;
}

inline void* counted_block(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes > std::numeric_limits<std::size_t>::max() - alignment) return nullptr;
  allocations++;
  allocated_bytes += static_cast<std::int64_t>(bytes);
  largest_allocation = std::max(largest_allocation, bytes);
  void* const block =
      std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  held_bytes += size_of_block(block);
  return block;
}

inline void* counted_aligned_block(std::size_t bytes, std::align_val_t alignment) noexcept {
  void* const block = counted_block(bytes, static_cast<std::size_t>(alignment));
  if (block) {
    ++live_aligned_blocks;
    ++aligned_blocks_made;
  }
  return block;
}

inline void* checked_block(void* block) {
  if (!block) throw std::bad_alloc();
  return block;
}

inline void counted_free(void* block) noexcept {
  frees += block != nullptr;
  held_bytes -= size_of_block(block);
  std::free(block);
}

}  // namespace rondo::testing

// Not inlined, or g++ sees free() called on a pointer from new. One source of a program includes
// this.
// NOLINTBEGIN(misc-definitions-in-headers)
#if !defined(RONDO_TEST_SANITIZED)
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return rondo::testing::checked_block(rondo::testing::counted_block(bytes, 16));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return rondo::testing::counted_block(bytes, 16);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return rondo::testing::checked_block(rondo::testing::counted_aligned_block(bytes, alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  return rondo::testing::counted_aligned_block(bytes, alignment);
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
  rondo::testing::counted_free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
  rondo::testing::counted_free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::align_val_t) noexcept {
  if (block) --rondo::testing::live_aligned_blocks;
  rondo::testing::counted_free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t,
                                       std::align_val_t alignment) noexcept {
  ::operator delete(block, alignment);
}
#endif
// NOLINTEND(misc-definitions-in-headers)
