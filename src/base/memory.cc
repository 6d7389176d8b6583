// The storage of literals: counted blocks of a 64-byte header and the data.
//
// The interpreter makes a literal for every scalar op, so small blocks are recycled by the thread
// that releases them.
#include "base/memory.h"

#include <new>

#include "rondo/literal.h"

namespace rondo {
namespace {

// Under a sanitizer every block comes from its allocator and goes back there, so that it sees each
// misuse.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RONDO_BLOCKS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define RONDO_BLOCKS_SANITIZED 1
#endif
#endif
#if defined(RONDO_BLOCKS_SANITIZED)
constexpr bool kRecycleBlocks = false;
// The sanitizers end the program where malloc would return null.
constexpr std::size_t kMaxBlockBytes = std::size_t{1} << 36;
#else
constexpr bool kRecycleBlocks = true;
constexpr std::size_t kMaxBlockBytes = std::size_t{1} << 47;  // the address space of a process
#endif
#undef RONDO_BLOCKS_SANITIZED

constexpr std::size_t kBlockAlignment = 64;
constexpr std::uint32_t kUncachedBlock = kCachedBlockSizes.size();

struct FreeBlock {
  FreeBlock* next;
};

/// The state of a thread. It has neither constructor nor destructor, so it can be used until the
/// thread's memory goes: also by literals that are released after every thread_local with a
/// destructor is gone.
struct BlockCache {
  enum class State : std::uint8_t { kUnused, kOpen, kClosed };
  std::array<FreeBlock*, kCachedBlockSizes.size()> heads;
  std::array<std::uint32_t, kCachedBlockSizes.size()> counts;
  MemoryMeter* meter;
  State state;
};
constinit thread_local BlockCache block_cache = {};

/// Empties the cache of its thread at the end.
struct BlockCacheCloser {
  ~BlockCacheCloser() {
    block_cache.state = BlockCache::State::kClosed;
    for (FreeBlock*& head : block_cache.heads) {
      while (head != nullptr) {
        FreeBlock* block = head;
        head = block->next;
        ::operator delete (block, std::align_val_t{kBlockAlignment});
      }
    }
  }
};

std::uint32_t block_size_class(std::size_t bytes) noexcept {
  for (std::uint32_t i = 0; i < kUncachedBlock; ++i) {
    if (bytes <= kCachedBlockSizes[i]) return i;
  }
  return kUncachedBlock;
}

/// True if the cache takes blocks; the first call on a thread sees to it that it is emptied.
bool open_block_cache() noexcept {
  if (block_cache.state == BlockCache::State::kUnused) {
    thread_local BlockCacheCloser closer;
    static_cast<void>(&closer);
    block_cache.state = BlockCache::State::kOpen;
  }
  return block_cache.state == BlockCache::State::kOpen;
}

void* new_block(std::size_t bytes, std::uint32_t size_class) noexcept {
  if (size_class < kUncachedBlock) bytes = kCachedBlockSizes[size_class];
  if (bytes > kMaxBlockBytes) return nullptr;
  return ::operator new (bytes + kBlockAlignment, std::align_val_t{kBlockAlignment}, std::nothrow);
}

}  // namespace

MemoryMeterScope::MemoryMeterScope(MemoryMeter& meter) noexcept : previous_(block_cache.meter) {
  block_cache.meter = &meter;
}
MemoryMeterScope::~MemoryMeterScope() { block_cache.meter = previous_; }

Literal::Storage* Literal::allocate(std::size_t bytes) noexcept {
  static_assert(sizeof(Storage) == kBlockAlignment && alignof(Storage) == kBlockAlignment);
  const std::uint32_t size_class = kRecycleBlocks ? block_size_class(bytes) : kUncachedBlock;
  void* memory;
  if (size_class < kUncachedBlock && block_cache.heads[size_class] != nullptr) {
    FreeBlock* block = block_cache.heads[size_class];
    block_cache.heads[size_class] = block->next;
    --block_cache.counts[size_class];
    memory = block;
  } else {
    memory = new_block(bytes, size_class);
    if (memory == nullptr) return nullptr;
  }
  if (MemoryMeter* meter = block_cache.meter) {
    meter->current += static_cast<std::int64_t>(bytes);
    if (meter->current > meter->peak) meter->peak = meter->current;
  }
  return new (memory) Storage{1, size_class, bytes};
}

void Literal::release(Storage* storage) noexcept {
  // The only owner need not pay for a locked decrement.
  if (storage->references.load(std::memory_order_acquire) != 1 &&
      storage->references.fetch_sub(1, std::memory_order_acq_rel) != 1) {
    return;
  }
  if (MemoryMeter* meter = block_cache.meter)
    meter->current -= static_cast<std::int64_t>(storage->bytes);
  const std::uint32_t size_class = storage->size_class;
  storage->~Storage();
  if (size_class < kUncachedBlock &&
      block_cache.counts[size_class] < kCachedBytesPerSize / kCachedBlockSizes[size_class] &&
      open_block_cache()) {
    block_cache.heads[size_class] = new (storage) FreeBlock{block_cache.heads[size_class]};
    ++block_cache.counts[size_class];
  } else {
    ::operator delete (storage, std::align_val_t{kBlockAlignment});
  }
}

}  // namespace rondo
