// Reference counts of shared objects.
#pragma once

#include <atomic>
#include <cstdint>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define RONDO_KNOWS_SINGLE_THREAD 1
#endif

namespace rondo::detail {

/// Whether this process has one thread, so that counts need no locked instructions. Starting
/// another thread makes it see the current counts.
inline bool is_single_threaded() noexcept {
#if defined(RONDO_KNOWS_SINGLE_THREAD)
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

inline void add_reference(std::atomic<std::uint32_t>& count) noexcept {
  if (is_single_threaded())
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  else
    count.fetch_add(1, std::memory_order_relaxed);
}

/// True if it was the last one.
inline bool drop_reference(std::atomic<std::uint32_t>& count) noexcept {
  const std::uint32_t references = count.load(std::memory_order_acquire);
  if (references == 1) return true;  // the only owner need not pay for a locked decrement
  if (is_single_threaded()) {
    count.store(references - 1, std::memory_order_relaxed);
    return false;
  }
  return count.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

/// The header of a reference-counted object. Its creator has the first count.
struct Counted {
  mutable std::atomic<std::uint32_t> references{1};
};

}  // namespace rondo::detail

#undef RONDO_KNOWS_SINGLE_THREAD
