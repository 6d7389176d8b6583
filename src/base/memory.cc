// The storage of literals: reference-counted blocks of a 64-byte header and the data.
//
// The interpreter creates a literal for every scalar op, so small blocks are recycled by the thread
// that releases them. Blocks of nodes and attributes, of which a trace takes millions, are also
// recycled by the process. So are large ones, which the system would otherwise map anew, page by
// page and zeroed.
#include "base/memory.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include "base/shared_block.h"
#include "rondo/literal.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rondo {
namespace {

using detail::FreeBlock, detail::SmallBlocks, detail::kSmallSizes, detail::kSmallStep;

// Under a sanitizer every block is allocated and released individually, so that it detects each
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
/// Threshold: Blocks from this size on ask for pages of 2 MB: fewer page faults against memory. Not
/// measured alone; pointwise8 in bench/anchors runs it (a tenth gained, bench/README.md).
constexpr std::size_t kLeastHugeBytes = std::size_t{4} << 20;
constexpr std::uint32_t kUncachedBlock = kCachedBlockSizes.size();
constexpr std::uint32_t kFirstLargeClass = kUncachedBlock + 1;

/// How many blocks of each of kCachedBlockSizes a thread keeps.
constexpr auto kMostCachedBlocks = [] {
  std::array<std::uint32_t, kCachedBlockSizes.size()> most{};
  for (std::size_t i = 0; i < most.size(); i++)
    most[i] = static_cast<std::uint32_t>(kCachedBytesPerSize / kCachedBlockSizes[i]);
  return most;
}();
/// How many blocks of a size move between threads at a time.
constexpr std::uint32_t blocks_of_batch(std::size_t size) noexcept {
  return static_cast<std::uint32_t>(kSmallBatchBytes / (size * kSmallStep));
}

/// The state of a thread. It has neither constructor nor destructor, so it can be used until the
/// thread's memory is released: also by literals that are released after the destructors of
/// thread_locals ran.
struct BlockCache {
  enum class State : std::uint8_t { kUnused, kOpen, kClosed };
  std::array<FreeBlock*, kCachedBlockSizes.size()> heads;
  std::array<std::uint32_t, kCachedBlockSizes.size()> counts;
  MemoryMeter* meter;
  State state;
};
constinit thread_local BlockCache block_cache = {};

/// Of the host type of a dtype: complex numbers are two floats.
std::int64_t alignment_of(DType dtype) noexcept {
  const std::int64_t width = is_complex(dtype) ? byte_width(dtype) / 2 : byte_width(dtype);
  return std::max<std::int64_t>(width, 1);  // 0 of no dtype
}

void delete_block(void* block) noexcept {
  ::operator delete (block, std::align_val_t{kBlockAlignment});
}

void delete_small_blocks(FreeBlock* block) noexcept {
  while (block != nullptr) ::operator delete(std::exchange(block, block->next));
}

void empty_block_cache() noexcept {
  for (std::size_t i = 0; i < block_cache.heads.size(); i++) {
    while (FreeBlock* block = block_cache.heads[i]) {
      block_cache.heads[i] = block->next;
      delete_block(block);
    }
    block_cache.counts[i] = 0;
  }
  for (SmallBlocks& blocks : detail::small_blocks) {
    delete_small_blocks(blocks.open);
    delete_small_blocks(blocks.spare);
    blocks = {};
  }
}

/// Empties the cache of its thread when the thread ends.
struct BlockCacheCloser {
  ~BlockCacheCloser() {
    block_cache.state = BlockCache::State::kClosed;
    empty_block_cache();
  }
};

/// Large blocks of all threads, by size class: eighths of powers of two, so a block is at most an
/// eighth larger than requested. If another thread holds the lock, the block is allocated from or
/// returned to the system. So no thread waits, and neither does a process forked meanwhile.
class LargeBlocks {
 public:
  static std::uint32_t size_class(std::size_t bytes) noexcept {
    const auto shift = static_cast<std::uint32_t>(std::bit_width((bytes - 1) >> 4));
    const auto eighths = static_cast<std::uint32_t>((bytes - 1) >> shift);  // 8 to 15
    return kFirstLargeClass + shift * 8 + (eighths - 8);
  }
  static std::size_t class_bytes(std::uint32_t size_class) noexcept {
    const std::uint32_t number = size_class - kFirstLargeClass;
    return (std::size_t{number % 8} + 9) << (number / 8);
  }

