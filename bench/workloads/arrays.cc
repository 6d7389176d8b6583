// Whole arrays at once.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

namespace {

/// Mean, variance, least and greatest of one array.
Workload statistics() {
  constexpr std::int64_t kCount = 1 << 18;
  const auto program = [](Tensor x) {
    const Tensor mean = sum(x) / float(kCount);
    const Tensor off = x - mean;
    return std::tuple(mean, sum(off * off) / float(kCount), min(x), max(x));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto x = arguments[0].data<float>();
    float sum = 0, least = x[0], greatest = x[0], squares = 0;
    for (const float value : x) sum += value;
    const float mean = sum / float(kCount);
    for (const float value : x) {
      squares += (value - mean) * (value - mean);
      least = std::min(least, value);
      greatest = std::max(greatest, value);
    }
    return {Literal::scalar(mean), Literal::scalar(squares / float(kCount)), Literal::scalar(least),
            Literal::scalar(greatest)};
  };
  return {.name = "arrays/statistics",
          .program = trace(program, TensorType{DType::kF32, {kCount}}),
          .arguments = {uniform_floats({kCount}, -1, 3)},
          .plain = plain};
}

/// For each query the nearest of the points in space, and its distance.
Workload nearest_points() {
  constexpr std::int64_t kQueries = 512, kPoints = 512;
  const auto program = [](Tensor queries, Tensor points) {
    const Tensor off = expand_dims(queries, 1) - expand_dims(points, 0);
    const Tensor squares = sum(off * off, 2);
    return std::tuple(argmin(squares, 1), sqrt(min(squares, {1})));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float* queries = arguments[0].data<float>().data();
    const float* points = arguments[1].data<float>().data();
    Literal nearest = Literal::uninitialized(s32({kQueries})),
            distance = Literal::uninitialized(f32({kQueries}));
    const auto index = nearest.mutable_data<std::int32_t>();
    const auto length = distance.mutable_data<float>();
    for (std::size_t q = 0; q < kQueries; q++) {
      float best = HUGE_VALF;
      std::int32_t at = 0;
      for (std::size_t p = 0; p < kPoints; p++) {
        const float x = queries[3 * q] - points[3 * p], y = queries[3 * q + 1] - points[3 * p + 1],
                    z = queries[3 * q + 2] - points[3 * p + 2];
        const float square = x * x + y * y + z * z;
        if (square < best) {
          best = square;
          at = static_cast<std::int32_t>(p);
        }
      }
      index[q] = at;
      length[q] = std::sqrt(best);
    }
    return {nearest, distance};
  };
  return {.name = "arrays/nearest_points",
          .program = trace(program, f32({kQueries, 3}), f32({kPoints, 3})),
          .arguments = {uniform_floats({kQueries, 3}, 0, 1), uniform_floats({kPoints, 3}, 0, 1, 2)},
          .plain = plain};
}

/// Steps of Lloyd's algorithm: each centre moves to the mean of the points that are nearest to it.
Workload k_means() {
  constexpr std::int64_t kPoints = 2048, kCentres = 16, kAxes = 4, kSteps = 5;
  const auto program = [&](Tensor points, Tensor first) {
    const auto step = [&](Tensor, Tensor centres) {
      const Tensor off = expand_dims(points, 1) - expand_dims(centres, 0);
      const Tensor nearest = argmin(sum(off * off, 2), 1);
      const Tensor sums = segment_sum(points, nearest, kCentres);
      const Tensor counts = convert(bincount(nearest, kCentres), DType::kF32);
      return sums / expand_dims(maximum(counts, 1), 1);
    };
    return fori_loop(0, kSteps, step, first);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float* points = arguments[0].data<float>().data();
    Literal result = arguments[1];
    const auto centres = result.mutable_data<float>();
    float sums[kCentres][kAxes];
    std::int32_t counts[kCentres];
    for (int step = 0; step < kSteps; step++) {
      std::fill_n(&sums[0][0], kCentres * kAxes, 0.0f);
      std::fill_n(counts, kCentres, 0);
      for (std::size_t p = 0; p < kPoints; p++) {
        const float* point = points + p * kAxes;
        float best = HUGE_VALF;
        std::size_t at = 0;
        for (std::size_t c = 0; c < kCentres; c++) {
          float square = 0;
          for (std::size_t i = 0; i < kAxes; i++) {
            const float off = point[i] - centres[c * kAxes + i];
            square += off * off;
          }
          if (square < best) {
            best = square;
            at = c;
          }
        }
        for (std::size_t i = 0; i < kAxes; i++) sums[at][i] += point[i];
        counts[at]++;
      }
      for (std::size_t c = 0; c < kCentres; c++)
        for (std::size_t i = 0; i < kAxes; i++)
          centres[c * kAxes + i] = sums[c][i] / static_cast<float>(std::max(counts[c], 1));
    }
    return {result};
  };
  return {.name = "arrays/k_means",
          .program = trace(program, f32({kPoints, kAxes}), f32({kCentres, kAxes})),
          .arguments = {uniform_floats({kPoints, kAxes}, 0, 1),
                        uniform_floats({kCentres, kAxes}, 0, 1, 2)},
          .plain = plain};
}

/// Rows with mean 0 and variance 1, and their softmax.
Workload normalised_rows() {
  constexpr std::int64_t kRows = 128, kColumns = 256;
  const auto program = [](Tensor x, Tensor gain, Tensor bias) {
    const Tensor off = x - mean(x, 1, true);
    const Tensor normal = off * rsqrt(mean(off * off, 1, true) + 1e-5f) * gain + bias;
    const Tensor powers = exp(normal - max(normal, {1}, true));
    return std::tuple(normal, powers / sum(powers, 1, true));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float* x = arguments[0].data<float>().data();
    const float* gain = arguments[1].data<float>().data();
    const float* bias = arguments[2].data<float>().data();
    Literal normals = Literal::uninitialized(f32({kRows, kColumns})),
            shares = Literal::uninitialized(f32({kRows, kColumns}));
    float* normal = normals.mutable_data<float>().data();
    float* share = shares.mutable_data<float>().data();
    for (int row = 0; row < kRows; row++) {
      float sum = 0, squares = 0;
      for (int j = 0; j < kColumns; j++) sum += x[j];
      const float mean = sum / kColumns;
      for (int j = 0; j < kColumns; j++) squares += (x[j] - mean) * (x[j] - mean);
      const float scale = 1 / std::sqrt(squares / kColumns + 1e-5f);
      float greatest = -HUGE_VALF, total = 0;
      for (int j = 0; j < kColumns; j++) {
        normal[j] = (x[j] - mean) * scale * gain[j] + bias[j];
        greatest = std::max(greatest, normal[j]);
      }
      for (int j = 0; j < kColumns; j++) {
        share[j] = std::exp(normal[j] - greatest);
        total += share[j];
      }
      for (int j = 0; j < kColumns; j++) share[j] /= total;
      x += kColumns, normal += kColumns, share += kColumns;
    }
    return {normals, shares};
  };
  return {
      .name = "arrays/normalised_rows",
      .program = trace(program, f32({kRows, kColumns}), f32({kColumns}), f32({kColumns})),
      .arguments = {uniform_floats({kRows, kColumns}, -1, 3),
                    uniform_floats({kColumns}, 0.5, 1.5, 2), uniform_floats({kColumns}, -1, 1, 3)},
      .plain = plain};
}

}  // namespace

