// The allocation of literals' storage, and the metering of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace rondo {

/// memcpy, without the call for the sizes of scalars. The pointers of an empty array may be null.
inline void copy_bytes(std::byte* to, const std::byte* from, std::int64_t count) {
  switch (count) {
    case 0:
      break;
    case 1:
      *to = *from;
      break;
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    default:
      std::memcpy(to, from, static_cast<std::size_t>(count));
  }
}

/// Bytes of array data, without headers. Negative if more was released than allocated since the
/// meter was installed.
struct MemoryMeter {
  std::int64_t current = 0;
  std::int64_t peak = 0;
};

/// Counts in `meter` what this thread allocates and releases for literals, until the end of the
/// scope. Of nested scopes only the innermost counts.
class MemoryMeterScope {
 public:
  explicit MemoryMeterScope(MemoryMeter& meter) noexcept;
  MemoryMeterScope(const MemoryMeterScope&) = delete;
  MemoryMeterScope& operator=(const MemoryMeterScope&) = delete;
  ~MemoryMeterScope();

 private:
  MemoryMeter* previous_;
};

/// Counts array data of this thread that uses memory which was allocated before.
void count_taken(std::int64_t bytes) noexcept;

/// Recycled memory like that of literals: aligned to 64 bytes, with space for `bytes` behind the
/// first 64. Null if there is not enough memory. The size class is needed to return it.
void* take_block(std::size_t bytes, std::uint32_t& size_class) noexcept;
void give_block(void* block, std::uint32_t size_class) noexcept;

/// A block of at least `bytes` bytes, aligned like by new. Small ones come from what the thread has
/// released, without malloc: for objects that are created and destroyed by the million. Throws
/// std::bad_alloc.
inline void* take_small_block(std::size_t bytes);
inline void give_small_block(void* block, std::size_t bytes) noexcept;
/// Threshold: Largest block that a thread recycles: those of nodes and attributes; larger ones go
/// to malloc. Not measured; Trace in bench/rondo_bench.cc runs it.
inline constexpr std::size_t kLargestSmallBlock = 256;
/// Threshold: Bytes of a batch, of which a thread keeps up to two of each size; the process keeps
/// the rest: memory of each thread against use of a lock. Not measured.
inline constexpr std::size_t kSmallBatchBytes = std::size_t{64} << 10;
/// Threshold: Bytes of small blocks that the process keeps, of all sizes: memory against malloc.
/// Not measured.
inline constexpr std::size_t kMostSmallBytes = std::size_t{64} << 20;

namespace detail {

struct FreeBlock {
  FreeBlock* next;
};
/// The free blocks of one size that a thread has: some, and possibly a whole batch more, so that
/// alternating allocation and release never moves a batch.
struct SmallBlocks {
  FreeBlock* open;
  FreeBlock* spare;
  std::uint32_t room;  // for so many more in `open`; 0 before the first one
};
inline constexpr std::size_t kSmallStep = 16;
inline constexpr std::size_t kSmallSizes = kLargestSmallBlock / kSmallStep + 1;
constexpr std::size_t small_size(std::size_t bytes) noexcept {
  return (bytes + kSmallStep - 1) / kSmallStep;
}
/// Those of this thread, by size. Without a destructor, so that they can be used until the thread's
/// memory is released.
extern constinit thread_local std::array<SmallBlocks, kSmallSizes> small_blocks;

/// A block from a batch that the thread or the process has kept, else a new one.
void* take_of_batch(SmallBlocks& blocks, std::size_t size);
/// Sets a whole batch aside first. If the thread keeps no blocks any more, the block is deleted.
void give_to_batch(SmallBlocks& blocks, void* block, std::size_t size) noexcept;

inline void* pop(SmallBlocks& blocks) noexcept {
  blocks.room++;
  void* const block = std::exchange(blocks.open, blocks.open->next);
  // The next block may be anywhere in memory, and is written to as soon as it is taken.
  __builtin_prefetch(blocks.open, 1);
  __builtin_prefetch(blocks.open + 8, 1);
  return block;
}
inline void push(SmallBlocks& blocks, void* block) noexcept {
  blocks.room--;
  blocks.open = new (block) FreeBlock{blocks.open};
}

}  // namespace detail

// Inline, where the size is known.
inline void* take_small_block(std::size_t bytes) {
  if (bytes > kLargestSmallBlock) return ::operator new(bytes);
  const std::size_t size = detail::small_size(bytes);
  detail::SmallBlocks& blocks = detail::small_blocks[size];
  return blocks.open != nullptr ? detail::pop(blocks) : detail::take_of_batch(blocks, size);
}
inline void give_small_block(void* block, std::size_t bytes) noexcept {
  if (bytes > kLargestSmallBlock) return ::operator delete(block);
  const std::size_t size = detail::small_size(bytes);
  detail::SmallBlocks& blocks = detail::small_blocks[size];
  if (blocks.room == 0) return detail::give_to_batch(blocks, block, size);
  detail::push(blocks, block);
}

/// Released blocks whose data fits one of these sizes are kept by the thread for its next literals,
/// up to kCachedBytesPerSize bytes of data of each size. Those of kSmallestLargeBytes and more,
/// which malloc would return to the system, are kept by the process, up to kMostLargeBytes.
/// Sanitizer builds keep none.
inline constexpr std::array<std::size_t, 4> kCachedBlockSizes = {64, 256, 1024, 4096};
/// Threshold: Bytes of each size in kCachedBlockSizes that a thread keeps for its next literals:
/// memory of each thread against malloc. Not measured.
inline constexpr std::size_t kCachedBytesPerSize = std::size_t{64} * 1024;
/// Threshold: Blocks from this size on are kept by the process: malloc would return them to the
/// system, and new pages cost more than the arithmetic on them. Not measured.
inline constexpr std::size_t kSmallestLargeBytes = std::size_t{64} << 10;
/// Threshold: Bytes of such blocks that the process keeps: memory against new pages. Not measured;
/// UnknownWhileOfArrays in bench/gradient_bench.cc runs it.
inline constexpr std::size_t kMostLargeBytes = std::size_t{128} << 20;
/// The storage of a literal of so many bytes, with its header.
std::size_t storage_bytes(std::size_t bytes) noexcept;

}  // namespace rondo