  void* take(std::uint32_t size_class) noexcept {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    FreeBlock*& head = heads_[size_class - kFirstLargeClass];
    if (!lock || head == nullptr) return nullptr;
    kept_bytes_ -= class_bytes(size_class);
    return std::exchange(head, head->next);
  }
  /// False if enough are kept already.
  bool keep(void* block, std::uint32_t size_class) noexcept {
    const std::size_t bytes = class_bytes(size_class);
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || kept_bytes_ + bytes > kMostLargeBytes) return false;
    FreeBlock*& head = heads_[size_class - kFirstLargeClass];
    head = new (block) FreeBlock{head};
    kept_bytes_ += bytes;
    return true;
  }
  void release() noexcept {
    for (FreeBlock*& head : heads_) {
      FreeBlock* blocks;
      {
        const std::lock_guard lock(mutex_);
        blocks = std::exchange(head, nullptr);
        const auto size_class =
            static_cast<std::uint32_t>(&head - heads_.data()) + kFirstLargeClass;
        for (FreeBlock* block = blocks; block != nullptr; block = block->next)
          kept_bytes_ -= class_bytes(size_class);
      }
      while (blocks != nullptr) delete_block(std::exchange(blocks, blocks->next));
    }
  }

 private:
  std::mutex mutex_;
  static constexpr std::size_t kClasses = 512;  // eighths of 64 powers of two
  std::array<FreeBlock*, kClasses> heads_ = {};
  std::size_t kept_bytes_ = 0;
};

LargeBlocks& large_blocks() noexcept {
  // Never destroyed: literals of static storage are released late.
  alignas(LargeBlocks) static std::byte storage[sizeof(LargeBlocks)];
  static LargeBlocks* const blocks = new (storage) LargeBlocks;
  return *blocks;
}

/// Batches of small blocks that threads have released beyond what they keep themselves, shared by
/// all threads. No thread waits for the lock here either.
class SmallBatches {
 public:
  /// Null if there is none.
  FreeBlock* take(std::size_t size) noexcept {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    Batch*& head = heads_[size];
    if (!lock || head == nullptr) return nullptr;
    kept_bytes_ -= kSmallBatchBytes;
    return std::exchange(head, head->next_batch);
  }
  /// False if enough are kept already.
  bool keep(FreeBlock* blocks, std::size_t size) noexcept {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || kept_bytes_ + kSmallBatchBytes > kMostSmallBytes) return false;
    FreeBlock* const others = blocks->next;
    heads_[size] = new (blocks) Batch{{others}, heads_[size]};
    kept_bytes_ += kSmallBatchBytes;
    return true;
  }
  void release() noexcept {
    for (std::size_t size = 1; size < kSmallSizes; size++) {
      Batch* batches;
      {
        const std::lock_guard lock(mutex_);
        batches = std::exchange(heads_[size], nullptr);
        for (Batch* batch = batches; batch != nullptr; batch = batch->next_batch)
          kept_bytes_ -= kSmallBatchBytes;
      }
      while (batches != nullptr) delete_small_blocks(std::exchange(batches, batches->next_batch));
    }
  }

 private:
  /// The first block of a batch.
  struct Batch : FreeBlock {
    Batch* next_batch;
  };
  static_assert(sizeof(Batch) <= kSmallStep);

  std::mutex mutex_;
  std::array<Batch*, kSmallSizes> heads_ = {};
  std::size_t kept_bytes_ = 0;
};

SmallBatches& small_batches() noexcept {
  // Never destroyed: nodes of static storage are released late.
  alignas(SmallBatches) static std::byte storage[sizeof(SmallBatches)];
  static SmallBatches* const batches = new (storage) SmallBatches;
  return *batches;
}

