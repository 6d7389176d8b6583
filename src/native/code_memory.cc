#include "native/code_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#if defined(__linux__)
#define RONDO_PLACES_CODE
#elif defined(__APPLE__) && defined(__aarch64__)
#define RONDO_PLACES_CODE
#define RONDO_CODE_BY_THREAD  // of a page, each thread has either a writable or an executable view
#endif

#if defined(RONDO_PLACES_CODE)
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#endif
#if defined(RONDO_CODE_BY_THREAD)
#include <libkern/OSCacheControl.h>
#endif

namespace rondo::native_code {

namespace {

constexpr std::size_t kGranule = 64;  // a cache line, and the alignment of loops
/// Threshold: Bytes of code mapped at a time: few mappings and near branches against unused memory.
/// Not measured.
constexpr std::size_t kSlabBytes = 1u << 20;

std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

void say_once_that_there_is_none() {
  static std::once_flag said;
  std::call_once(said, [] {
    std::fputs("rondo: this process may not have executable memory; programs run as bytecode.\n",
               stderr);
  });
}

// 64-bit ARM does not see in its instruction caches what was stored, so a place that is written
// again through another view of it needs care that emulators do not take: qemu 7.2 runs the code
// that was there before. There each function has pages of its own.
#if defined(__linux__) && !defined(__aarch64__)
#define RONDO_SHARES_CODE_SLABS
#endif

#if defined(RONDO_SHARES_CODE_SLABS)

/// First fit among the free ranges of the slabs, by address; neighbors are joined. After a fork the
/// slabs are shared with the child process, so neither process writes to them any more.
class CodeHeap {
 public:
  const std::byte* add(std::span<const std::byte> code) {
    const std::size_t bytes = rounded(std::max<std::size_t>(code.size(), 1), kGranule);
    std::lock_guard lock(mutex_);
    leave_shared_slabs();
    auto range =
        std::find_if(free_.begin(), free_.end(), [&](const auto& r) { return r.second >= bytes; });
    if (range == free_.end()) {
      if (!add_slab(bytes)) return nullptr;
      range = std::find_if(free_.begin(), free_.end(),
                           [&](const auto& r) { return r.second >= bytes; });
    }
    const auto [start, length] = *range;
    free_.erase(range);
    if (length > bytes) free_.emplace(start + bytes, length - bytes);
    Slab& slab = *slab_of(start);
    std::memcpy(slab.writable + (start - slab.executable), code.data(), code.size());
    slab.in_use += bytes;
    in_use_ += bytes;
    return start;
  }

  void remove(const std::byte* start, std::size_t size) {
    std::size_t bytes = rounded(std::max<std::size_t>(size, 1), kGranule);
    std::lock_guard lock(mutex_);
    leave_shared_slabs();
    const auto slab_at = slab_of(start);
    Slab& slab = *slab_at;
    slab.in_use -= bytes;
    in_use_ -= bytes;
    if (slab.is_shared) {
      if (slab.in_use == 0) drop(slab_at);
      return;
    }
    auto next = free_.lower_bound(start);
    if (next != free_.end() && next->first == start + bytes &&
        next->first < slab.executable + slab.bytes) {
      bytes += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == start && before->first >= slab.executable) {
        before->second += bytes;
        return;
      }
    }
    free_.emplace(start, bytes);
  }

  std::size_t in_use() {
    std::lock_guard lock(mutex_);
    return in_use_;
  }

  /// Held around a fork: no thread writes meanwhile.
  void before_fork() { mutex_.lock(); }
  void after_fork() {
    forked_ = true;  // a child of a multithreaded process must not allocate here
    mutex_.unlock();
  }

 private:
  struct Slab {
    std::byte* writable;
    const std::byte* executable;
    std::size_t bytes;
    std::size_t in_use = 0;
    bool is_shared = false;  // with another process
  };

  std::vector<Slab>::iterator slab_of(const std::byte* address) {
    return std::find_if(slabs_.begin(), slabs_.end(), [&](const Slab& s) {
      return address >= s.executable && address < s.executable + s.bytes;
    });
  }

  /// Free blocks in slabs from before a fork may be in use in the other process.
  void leave_shared_slabs() {
    if (!std::exchange(forked_, false)) return;
    free_.clear();
    for (auto slab = slabs_.begin(); slab != slabs_.end();) {
      slab->is_shared = true;
      slab = slab->in_use == 0 ? drop(slab) : std::next(slab);
    }
  }

