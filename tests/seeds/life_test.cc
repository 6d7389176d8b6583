// Conway's Game of Life: in numbers on a small board, and in the bits of u64 on a large one.
#include <algorithm>
#include <array>

#include "seeds/ways.h"

namespace rondo {
namespace {

using testing::each_way;
using testing::Eager;
using testing::expect_values;

using Values = std::vector<Literal>;

/// Cells beyond the edges are dead.
Tensor generation(Tensor board) {
  const std::int64_t n = board.dim(0), m = board.dim(1);
  const Tensor padded = pad(board, 0, {1, 1}, {1, 1});
  Tensor neighbours = -board;
  for (std::int64_t i = 0; i < 3; i++) {
    for (std::int64_t j = 0; j < 3; j++)
      neighbours = neighbours + slice(padded, {i, j}, {i + n, j + m});
  }
  return where((neighbours == 3) | ((neighbours == 2) & (board == 1)), ones(board.type()),
               zeros(board.type()));
}

Tensor live(Tensor board, Tensor generations) {
  return fori_loop(
      0, generations, [](Tensor, Tensor b) { return generation(b); }, board);
}

constexpr int kSide = 40;
using Board = std::array<std::array<int, kSide>, kSide>;

Board plain_generation(const Board& board) {
  Board next{};
  for (int i = 0; i < kSide; i++) {
    for (int j = 0; j < kSide; j++) {
      int count = 0;
      for (int k = i - 1; k <= i + 1; k++) {
        for (int l = j - 1; l <= j + 1; l++) {
          if (k >= 0 && k < kSide && l >= 0 && l < kSide && (k != i || l != j))
            count += board[static_cast<std::size_t>(k)][static_cast<std::size_t>(l)];
        }
      }
      const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(j);
      next[row][column] = count == 3 || (count == 2 && board[row][column] == 1);
    }
  }
  return next;
}

Board pentomino() {
  Board board{};
  board[20][21] = board[20][22] = board[21][20] = board[21][21] = board[22][21] = 1;
  return board;
}

std::vector<int> cells(const Board& board) {
  std::vector<int> all;
  for (const auto& row : board) all.insert(all.end(), row.begin(), row.end());
  return all;
}

TEST(SeedLife, SmallBoardIsThePlainOne) {
  Board board = pentomino();
  const Literal start = Literal::from(cells(board), {kSide, kSide});
  int done = 0;
  for (const int generations : {0, 1, 4, 60, 150}) {
    SCOPED_TRACE(generations);
    for (; done < generations; done++) board = plain_generation(board);
    each_way(
        generations <= 4 ? Eager::kYes : Eager::kNo,
        [&](const Values& v) {
          expect_values<int>(v.at(0), {kSide, kSide}, cells(board));
        },
        live, start, generations);
  }
}

// A row of 640 cells is ten u64, and 64 cells are computed at once.

/// x moved by one row or word along the axis, with dead cells coming in.
Tensor moved(Tensor x, std::int64_t axis, std::int64_t by) {
  std::vector<std::int64_t> low(2, 0), high(2, 0);
  low[static_cast<std::size_t>(axis)] = by;
  high[static_cast<std::size_t>(axis)] = -by;
  return pad(x, 0, low, high);
}

Tensor generation_of_bits(Tensor board) {
  auto majority = [](Tensor a, Tensor b, Tensor c) { return (a & b) | (c & (a ^ b)); };
  const Tensor west = (board << 1) | (moved(board, 1, 1) >> 63);
  const Tensor east = (board >> 1) | (moved(board, 1, -1) << 63);
  // How many of the three adjacent cells in a row live, in two bits; then of all nine, in four.
  const Tensor ones = west ^ board ^ east, twos = majority(west, board, east);
  const Tensor above = moved(ones, 0, 1), below = moved(ones, 0, -1);
  const Tensor twos_above = moved(twos, 0, 1), twos_below = moved(twos, 0, -1);
  const Tensor bit0 = above ^ ones ^ below, carry = majority(above, ones, below);
  const Tensor pairs = twos_above ^ twos ^ twos_below,
               fours = majority(twos_above, twos, twos_below);
  const Tensor bit1 = carry ^ pairs, carry2 = carry & pairs;
  const Tensor bit2 = fours ^ carry2, bit3 = fours & carry2;
  const Tensor three = bit0 & bit1 & ~bit2 & ~bit3, four = ~bit0 & ~bit1 & bit2 & ~bit3;
  return three | (board & four);
}

Tensor population(Tensor generations) {
  const std::int64_t side = 640;
  // Rows 1 1 0, 0 1 1, 0 1 0 of the pentomino, in the bits of one word.
  const std::vector<std::uint64_t> rows = {3, 6, 2};
  const Tensor start =
      dynamic_update_slice(zeros(u64({side, side / 64})), constant(rows, {3, 1}), {320, 5});
  const Tensor end = fori_loop(
      0, generations, [](Tensor, Tensor b) { return generation_of_bits(b); }, start);
  return convert(sum(popcount(end)), DType::kS32);
}

TEST(SeedLife, PentominoHas116CellsAtGeneration1103) {
  each_way(
      Eager::kNo, [](const Values& v) { expect_values<int>(v.at(0), {}, {116}); }, population,
      1103);
}

TEST(SeedLife, BitsLiveAsThePlainBoard) {
  auto run = jit(population);
  Board board = pentomino();
  for (int g = 0; g <= 40; g++) {
    SCOPED_TRACE(g);
    const std::vector<int> all = cells(board);
    expect_values<int>(run(g), {}, {static_cast<int>(std::count(all.begin(), all.end(), 1))});
    board = plain_generation(board);
  }
  each_way(
      Eager::kYes, [](const Values& v) { expect_values<int>(v.at(0), {}, {9}); }, population, 3);
}

TEST(SeedLife, PentominoIsSettledAtGeneration1103AndNotBefore) {
  auto run = jit(population);
  EXPECT_NE(run(1102).item<int>(), 116);
  expect_values<int>(run(1104), {}, {116});
}

}  // namespace
}  // namespace rondo
