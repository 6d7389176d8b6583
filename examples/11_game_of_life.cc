// Lesson 11: Conway's Game of Life. The R-pentomino settles after 1103 generations with 116 cells.
#include <cstdio>

#include "rondo/rondo.h"

using rondo::Tensor;

/// One generation on a board whose edges are dead. s32, 1 for a live cell.
Tensor generation(Tensor board) {
  const std::int64_t n = board.dim(0), m = board.dim(1);
  const Tensor padded = pad(board, 0, {1, 1}, {1, 1});
  Tensor neighbours = -board;
  for (std::int64_t i = 0; i < 3; i++) {  // an ordinary C++ loop: nine shifted boards in the trace
    for (std::int64_t j = 0; j < 3; j++) neighbours += slice(padded, {i, j}, {i + n, j + m});
  }
  return convert((neighbours == 3) | ((neighbours == 2) & (board == 1)), rondo::DType::kS32);
}

int main() {
  const int size = 600;  // the gliders that fly off need room
  const Tensor pentomino = rondo::constant({{0, 1, 1}, {1, 1, 0}, {0, 1, 0}});
  auto cells_after = rondo::jit([&](Tensor generations) {
    const Tensor start = dynamic_update_slice(rondo::zeros(rondo::s32({size, size})), pentomino,
                                              {size / 2, size / 2});
    return sum(rondo::fori_loop(
        0, generations, [](Tensor, Tensor board) { return generation(board); }, start));
  });
  for (int generations : {0, 1, 10, 100, 1103}) {
    std::printf("generation %4d: %d cells\n", generations, cells_after(generations).item<int>());
  }
}