std::vector<Workload> signal_workloads();
std::vector<Workload> image_workloads();
std::vector<Workload> discrete_workloads();
std::vector<Workload> code_workloads();
std::vector<Workload> table_workloads();
std::vector<Workload> filter_workloads();
std::vector<Workload> pixel_workloads();
std::vector<Workload> learning_workloads();
std::vector<Workload> sequence_workloads();
std::vector<Workload> recursion_workloads();
std::vector<Workload> scene_workloads();

std::vector<Workload> array_workloads() {
  std::vector<Workload> all = {statistics(), nearest_points(), k_means(), normalised_rows()};
  for (Workload& work : signal_workloads()) all.push_back(std::move(work));
  for (Workload& work : image_workloads()) all.push_back(std::move(work));
  for (Workload& work : discrete_workloads()) all.push_back(std::move(work));
  for (Workload& work : code_workloads()) all.push_back(std::move(work));
  for (Workload& work : table_workloads()) all.push_back(std::move(work));
  for (Workload& work : filter_workloads()) all.push_back(std::move(work));
  for (Workload& work : pixel_workloads()) all.push_back(std::move(work));
  for (Workload& work : learning_workloads()) all.push_back(std::move(work));
  for (Workload& work : sequence_workloads()) all.push_back(std::move(work));
  for (Workload& work : recursion_workloads()) all.push_back(std::move(work));
  for (Workload& work : scene_workloads()) all.push_back(std::move(work));
  return all;
}

}  // namespace rondo::bench
