// The memory of tapes in a run.
#include "lower/run_tapes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <utility>
#include <vector>

namespace rondo::lower {
namespace {

constexpr std::uint64_t kOutside = std::uint64_t{kNoLoop} << 32;

struct OneTape {
  explicit OneTape(std::int64_t row_bytes, bool guarded = false, std::int64_t limit = INT64_MAX,
                   RunTapes::LastRows last_rows = {}) {
    program.tapes.push_back({row_bytes, "w"});
    use.limit = limit;
    frame.tape_use = &use;
    tapes = std::make_unique<RunTapes>(program, frame, last_rows, guarded);
  }
  std::byte* row(std::int64_t number, bool writes = true) {
    if (number >= 0 && number < frame.rows[0].count)
      return frame.rows[0].first + number * program.tapes[0].row_bytes;
    return RunTapes::missing_row(&frame, kOutside, number, writes);
  }
  Program program;
  TapeUse use;
  RunFrame frame;
  std::unique_ptr<RunTapes> tapes;
};

TEST(RunTapes, KeepRowsAndGiveZerosForOthers) {
  // The larger one has blocks that the process keeps, with their old content.
  for (const auto& [guarded, row_bytes] : {std::pair(false, 24), std::pair(true, 24),
                                           std::pair(false, 1000), std::pair(false, 1000)}) {
    OneTape tape(row_bytes, guarded);
    for (const int round : {1, 2, 3}) {
      // Few rows after many, and vice versa: rows of an earlier round are not visible.
      const std::int64_t rows = round == 2 ? 5 : 700;
      const TapeSet begin{0};
      ASSERT_TRUE(RunTapes::set(&tape.frame, &begin));
      for (std::int64_t i = 0; i < rows; i += 2)
        *reinterpret_cast<std::int64_t*>(tape.row(i) + 8) = i * round + 1;
      for (std::int64_t i = 0; i < rows + 50; i++) {
        const auto* row = reinterpret_cast<const std::int64_t*>(tape.row(i, false));
        const bool written = i < rows && i % 2 == 0;
        ASSERT_EQ(row[0], 0) << i;
        ASSERT_EQ(row[1], written ? i * round + 1 : 0) << i;
      }
    }
  }
}

TEST(RunTapes, GrowByDoublingAndGiveTheirMemoryBack) {
  OneTape tape(8);
  int moves = 0;
  const std::byte* before = nullptr;
  for (std::int64_t i = 0; i < 100'000; i++) {
    static_cast<void>(tape.row(i));
    moves += tape.frame.rows[0].first != before;
    before = tape.frame.rows[0].first;
  }
  EXPECT_LE(moves, 10);  // 512 rows first, and 8 times twice as many
  EXPECT_GE(tape.use.now, 800'000);
  EXPECT_LE(tape.use.now, 2 * 800'000);
  const TapeSet end{0, kNoTape, true};
  ASSERT_TRUE(RunTapes::set(&tape.frame, &end));
  EXPECT_EQ(tape.use.now, 0);
  static_cast<void>(tape.row(3));
  tape.tapes.reset();
  EXPECT_EQ(tape.use.now, 0);
}

TEST(RunTapes, BeginWithRoomForTheRowsOfTheLastRun) {
  std::atomic<std::int64_t> last_rows[1] = {};
  const auto moves_of = [&](std::int64_t rows) {
    OneTape tape(1000, false, INT64_MAX, last_rows);
    int moves = 0;
    const std::byte* before = nullptr;
    for (std::int64_t i = 0; i < rows; i++) {
      std::byte* const row = tape.row(i);
      for (int k = 0; k < 1000; k++) EXPECT_EQ(row[k], std::byte{0});
      row[i % 1000] = std::byte{1};
      moves += tape.frame.rows[0].first != before;
      before = tape.frame.rows[0].first;
    }
    // The used rows are counted, whatever the capacity.
    EXPECT_GE(tape.use.now, 1000 * rows);
    EXPECT_LE(tape.use.now, 1000 * rows + (32 << 10));
    return moves;
  };
  EXPECT_GT(moves_of(1000), 5);
  EXPECT_EQ(moves_of(1000), 1);
  EXPECT_EQ(moves_of(40), 1);
  EXPECT_GT(moves_of(1000), 1);
  EXPECT_GE(last_rows[0], 1000);
  EXPECT_LE(last_rows[0], 1032);
  // The limit is checked first.
  OneTape tape(1000, false, 20'000, last_rows);
  EXPECT_NE(tape.row(3), nullptr);
  EXPECT_LE(tape.use.peak, 20'000);
}

TEST(RunTapes, EndAtTheirLimitAndAtRowsThatNoMemoryHolds) {
  OneTape tape(1000, false, 20'000);
  std::int64_t rows = 0;
  while (tape.row(rows)) rows++;
  EXPECT_GE(rows, 9);  // while it moves both copies count
  EXPECT_LE(rows, 20);
  EXPECT_LE(tape.use.peak, 20'000);
  EXPECT_EQ(tape.frame.failed_rows, rows + 1);
  EXPECT_EQ(tape.row(-1), nullptr);
  OneTape huge(std::int64_t{1} << 40);
  EXPECT_EQ(huge.row(INT64_MAX / 2), nullptr);
  EXPECT_EQ(huge.row(INT64_MAX), nullptr);
}

TEST(RunTapesDeathTest, EndBeforeAnInaccessiblePageWhereThatIsWanted) {
  OneTape tape(24, true);
  std::byte* last = tape.row(5);
  last[23] = std::byte{1};
  EXPECT_DEATH(last[24] = std::byte{2}, "");
  const std::byte* zeros = tape.row(9, false);
  EXPECT_DEATH(std::printf("%d", static_cast<int>(zeros[24])), "");
}

}  // namespace
}  // namespace rondo::lower
