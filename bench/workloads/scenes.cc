// Triangles and rays drawn into grids.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> scene_workloads();  // a part of array_workloads

namespace {

/// Triangles drawn into an image with depths: the nearest one is seen.
Workload triangles() {
  constexpr std::int64_t kTriangles = 40, kSize = 64;
  const auto program = [&](Tensor corners) {
    const auto draw = [&](Tensor t, Tensor depths, Tensor image) {
      const Tensor p = corners[t];
      const auto x = [&](int k) { return at(p, {k, 0}); };
      const auto y = [&](int k) { return at(p, {k, 1}); };
      const auto z = [&](int k) { return at(p, {k, 2}); };
      const auto lowest = [](Tensor a, Tensor b, Tensor c) {
        return maximum(convert(floor(minimum(minimum(a, b), c)), DType::kS32), 0);
      };
      const auto highest = [](Tensor a, Tensor b, Tensor c) {
        return minimum(convert(ceil(maximum(maximum(a, b), c)), DType::kS32), int(kSize));
      };
      const Tensor area = (x(1) - x(0)) * (y(2) - y(0)) - (x(2) - x(0)) * (y(1) - y(0));
      const Tensor left = lowest(x(0), x(1), x(2)), right = highest(x(0), x(1), x(2));
      const auto line = [&](Tensor i, Tensor depths, Tensor image) {
        const Tensor v = convert(i, DType::kF32) + 0.5f;
        const auto pixel = [&](Tensor j, Tensor depths, Tensor image) {
          const Tensor u = convert(j, DType::kF32) + 0.5f;
          const auto edge = [&](int a, int b) {
            return ((x(b) - x(a)) * (v - y(a)) - (u - x(a)) * (y(b) - y(a))) / area;
          };
          const Tensor a = edge(1, 2), b = edge(2, 0), c = edge(0, 1);
          const Tensor depth = a * z(0) + b * z(1) + c * z(2);
          const Tensor seen = (a >= 0) & (b >= 0) & (c >= 0) & (depth < at(depths, {i, j}));
          return cond(
              seen,
              [&] {
                return std::tuple(update(depths, {i, j}, depth), update(image, {i, j}, t + 1));
              },
              [&] { return std::tuple(depths, image); });
        };
        return fori_loop(left, right, pixel, std::tuple(depths, image));
      };
      return fori_loop(lowest(y(0), y(1), y(2)), highest(y(0), y(1), y(2)), line,
                       std::tuple(depths, image));
    };
    return fori_loop(0, kTriangles, draw,
                     std::tuple(full(f32({kSize, kSize}), 1.0f), zeros(s32({kSize, kSize}))));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto corners = arguments[0].data<float>();
    Literal all_depths = Literal::uninitialized(f32({kSize, kSize})),
            image = Literal::zeros(s32({kSize, kSize}));
    const auto depths = all_depths.mutable_data<float>();
    const auto pixels = image.mutable_data<std::int32_t>();
    std::fill(depths.begin(), depths.end(), 1.0f);
    for (std::size_t t = 0; t < kTriangles; t++) {
      const float* p = &corners[9 * t];
      const auto x = [&](std::size_t k) { return p[3 * k]; };
      const auto y = [&](std::size_t k) { return p[3 * k + 1]; };
      const auto low = [](float a, float b, float c) {
        return std::max(static_cast<int>(std::floor(std::min({a, b, c}))), 0);
      };
      const auto high = [](float a, float b, float c) {
        return std::min(static_cast<int>(std::ceil(std::max({a, b, c}))), int(kSize));
      };
      const float area = (x(1) - x(0)) * (y(2) - y(0)) - (x(2) - x(0)) * (y(1) - y(0));
      const int left = low(x(0), x(1), x(2)), right = high(x(0), x(1), x(2));
      const int bottom = high(y(0), y(1), y(2));
      for (int i = low(y(0), y(1), y(2)); i < bottom; i++) {
        const float v = static_cast<float>(i) + 0.5f;
        for (int j = left; j < right; j++) {
          const float u = static_cast<float>(j) + 0.5f;
          const auto edge = [&](std::size_t a, std::size_t b) {
            return ((x(b) - x(a)) * (v - y(a)) - (u - x(a)) * (y(b) - y(a))) / area;
          };
          const float a = edge(1, 2), b = edge(2, 0), c = edge(0, 1);
          const float depth = a * p[2] + b * p[5] + c * p[8];
          const auto place = static_cast<std::size_t>(i * kSize + j);
          if (a >= 0 && b >= 0 && c >= 0 && depth < depths[place]) {
            depths[place] = depth;
            pixels[place] = static_cast<std::int32_t>(t + 1);
          }
        }
      }
    }
    return {all_depths, image};
  };
  Literal corners = uniform_floats({kTriangles, 3, 3}, 0, 1);
  const auto corner = corners.mutable_data<float>();
  for (std::size_t k = 0; k < kTriangles * 9; k++)
    if (k % 3 != 2) corner[k] = corner[k / 9 * 9 + k % 3] * 40 + corner[k] * 24;
  return {.name = "pixels/triangles",
          .program = trace(program, f32({kTriangles, 3, 3})),
          .arguments = {corners},
          .plain = plain};
}

/// A map of what is occupied from the ends of rays: the cells on the way (Bresenham) are free.
Workload occupancy() {
  constexpr std::int64_t kRays = 180, kSize = 100;
  constexpr int kCenter = 50;
  const auto program = [&](Tensor ends) {
    const auto trace_ray = [&](Tensor r, Tensor grid) {
      const Tensor end_x = at(ends, {r, 0}), end_y = at(ends, {r, 1});
      const Tensor dx = abs(end_x - kCenter), dy = -abs(end_y - kCenter);
      const Tensor step_x = where(end_x > kCenter, 1, -1), step_y = where(end_y > kCenter, 1, -1);
      const auto goes_on = [&](Tensor x, Tensor y, Tensor, Tensor) {
        return (x != end_x) | (y != end_y);
      };
      const auto go = [&](Tensor x, Tensor y, Tensor error, Tensor grid) {
        const Tensor freed = update(grid, {y, x}, at(grid, {y, x}) - 0.4f);
        const Tensor twice = 2 * error;
        const Tensor across = twice >= dy, along = twice <= dx;
        return std::tuple(where(across, x + step_x, x), where(along, y + step_y, y),
                          error + where(across, dy, 0) + where(along, dx, 0), freed);
      };
      const auto start = std::tuple(Tensor(kCenter), Tensor(kCenter), dx + dy, grid);
      const Tensor freed = std::get<3>(while_loop(goes_on, go, start));
      return update(freed, {end_y, end_x}, at(freed, {end_y, end_x}) + 0.9f);
    };
    return fori_loop(0, kRays, trace_ray, zeros(f32({kSize, kSize})));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto ends = arguments[0].data<std::int32_t>();
    Literal result = Literal::zeros(f32({kSize, kSize}));
    float* grid = result.mutable_data<float>().data();
    for (std::size_t r = 0; r < kRays; r++) {
      const int end_x = ends[2 * r], end_y = ends[2 * r + 1];
      const int dx = std::abs(end_x - kCenter), dy = -std::abs(end_y - kCenter);
      const int step_x = end_x > kCenter ? 1 : -1, step_y = end_y > kCenter ? 1 : -1;
      int x = kCenter, y = kCenter, error = dx + dy;
      while (x != end_x || y != end_y) {
        grid[y * kSize + x] -= 0.4f;
        const int twice = 2 * error;
        if (twice >= dy) error += dy, x += step_x;
        if (twice <= dx) error += dx, y += step_y;
      }
      grid[end_y * kSize + end_x] += 0.9f;
    }
    return {result};
  };
  return {.name = "robots/occupancy",
          .program = trace(program, s32({kRays, 2})),
          .arguments = {uniform_integers({kRays, 2}, 0, kSize)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> scene_workloads() { return {triangles(), occupancy()}; }

}  // namespace rondo::bench
