#include "base/guard_pages.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string_view>

#if __has_include(<sys/mman.h>) && __has_include(<unistd.h>)
#include <sys/mman.h>
#include <unistd.h>
#define RONDO_HAVE_MMAP 1
#endif

namespace rondo {

#if defined(RONDO_HAVE_MMAP)

bool guard_pages_wanted() {
  static const bool wanted = [] {
    const char* text = std::getenv("RONDO_GUARD_PAGES");
    return text && std::string_view(text) == "1";
  }();
  return wanted;
}

std::int64_t page_bytes() {
  static const std::int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

void GuardedMemory::reserve(std::int64_t bytes) {
  mapped_bytes_ = static_cast<std::size_t>(bytes);
  void* const memory =
      mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mapped_ = static_cast<std::byte*>(memory);
}

void GuardedMemory::open(std::int64_t offset, std::int64_t bytes) {
  const std::int64_t page = page_bytes();
  const std::int64_t first = offset / page * page, end = (offset + bytes + page - 1) / page * page;
  if (end == first) return;
  if (mprotect(mapped_ + first, static_cast<std::size_t>(end - first), PROT_READ | PROT_WRITE) == 0)
    return;
  munmap(mapped_, mapped_bytes_);
  throw std::bad_alloc();
}

GuardedMemory::~GuardedMemory() { munmap(mapped_, mapped_bytes_); }

#else

bool guard_pages_wanted() { return false; }
std::int64_t page_bytes() { return 4096; }

// Not reached: it is not called.
void GuardedMemory::reserve(std::int64_t) { throw std::bad_alloc(); }
void GuardedMemory::open(std::int64_t, std::int64_t) {}
GuardedMemory::~GuardedMemory() = default;

#endif

GuardedMemory::GuardedMemory(std::int64_t bytes) {
  const std::int64_t page = page_bytes(), pages = (bytes + page - 1) / page;
  reserve((pages + 1) * page);
  open(0, pages * page);
  data_ = mapped_ + (pages * page - bytes);
}

GuardedMemory::GuardedMemory(std::span<const Piece> pieces) {
  std::int64_t end = 0;
  for (const Piece& piece : pieces) end = std::max(end, piece.offset + piece.bytes);
  const std::int64_t page = page_bytes();
  reserve((end + page - 1) / page * page + page);
  for (const Piece& piece : pieces) open(piece.offset, piece.bytes);
  data_ = mapped_;
}

}  // namespace rondo
