// Paths, searches and tables of integers: dynamic programming and loops with a stack.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> discrete_workloads();  // a part of array_workloads

namespace {

/// The shortest paths between all nodes of a graph, by Floyd and Warshall.
Workload shortest_paths() {
  constexpr std::int64_t kNodes = 96;
  const auto program = [&](Tensor lengths) {
    const auto allow = [](Tensor k, Tensor paths) {
      return minimum(paths, expand_dims(column(paths, k), 1) + expand_dims(paths[k], 0));
    };
    return fori_loop(0, kNodes, allow, lengths);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    Literal result = arguments[0];
    float* paths = result.mutable_data<float>().data();
    for (std::ptrdiff_t k = 0; k < kNodes; k++) {
      for (std::ptrdiff_t i = 0; i < kNodes; i++) {
        const float first = paths[i * kNodes + k];
        for (std::ptrdiff_t j = 0; j < kNodes; j++)
          paths[i * kNodes + j] = std::min(paths[i * kNodes + j], first + paths[k * kNodes + j]);
      }
    }
    return {result};
  };
  return {.name = "discrete/shortest_paths",
          .program = trace(program, f32({kNodes, kNodes})),
          .arguments = {uniform_floats({kNodes, kNodes}, 0, 1)},
          .plain = plain};
}

/// How many letters to insert, remove or replace until two words are equal, row by row.
Workload edit_distance() {
  constexpr std::int64_t kLetters = 128;
  const auto program = [&](Tensor from, Tensor to) {
    const auto with_letter = [&](Tensor i, Tensor row) {
      const Tensor first = row[0] + 1;
      const auto column_of = [&](Tensor j, Tensor left, Tensor before, Tensor row) {
        const Tensor above = row[j + 1];
        const Tensor replaced = before + where(to[j] == from[i], 0, 1);
        const Tensor least = minimum(minimum(above, left) + 1, replaced);
        return std::tuple(least, above, update(row, j + 1, least));
      };
      const auto init = std::tuple(first, row[0], update(row, 0, first));
      return std::get<2>(fori_loop(0, kLetters, column_of, init));
    };
    return fori_loop(0, kLetters, with_letter, arange(kLetters + 1));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const int* from = arguments[0].data<std::int32_t>().data();
    const int* to = arguments[1].data<std::int32_t>().data();
    Literal result = Literal::zeros(s32({kLetters + 1}));
    int* row = result.mutable_data<std::int32_t>().data();
    for (int j = 0; j <= kLetters; j++) row[j] = j;
    for (int i = 0; i < kLetters; i++) {
      int before = row[0]++;
      for (int j = 0; j < kLetters; j++) {
        const int above = row[j + 1], replaced = before + (to[j] == from[i] ? 0 : 1);
        row[j + 1] = std::min(std::min(above, row[j]) + 1, replaced);
        before = above;
      }
    }
    return {result};
  };
  return {.name = "discrete/edit_distance",
          .program = trace(program, s32({kLetters}), s32({kLetters})),
          .arguments = {uniform_integers({kLetters}, 0, 4), uniform_integers({kLetters}, 0, 4, 2)},
          .plain = plain};
}

/// The largest value of things that fit in a sack, for each of its sizes.
Workload knapsack() {
  constexpr std::int64_t kThings = 64, kLargest = 1000;
  const auto program = [&](Tensor sizes, Tensor values) {
    const Tensor size = arange(kLargest + 1);
    const auto with_thing = [&](Tensor i, Tensor best) {
      const Tensor rest = take(best, maximum(size - sizes[i], 0));
      return where(size >= sizes[i], maximum(best, rest + values[i]), best);
    };
    return fori_loop(0, kThings, with_thing, zeros(f32({kLargest + 1})));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const int* sizes = arguments[0].data<std::int32_t>().data();
    const float* values = arguments[1].data<float>().data();
    Literal result = Literal::zeros(f32({kLargest + 1}));
    float* best = result.mutable_data<float>().data();
    for (int i = 0; i < kThings; i++)
      for (int size = kLargest; size >= sizes[i]; size--)
        best[size] = std::max(best[size], best[size - sizes[i]] + values[i]);
    return {result};
  };
  return {.name = "discrete/knapsack",
          .program = trace(program, s32({kThings}), f32({kThings})),
          .arguments = {uniform_integers({kThings}, 1, 60), uniform_floats({kThings}, 0, 1)},
          .plain = plain};
}

/// In how many ways queens on a board do not attack one another: a row is tried after the other,
/// and the place of each queen is in an array.
Workload queens() {
  constexpr int kSide = 7;
  const auto program = [&](Tensor start) {
    const Tensor index = arange(kSide);
    const auto goes_on = [](Tensor row, Tensor, Tensor) { return row >= 0; };
    const auto next = [&](Tensor row, Tensor places, Tensor count) {
      const Tensor place = places[row];
      const Tensor attacks = (places == place) | (abs(places - place) == row - index);
      const Tensor is_over = place >= kSide;
      const Tensor fits = (place < kSide) & !any((index < row) & attacks);
      const Tensor goes_down = fits & (row < kSide - 1), is_found = fits & (row == kSide - 1);
      const Tensor tried = where(goes_down, update(places, minimum(row + 1, kSide - 1), 0),
                                 update(places, row, place + 1));
      const Tensor above = maximum(row - 1, 0);
      const Tensor back = update(places, above, places[above] + 1);
      const Tensor next_row = where(is_over, row - 1, where(goes_down, row + 1, row));
      return std::tuple(next_row, where(is_over, where(row > 0, back, places), tried),
                        count + convert(is_found, DType::kS32));
    };
    const auto init = std::tuple(start, zeros(s32({kSide})), Tensor(0));
    return std::get<2>(while_loop(goes_on, next, init));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    int row = arguments[0].item<std::int32_t>(), count = 0;
    std::array<int, kSide> places{};
    while (row >= 0) {
      int& place = places[static_cast<std::size_t>(row)];
      if (place >= kSide) {
        if (--row >= 0) places[static_cast<std::size_t>(row)]++;
        continue;
      }
      bool is_attacked = false;
      for (int i = 0; i < row; i++) {
        const int other = places[static_cast<std::size_t>(i)];
        is_attacked = is_attacked || other == place || std::abs(other - place) == row - i;
      }
      if (is_attacked) {
        place++;
      } else if (row < kSide - 1) {
        places[static_cast<std::size_t>(++row)] = 0;
      } else {
        count++;
        place++;
      }
    }
    return {Literal::scalar(static_cast<std::int32_t>(count))};
  };
  return {.name = "discrete/queens",
          .program = trace(program, s32()),
          .arguments = {Literal::scalar(std::int32_t{0})},
          .plain = plain};
}

}  // namespace

std::vector<Workload> discrete_workloads() {
  return {shortest_paths(), edit_distance(), knapsack(), queens()};
}

}  // namespace rondo::bench
