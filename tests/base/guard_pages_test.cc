#include "base/guard_pages.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace rondo {
namespace {

#if __has_include(<sys/mman.h>)

TEST(GuardPagesDeathTest, MemoryEndsAtAnInaccessiblePage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const std::int64_t bytes :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{100}, page_bytes(), page_bytes() + 1}) {
    const GuardedMemory memory(bytes);
    std::memset(memory.data(), 1, static_cast<std::size_t>(bytes));
    volatile std::byte* const end = memory.data() + bytes;
    EXPECT_DEATH(*end = std::byte{2}, "");
  }
}

TEST(GuardPagesDeathTest, PiecesOfOneMemoryAreApart) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::int64_t page = page_bytes();
  const std::vector<GuardedMemory::Piece> pieces{{page - 8, 8}, {3 * page - 4, 4}};
  const GuardedMemory memory(pieces);
  for (const auto& piece : pieces) {
    std::memset(memory.data() + piece.offset, 1, static_cast<std::size_t>(piece.bytes));
    volatile std::byte* const end = memory.data() + piece.offset + piece.bytes;
    EXPECT_DEATH(*end = std::byte{2}, "");
  }
}

#endif

}  // namespace
}  // namespace rondo
