// Memory that ends at an inaccessible page: an access beyond it ends the process at that very
// instruction. For debugging what sanitizers do not see: machine code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rondo {

/// Whether RONDO_GUARD_PAGES=1 was set at the first call, and the system supports it.
bool guard_pages_wanted();
std::int64_t page_bytes();

class GuardedMemory {
 public:
  struct Piece {
    std::int64_t offset, bytes;
  };
  /// `bytes` bytes, directly before an inaccessible page. Throws std::bad_alloc.
  explicit GuardedMemory(std::int64_t bytes);
  /// Several pieces at these offsets of one memory; the pages of none of them are inaccessible.
  explicit GuardedMemory(std::span<const Piece> pieces);
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();

  std::byte* data() const noexcept { return data_; }

 private:
  void reserve(std::int64_t bytes);
  void open(std::int64_t offset, std::int64_t bytes);

  std::byte* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace rondo
