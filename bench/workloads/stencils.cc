// Grids in time.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

namespace {

/// The heat equation on a plate whose edges keep their temperatures.
Workload heat() {
  constexpr std::int64_t kSize = 128, kSteps = 50;
  const auto program = [&](Tensor plate, Tensor rate) {
    const auto step = [&](Tensor, Tensor u) {
      const Range inside = range(1, -1), before = range({}, -2), after = range(2);
      const Tensor middle = slice(u, inside, inside);
      const Tensor flow = slice(u, before, inside) + slice(u, after, inside) +
                          slice(u, inside, before) + slice(u, inside, after) - 4 * middle;
      return update(u, {inside, inside}, middle + rate * flow);
    };
    return fori_loop(0, kSteps, step, plate);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto plate = arguments[0].data<float>();
    const float rate = arguments[1].item<float>();
    static std::vector<float> one(kSize * kSize), two(kSize * kSize);
    std::copy(plate.begin(), plate.end(), one.begin());
    std::copy(plate.begin(), plate.end(), two.begin());
    for (int step = 0; step < kSteps; step++) {
      for (int i = 1; i < kSize - 1; i++) {
        const float* u = one.data() + i * kSize;
        float* next = two.data() + i * kSize;
        for (int j = 1; j < kSize - 1; j++)
          next[j] = u[j] + rate * (u[j - kSize] + u[j + kSize] + u[j - 1] + u[j + 1] - 4 * u[j]);
      }
      std::swap(one, two);
    }
    return {Literal::from(one, {kSize, kSize})};
  };
  return {.name = "stencils/heat",
          .program = trace(program, f32({kSize, kSize}), f32()),
          .arguments = {uniform_floats({kSize, kSize}, 0, 100), Literal::scalar(0.2f)},
          .plain = plain};
}

/// The wave equation on a torus.
Workload waves() {
  constexpr std::int64_t kSize = 128, kSteps = 40;
  const auto program = [&](Tensor start) {
    const auto step = [](Tensor, Tensor u, Tensor before) {
      const Tensor force = roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1) - 4 * u;
      return std::tuple(2 * u - before + 0.25f * force, u);
    };
    return std::get<0>(fori_loop(0, kSteps, step, std::tuple(start, start)));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto start = arguments[0].data<float>();
    static std::vector<float> now(kSize * kSize), before(kSize * kSize);
    std::copy(start.begin(), start.end(), now.begin());
    std::copy(start.begin(), start.end(), before.begin());
    for (int step = 0; step < kSteps; step++) {
      for (int i = 0; i < kSize; i++) {
        const float* u = now.data() + i * kSize;
        const float* above = now.data() + (i + kSize - 1) % kSize * kSize;
        const float* below = now.data() + (i + 1) % kSize * kSize;
        float* next = before.data() + i * kSize;  // overwrites the state before this one
        const auto advance = [&](int j, int left, int right) {
          const float force = above[j] + below[j] + u[left] + u[right] - 4 * u[j];
          next[j] = 2 * u[j] - next[j] + 0.25f * force;
        };
        advance(0, kSize - 1, 1);
        for (int j = 1; j < kSize - 1; j++) advance(j, j - 1, j + 1);
        advance(kSize - 1, kSize - 2, 0);
      }
      std::swap(now, before);
    }
    return {Literal::from(now, {kSize, kSize})};
  };
  return {.name = "stencils/waves",
          .program = trace(program, f32({kSize, kSize})),
          .arguments = {uniform_floats({kSize, kSize}, -1, 1)},
          .plain = plain};
}

/// The Game of Life on a torus of bytes.
Workload life() {
  constexpr std::int64_t kSize = 256, kGenerations = 20;
  const auto program = [&](Tensor start) {
    const auto step = [](Tensor, Tensor board) {
      const Tensor rows = roll(board, 1, 0) + board + roll(board, -1, 0);
      const Tensor nine = roll(rows, 1, 1) + rows + roll(rows, -1, 1);
      return convert((nine == 3) | ((nine == 4) & (board == 1)), DType::kU8);
    };
    return fori_loop(0, kGenerations, step, start);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto start = arguments[0].data<std::uint8_t>();
    static std::vector<std::uint8_t> board(kSize * kSize), next(kSize * kSize);
    std::uint8_t rows[kSize + 2];  // with a copy of each end beside the other
    std::copy(start.begin(), start.end(), board.begin());
    for (int generation = 0; generation < kGenerations; generation++) {
      for (int i = 0; i < kSize; i++) {
        const std::uint8_t* cells = board.data() + i * kSize;
        const std::uint8_t* above = board.data() + (i + kSize - 1) % kSize * kSize;
        const std::uint8_t* below = board.data() + (i + 1) % kSize * kSize;
        std::uint8_t* out = next.data() + i * kSize;
        for (int j = 0; j < kSize; j++)
          rows[j + 1] = static_cast<std::uint8_t>(above[j] + cells[j] + below[j]);
        rows[0] = rows[kSize];
        rows[kSize + 1] = rows[1];
        for (int j = 0; j < kSize; j++) {
          const int nine = rows[j] + rows[j + 1] + rows[j + 2];
          out[j] = (nine == 3) | ((nine == 4) & cells[j]);
        }
      }
      std::swap(board, next);
    }
    return {Literal::from(board, {kSize, kSize})};
  };
  Literal board = Literal::zeros(u8({kSize, kSize}));
  const Literal numbers = uniform_integers({kSize, kSize}, 0, 3);
  const auto cells = board.mutable_data<std::uint8_t>();
  for (std::size_t i = 0; i < cells.size(); i++) cells[i] = numbers.data<std::int32_t>()[i] == 0;
  return {.name = "stencils/life",
          .program = trace(program, u8({kSize, kSize})),
          .arguments = {board},
          .plain = plain};
}

}  // namespace

std::vector<Workload> relaxation_workloads();
std::vector<Workload> fluid_workloads();

std::vector<Workload> stencil_workloads() {
  std::vector<Workload> all = {heat(), waves(), life()};
  for (Workload& work : relaxation_workloads()) all.push_back(std::move(work));
  for (Workload& work : fluid_workloads()) all.push_back(std::move(work));
  return all;
}

}  // namespace rondo::bench