std::uint32_t block_size_class(std::size_t bytes) noexcept {
  for (std::uint32_t i = 0; i < kUncachedBlock; ++i) {
    if (bytes <= kCachedBlockSizes[i]) return i;
  }
  const bool large = bytes >= kSmallestLargeBytes && bytes <= kMostLargeBytes;
  return large ? LargeBlocks::size_class(bytes) : kUncachedBlock;
}

/// True if the cache takes blocks; the first call on a thread arranges that it is emptied at the
/// end.
bool open_block_cache() noexcept {
  if (block_cache.state == BlockCache::State::kUnused) {
    thread_local BlockCacheCloser closer;
    static_cast<void>(&closer);
    block_cache.state = BlockCache::State::kOpen;
  }
  return block_cache.state == BlockCache::State::kOpen;
}

/// Asks the system to map the whole 2 MB pages of a block as huge pages. Passes over it then wait
/// less for the page tables, and for the pages of a new block.
void ask_for_huge_pages([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  const auto at = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t begin = (at + kPage - 1) / kPage * kPage, end = (at + bytes) / kPage * kPage;
  // If the system does not, only time is lost.
  if (begin < end)
    static_cast<void>(
        madvise(static_cast<std::byte*>(block) + (begin - at), end - begin, MADV_HUGEPAGE));
#endif
}

/// The capacity of a block of a class.
std::size_t room_for(std::size_t bytes, std::uint32_t size_class) noexcept {
  if (size_class < kUncachedBlock) return kCachedBlockSizes[size_class];
  return size_class >= kFirstLargeClass ? LargeBlocks::class_bytes(size_class) : bytes;
}

void* new_block(std::size_t bytes, std::uint32_t size_class) noexcept {
  bytes = room_for(bytes, size_class);
  if (bytes > kMaxBlockBytes) return nullptr;
  bytes += kBlockAlignment;
  void* const block = ::operator new (bytes, std::align_val_t{kBlockAlignment}, std::nothrow);
  if (block != nullptr && bytes >= kLeastHugeBytes) ask_for_huge_pages(block, bytes);
  return block;
}

}  // namespace

std::size_t storage_bytes(std::size_t bytes) noexcept {
  const std::uint32_t size_class = kRecycleBlocks ? block_size_class(bytes) : kUncachedBlock;
  return kBlockAlignment + room_for(bytes, size_class);
}

namespace detail {

constinit thread_local std::array<SmallBlocks, kSmallSizes> small_blocks = {};

void* take_of_batch(SmallBlocks& blocks, std::size_t size) {
  if (blocks.spare != nullptr)
    blocks.open = std::exchange(blocks.spare, nullptr);
  else if (kRecycleBlocks && open_block_cache())
    blocks.open = small_batches().take(size);
  if (blocks.open == nullptr) return ::operator new(size* kSmallStep);
  blocks.room = 0;
  return pop(blocks);
}

void give_to_batch(SmallBlocks& blocks, void* block, std::size_t size) noexcept {
  if (!kRecycleBlocks || !open_block_cache()) return ::operator delete(block);
  if (blocks.open != nullptr) {
    if (blocks.spare != nullptr && !small_batches().keep(blocks.spare, size))
      delete_small_blocks(blocks.spare);
    blocks.spare = std::exchange(blocks.open, nullptr);
  }
  blocks.room = blocks_of_batch(size);
  push(blocks, block);
}

}  // namespace detail

MemoryMeterScope::MemoryMeterScope(MemoryMeter& meter) noexcept : previous_(block_cache.meter) {
  block_cache.meter = &meter;
}
MemoryMeterScope::~MemoryMeterScope() { block_cache.meter = previous_; }

void count_taken(std::int64_t bytes) noexcept {
  MemoryMeter* const meter = block_cache.meter;
  if (!meter) return;
  meter->current += bytes;
  if (meter->current > meter->peak) meter->peak = meter->current;
}