  /// Unmaps a slab without live code; the other process has separate mappings.
  std::vector<Slab>::iterator drop(std::vector<Slab>::iterator slab) {
    munmap(slab->writable, slab->bytes);
    munmap(const_cast<std::byte*>(slab->executable), slab->bytes);
    return slabs_.erase(slab);
  }

  bool add_slab(std::size_t at_least) {
    const std::size_t bytes = rounded(std::max(at_least, kSlabBytes), kSlabBytes);
    const int file = memfd_create("rondo-code", MFD_CLOEXEC);
    if (file < 0) return false;
    void* writable = MAP_FAILED;
    void* executable = MAP_FAILED;
    if (ftruncate(file, static_cast<off_t>(bytes)) == 0) {
      writable = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      executable = mmap(nullptr, bytes, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
    }
    close(file);
    if (writable == MAP_FAILED || executable == MAP_FAILED) {
      if (writable != MAP_FAILED) munmap(writable, bytes);
      if (executable != MAP_FAILED) munmap(executable, bytes);
      return false;
    }
    slabs_.push_back(
        {static_cast<std::byte*>(writable), static_cast<std::byte*>(executable), bytes});
    free_.emplace(slabs_.back().executable, bytes);
    return true;
  }

  std::mutex mutex_;
  std::vector<Slab> slabs_;
  std::map<const std::byte*, std::size_t> free_;  // executable address to bytes
  std::size_t in_use_ = 0;
  bool forked_ = false;  // since the slabs were last checked
};

/// Never destroyed: executables in static storage may outlive any other static object.
CodeHeap& code_heap() {
  static CodeHeap* const heap = [] {
    static auto* const made = new CodeHeap;
    pthread_atfork([] { made->before_fork(); }, [] { made->after_fork(); },
                   [] { made->after_fork(); });
    return made;
  }();
  return *heap;
}

#endif

#if defined(RONDO_PLACES_CODE)

std::atomic<std::size_t> own_bytes_in_use{0};

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

const std::byte* in_own_pages(std::span<const std::byte> code) {
  const std::size_t bytes = rounded(std::max<std::size_t>(code.size(), 1), page_bytes());
#if defined(RONDO_CODE_BY_THREAD)
  // Apple, "Porting just-in-time compilers to Apple silicon". Never compiled and never run.
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_JIT, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  pthread_jit_write_protect_np(0);
  std::memcpy(pages, code.data(), code.size());
  pthread_jit_write_protect_np(1);
  sys_icache_invalidate(pages, bytes);
#else
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  std::memcpy(pages, code.data(), code.size());
  if (mprotect(pages, bytes, PROT_READ | PROT_EXEC) != 0) {
    munmap(pages, bytes);
    return nullptr;
  }
  // Nothing on x86-64; elsewhere the instruction caches drop what they have of these addresses.
  __builtin___clear_cache(static_cast<char*>(pages), static_cast<char*>(pages) + code.size());
#endif
  own_bytes_in_use += rounded(code.size(), kGranule);
  return static_cast<const std::byte*>(pages);
}

#endif

}  // namespace

#if defined(RONDO_PLACES_CODE)

std::unique_ptr<CodeBlock> place_code(std::span<const std::byte> code,
                                      [[maybe_unused]] bool own_pages) {
#if defined(RONDO_SHARES_CODE_SLABS)
  if (const std::byte* start = own_pages ? nullptr : code_heap().add(code))
    return std::unique_ptr<CodeBlock>(new CodeBlock(start, code.size(), false));
#endif
  if (const std::byte* start = in_own_pages(code))
    return std::unique_ptr<CodeBlock>(new CodeBlock(start, code.size(), true));
  say_once_that_there_is_none();
  return nullptr;
}

CodeBlock::~CodeBlock() {
  if (own_pages_) {
    munmap(const_cast<std::byte*>(data_), rounded(std::max<std::size_t>(size_, 1), page_bytes()));
    own_bytes_in_use -= rounded(size_, kGranule);
    return;
  }
#if defined(RONDO_SHARES_CODE_SLABS)
  code_heap().remove(data_, size_);
#endif
}

std::size_t code_bytes_in_use() {
#if defined(RONDO_SHARES_CODE_SLABS)
  return code_heap().in_use() + own_bytes_in_use;
#else
  return own_bytes_in_use;
#endif
}

#else

std::unique_ptr<CodeBlock> place_code(std::span<const std::byte>, bool) {
  say_once_that_there_is_none();
  return nullptr;
}

CodeBlock::~CodeBlock() = default;

std::size_t code_bytes_in_use() { return 0; }

#endif

}  // namespace rondo::native_code
