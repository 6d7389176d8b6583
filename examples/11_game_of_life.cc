// Lesson 11: Conway's Game of Life. The R-pentomino settles after 1103 generations with 116 cells.
#include <cstdio>

#include "rondo/rondo.h"

using rondo::DType;
using rondo::Tensor;

/// One generation on a board whose edges are dead. u8, 1 for a live cell.
Tensor generation(Tensor board) {
  const std::int64_t n = board.dim(0), m = board.dim(1);
  const Tensor padded = pad(board, 0, {1, 1}, {1, 1});
  // Over three rows, then over three columns: the live cells among nine, including the middle one.
  auto rows = [&](std::int64_t i) { return slice(padded, {i, 0}, {i + n, m + 2}); };
  const Tensor three = rows(0) + rows(1) + rows(2);
  auto columns = [&](std::int64_t j) { return slice(three, {0, j}, {n, j + m}); };
  const Tensor nine = columns(0) + columns(1) + columns(2);
  return convert((nine == 3) | ((nine == 4) & (board == 1)), DType::kU8);
}

int main() {
  const int size = 600;  // space for the gliders that fly off
  const Tensor pentomino = convert(rondo::constant({{0, 1, 1}, {1, 1, 0}, {0, 1, 0}}), DType::kU8);
  auto cells_after = rondo::jit([&](Tensor generations) {
    const Tensor start = dynamic_update_slice(rondo::zeros(rondo::u8({size, size})), pentomino,
                                              {size / 2, size / 2});
    const Tensor board = rondo::fori_loop(
        0, generations, [](Tensor, Tensor board) { return generation(board); }, start);
    return sum(convert(board, DType::kS32));  // a sum keeps its dtype, and u8 ends at 255
  });
  for (int generations : {0, 1, 10, 100, 1103}) {
    std::printf("generation %4d: %d cells\n", generations, cells_after(generations).item<int>());
  }
}
