#include "executor/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "rondo/error.h"
#include "support/program_generator.h"

namespace rondo::executor {
namespace {

TEST(Arena, GivesNoPlaceTwiceAndAllOfItBack) {
  rondo::testing::Dice dice(3);
  struct Block {
    std::int64_t offset, bytes;
  };
  Arena arena(/*guarded=*/false);
  std::vector<Block> blocks;
  std::int64_t most = 0, used = 0;
  for (int i = 0; i < 3000; i++) {
    if (blocks.size() < 60 && dice.chance(55)) {
      const std::int64_t bytes = dice.number(0, 900);
      const std::int64_t offset = arena.allocate(bytes);
      EXPECT_EQ(offset % Arena::kAlignment, 0);
      for (const Block& other : blocks)
        ASSERT_TRUE(offset + bytes <= other.offset || other.offset + other.bytes <= offset);
      blocks.push_back({offset, bytes});
      used += bytes;
      most = std::max(most, used);
    } else if (!blocks.empty()) {
      const auto chosen =
          static_cast<std::size_t>(dice.number(0, static_cast<std::int64_t>(blocks.size()) - 1));
      arena.release(blocks[chosen].offset, blocks[chosen].bytes);
      used -= blocks[chosen].bytes;
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
  }
  EXPECT_LT(arena.size(), 3 * most);
  for (const Block& block : blocks) arena.release(block.offset, block.bytes);
  // The free memory is one piece again.
  const std::int64_t size = arena.size();
  EXPECT_EQ(arena.allocate(size), 0);
  EXPECT_EQ(arena.size(), size);
}

TEST(Arena, GuardedPlacesEndBeforePagesOfNobody) {
  rondo::testing::Dice dice(4);
  Arena arena(/*guarded=*/true);
  const std::int64_t page = page_bytes();
  std::vector<GuardedMemory::Piece> pieces;
  for (int i = 0; i < 200; i++) {
    const std::int64_t bytes = dice.number(0, 3 * page);
    const std::int64_t offset = arena.allocate(bytes);
    EXPECT_EQ((offset + bytes) % page, 0);
    for (const auto& other : pieces) {  // a page is between any two
      ASSERT_TRUE(offset + bytes + page <= other.offset + other.bytes ||
                  other.offset + other.bytes + page <= offset + bytes);
      ASSERT_TRUE(offset + bytes < other.offset || other.offset + other.bytes < offset);
    }
    if (dice.chance(30))
      arena.release(offset, bytes);
    else
      pieces.push_back({offset, bytes});
  }
  const std::int64_t size = arena.size();
  for (const auto& piece : pieces) arena.release(piece.offset, piece.bytes);
  for (const auto& piece : pieces) arena.allocate(piece.bytes);
  EXPECT_EQ(arena.size(), size);
}

TEST(Arena, RefusesWhatCannotBeCounted) {
  for (const bool guarded : {false, true}) {
    Arena arena(guarded);
    EXPECT_THROW((void)arena.allocate(INT64_MAX), ExecutionError);
    (void)arena.allocate(std::int64_t{1} << 61);
    EXPECT_THROW((void)arena.allocate((std::int64_t{1} << 61) + 1), ExecutionError);
    EXPECT_GE(arena.size(), std::int64_t{1} << 61);
  }
}

}  // namespace
}  // namespace rondo::executor
