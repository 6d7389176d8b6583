// Many runs at once that each look up their own places of an array.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> lookup_workloads();  // a part of batch_workloads

namespace {

/// Drops of water that run down a map of heights, each until it is in a hollow.
Workload drops() {
  constexpr std::int64_t kDrops = 500, kSize = 128;
  const auto program = [&](Tensor map, Tensor rows, Tensor columns) {
    const auto run_down = [&](Tensor row, Tensor col) {
      struct Drop {
        Tensor row, col, height, falls, steps;
      };
      const auto step = [&](Drop d) {
        Tensor row = d.row, col = d.col, lowest = d.height;
        const auto look = [&](int down, int across) {
          const Tensor i = clamp(0, d.row + down, kSize - 1),
                       j = clamp(0, d.col + across, kSize - 1);
          const Tensor height = at(map, {i, j}), lower = height < lowest;
          row = where(lower, i, row);
          col = where(lower, j, col);
          lowest = where(lower, height, lowest);
        };
        look(-1, 0);
        look(1, 0);
        look(0, -1);
        look(0, 1);
        return Drop{row, col, lowest, lowest < d.height, d.steps + 1};
      };
      const Drop end = while_loop([](Drop d) { return d.falls; }, step,
                                  Drop{row, col, at(map, {row, col}), true, 0});
      return std::tuple(end.row, end.col, end.steps);
    };
    return vmap(run_down)(rows, columns);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float* map = arguments[0].data<float>().data();
    Literal rows = arguments[1], columns = arguments[2],
            counts = Literal::uninitialized(s32({kDrops}));
    const auto row = rows.mutable_data<std::int32_t>(), col = columns.mutable_data<std::int32_t>(),
               steps = counts.mutable_data<std::int32_t>();
    constexpr int kMoves[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    for (std::size_t drop = 0; drop < kDrops; drop++) {
      int i = row[drop], j = col[drop], count = 0;
      bool falls = true;
      while (falls) {
        falls = false;
        const int from_i = i, from_j = j;
        float lowest = map[i * kSize + j];
        for (const auto& move : kMoves) {
          const int down = std::clamp(from_i + move[0], 0, static_cast<int>(kSize) - 1),
                    across = std::clamp(from_j + move[1], 0, static_cast<int>(kSize) - 1);
          const float height = map[down * kSize + across];
          if (height < lowest) {
            lowest = height;
            i = down, j = across;
            falls = true;
          }
        }
        count++;
      }
      row[drop] = i, col[drop] = j, steps[drop] = count;
    }
    return {rows, columns, counts};
  };
  // Hills with a little noise.
  Literal map = uniform_floats({kSize, kSize}, 0, 0.01);
  const auto heights = map.mutable_data<float>();
  for (std::size_t i = 0; i < kSize; i++)
    for (std::size_t j = 0; j < kSize; j++)
      heights[i * kSize + j] += std::sin(0.11f * float(i)) * std::cos(0.13f * float(j));
  return {.name = "batches/drops",
          .program = trace(program, map.type(), s32({kDrops}), s32({kDrops})),
          .arguments = {map, uniform_integers({kDrops}, 0, kSize, 2),
                        uniform_integers({kDrops}, 0, kSize, 3)},
          .plain = plain};
}

/// An image, turned around its middle: each pixel is between four of the original.
Workload turned_image() {
  constexpr std::int64_t kSize = 160;
  constexpr float kMiddle = 0.5f * (kSize - 1);
  const auto program = [&](Tensor image, Tensor angle) {
    const Tensor c = cos(angle), s = sin(angle);
    const auto pixel = [&](Tensor i, Tensor j) {
      const Tensor y = i - kMiddle, x = j - kMiddle;
      const Tensor down = clamp(0, c * y + s * x + kMiddle, kSize - 1.001f),
                   across = clamp(0, c * x - s * y + kMiddle, kSize - 1.001f);
      const Tensor top = floor(down), left = floor(across);
      const Tensor v = down - top, u = across - left;
      const Tensor row = convert(top, DType::kS32), col = convert(left, DType::kS32);
      return (1 - v) * ((1 - u) * at(image, {row, col}) + u * at(image, {row, col + 1})) +
             v * ((1 - u) * at(image, {row + 1, col}) + u * at(image, {row + 1, col + 1}));
    };
    const Tensor places = arange(kSize, DType::kF32);
    return vmap([&](Tensor i) { return vmap([&](Tensor j) { return pixel(i, j); })(places); })(
        places);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float* image = arguments[0].data<float>().data();
    const float angle = arguments[1].item<float>(), c = std::cos(angle), s = std::sin(angle);
    Literal result = Literal::uninitialized(f32({kSize, kSize}));
    float* out = result.mutable_data<float>().data();
    for (std::ptrdiff_t i = 0; i < kSize; i++) {
      for (std::ptrdiff_t j = 0; j < kSize; j++) {
        const float y = static_cast<float>(i) - kMiddle, x = static_cast<float>(j) - kMiddle;
        const float down = std::clamp(c * y + s * x + kMiddle, 0.0f, kSize - 1.001f),
                    across = std::clamp(c * x - s * y + kMiddle, 0.0f, kSize - 1.001f);
        const int row = static_cast<int>(down), col = static_cast<int>(across);
        const float v = down - static_cast<float>(row), u = across - static_cast<float>(col);
        const float* p = image + row * kSize + col;
        out[i * kSize + j] =
            (1 - v) * ((1 - u) * p[0] + u * p[1]) + v * ((1 - u) * p[kSize] + u * p[kSize + 1]);
      }
    }
    return {result};
  };
  return {.name = "batches/turned_image",
          .program = trace(program, f32({kSize, kSize}), f32()),
          .arguments = {uniform_floats({kSize, kSize}, 0, 1), Literal::scalar(0.3f)},
          .plain = plain};
}

/// Rays through a scene of spheres: each moves by the distance of the nearest one until it hits.
Workload rays() {
  constexpr std::int64_t kRays = 1024, kSpheres = 12;
  const auto program = [&](Tensor spheres, Tensor directions) {
    const auto march = [&](Tensor direction) {
      const auto distance = [&](Tensor t) {
        const Tensor off = expand_dims(t * direction, 0) - slice(spheres, range(), range({}, 3));
        return min(sqrt(sum(off * off, 1)) - slice(spheres, range(), 3));
      };
      const auto goes_on = [](Tensor t, Tensor gap, Tensor steps) {
        return (gap > 1e-3f) & (t < 20) & (steps < 100);
      };
      const auto step = [&](Tensor t, Tensor gap, Tensor steps) {
        const Tensor next = t + gap;
        return std::tuple(next, distance(next), steps + 1);
      };
      const Tensor start = 0.0f;
      const auto [t, gap, steps] = while_loop(goes_on, step, std::tuple(start, distance(start), 0));
      return t;
    };
    return vmap(march)(directions);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float* spheres = arguments[0].data<float>().data();
    const float* directions = arguments[1].data<float>().data();
    Literal result = Literal::uninitialized(f32({kRays}));
    float* depth = result.mutable_data<float>().data();
    for (std::ptrdiff_t ray = 0; ray < kRays; ray++) {
      const float* d = directions + 3 * ray;
      const auto distance = [&](float t) {
        float least = HUGE_VALF;
        for (std::ptrdiff_t k = 0; k < kSpheres; k++) {
          const float* sphere = spheres + 4 * k;
          const float x = t * d[0] - sphere[0], y = t * d[1] - sphere[1], z = t * d[2] - sphere[2];
          least = std::min(least, std::sqrt(x * x + y * y + z * z) - sphere[3]);
        }
        return least;
      };
      float t = 0, gap = distance(0);
      for (std::ptrdiff_t steps = 0; gap > 1e-3f && t < 20 && steps < 100; steps++) {
        t += gap;
        gap = distance(t);
      }
      depth[ray] = t;
    }
    return {result};
  };
  Literal spheres = uniform_floats({kSpheres, 4}, -3, 3),
          directions = uniform_floats({kRays, 3}, -0.5, 0.5, 2);
  const auto sphere = spheres.mutable_data<float>();
  for (std::size_t k = 0; k < kSpheres; k++) {
    sphere[4 * k + 2] += 7;
    sphere[4 * k + 3] = 0.8f + 0.1f * sphere[4 * k + 3];
  }
  const auto d = directions.mutable_data<float>();
  for (std::size_t ray = 0; ray < kRays; ray++) {
    const float scale =
        1 / std::sqrt(d[3 * ray] * d[3 * ray] + d[3 * ray + 1] * d[3 * ray + 1] + 1);
    d[3 * ray] *= scale, d[3 * ray + 1] *= scale, d[3 * ray + 2] = scale;
  }
  return {.name = "batches/rays",
          .program = trace(program, spheres.type(), directions.type()),
          .arguments = {spheres, directions},
          .plain = plain,
          .tolerance = 1e-3};
}

}  // namespace

std::vector<Workload> lookup_workloads() { return {drops(), turned_image(), rays()}; }

}  // namespace rondo::bench