void* take_block(std::size_t bytes, std::uint32_t& size_class) noexcept {
  size_class = kRecycleBlocks ? block_size_class(bytes) : kUncachedBlock;
  void* memory = nullptr;
  if (size_class < kUncachedBlock && block_cache.heads[size_class] != nullptr) {
    FreeBlock* block = block_cache.heads[size_class];
    block_cache.heads[size_class] = block->next;
    --block_cache.counts[size_class];
    memory = block;
  } else if (size_class >= kFirstLargeClass) {
    memory = large_blocks().take(size_class);
  }
  if (memory == nullptr) memory = new_block(bytes, size_class);
  if (memory == nullptr) {
    large_blocks().release();
    memory = new_block(bytes, size_class);
  }
  return memory;
}

void give_block(void* block, std::uint32_t size_class) noexcept {
  if (size_class < kUncachedBlock &&
      block_cache.counts[size_class] < kMostCachedBlocks[size_class] && open_block_cache()) {
    block_cache.heads[size_class] = new (block) FreeBlock{block_cache.heads[size_class]};
    ++block_cache.counts[size_class];
  } else if (size_class < kFirstLargeClass || !large_blocks().keep(block, size_class)) {
    delete_block(block);
  }
}

inline Literal::Storage* Literal::allocate(std::size_t bytes) noexcept {
  static_assert(sizeof(Storage) == kBlockAlignment && alignof(Storage) == kBlockAlignment);
  std::uint32_t size_class = 0;
  void* const memory = take_block(bytes, size_class);
  if (memory == nullptr) return nullptr;
  count_taken(static_cast<std::int64_t>(bytes));
  return new (memory) Storage{1, size_class, bytes};
}

// Defined here, where the allocation is inlined: each result of a call is created by it.
Literal Literal::uninitialized(const TensorType& type, std::byte*& bytes) {
  const std::int64_t count = type.bytes();
  Storage* const storage = allocate(static_cast<std::size_t>(count));
  if (storage == nullptr) {
    throw ExecutionError("out of memory: " + type.str() + " needs " +
                         (count == INT64_MAX ? "more than 2^63 - 1" : std::to_string(count)) +
                         " bytes\n  Make the array smaller, or release other arrays first.");
  }
  bytes = storage->data();
  return {type, storage};
}

Literal Literal::uninitialized(const TensorType& type) {
  std::byte* bytes = nullptr;
  return uninitialized(type, bytes);
}

Literal Literal::sharing(std::shared_ptr<const void> elements, const TensorType& type) {
  const auto address = reinterpret_cast<std::uintptr_t>(elements.get());
  const auto alignment = static_cast<std::uintptr_t>(alignment_of(type.dtype));
  if (address % alignment != 0 || (address == 0 && type.elements() != 0)) {
    throw TraceError("Literal::sharing: " +
                     (address == 0 ? "there is no memory for " + type.str()
                                   : "the elements of " + type.str() + " are not aligned to " +
                                         std::to_string(alignment) + " bytes") +
                     "\n  Copy the elements with Literal::from.");
  }
  Literal literal = uninitialized({type.dtype, {0}});
  if (address != 0) {
    literal.storage_->owner = new std::shared_ptr<const void>(std::move(elements));
    // Only read: unique() is false, so that a write copies.
    literal.storage_->elements =
        static_cast<std::byte*>(const_cast<void*>(literal.storage_->owner->get()));
    literal.storage_->bytes = static_cast<std::size_t>(type.bytes());
    count_taken(type.bytes());
  }
  literal.type_ = type;
  return literal;
}

void Literal::release(Storage* storage) noexcept {
  if (!detail::drop_reference(storage->references)) return;
  if (MemoryMeter* meter = block_cache.meter)
    meter->current -= static_cast<std::int64_t>(storage->bytes);
  if (storage->block != nullptr) return storage->block->release_part();
  delete storage->owner;
  const std::uint32_t size_class = storage->size_class;
  storage->~Storage();
  give_block(storage, size_class);
}

void release_cached_memory() noexcept {
  if (block_cache.state == BlockCache::State::kOpen) empty_block_cache();
  small_batches().release();
  large_blocks().release();
}

}  // namespace rondo
