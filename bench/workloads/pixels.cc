// Images of bytes, and images that are read and written pixel by pixel.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> pixel_workloads();  // a part of array_workloads

namespace {

Literal byte_image(std::int64_t size) {
  const Literal noise = uniform_floats({size, size}, 0, 60);
  Literal image = Literal::uninitialized(u8({size, size}));
  for (std::int64_t i = 0; i < size; i++)
    for (std::int64_t j = 0; j < size; j++) {
      const auto at = static_cast<std::size_t>(i * size + j);
      image.mutable_data<std::uint8_t>()[at] =
          static_cast<std::uint8_t>(noise.data<float>()[at] + 95 +
                                    95 * std::sin(0.1f * float(i)) * std::cos(0.07f * float(j)));
    }
  return image;
}

/// The middle of each pixel and its eight neighbours, of bytes.
Workload median_filter() {
  constexpr std::int64_t kSize = 128, kInner = kSize - 2;
  const auto program = [&](Tensor image) {
    std::vector<Tensor> shifted;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        shifted.push_back(slice(image, range(i, i + kInner), range(j, j + kInner)));
    return rondo::sort(rondo::stack(shifted, 0), 0)[4];
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto image = arguments[0].data<std::uint8_t>();
    Literal result = Literal::uninitialized(u8({kInner, kInner}));
    for (std::size_t i = 0; i < kInner; i++)
      for (std::size_t j = 0; j < kInner; j++) {
        std::array<std::uint8_t, 9> window{};
        for (std::size_t k = 0; k < 9; k++) window[k] = image[(i + k / 3) * kSize + j + k % 3];
        std::nth_element(window.begin(), window.begin() + 4, window.end());
        result.mutable_data<std::uint8_t>()[i * kInner + j] = window[4];
      }
    return {result};
  };
  return {.name = "pixels/median_filter",
          .program = trace(program, u8({kSize, kSize})),
          .arguments = {byte_image(kSize)},
          .plain = plain};
}

/// Gray levels as black and white, whose errors neighbours correct (Floyd and Steinberg).
Workload dithered() {
  constexpr std::int64_t kSize = 64;
  const auto program = [&](Tensor image) {
    const auto row = [&](Tensor i, Tensor image) {
      const auto pixel = [&](Tensor j, Tensor image) {
        const Tensor old = at(image, {i, j}), black_or_white = where(old < 0.5f, 0.0f, 1.0f);
        const Tensor error = old - black_or_white;
        Tensor next = update(image, {i, j}, black_or_white);
        const auto add = [&](Tensor at_i, Tensor at_j, float part) {
          const Tensor is_inside = (at_i < int(kSize)) & (at_j >= 0) & (at_j < int(kSize));
          const Tensor there = at(next, {at_i, at_j});
          next = update(next, {at_i, at_j}, where(is_inside, there + part * error, there));
        };
        add(i, j + 1, 7.0f / 16);
        add(i + 1, j - 1, 3.0f / 16);
        add(i + 1, j, 5.0f / 16);
        add(i + 1, j + 1, 1.0f / 16);
        return next;
      };
      return fori_loop(0, kSize, pixel, image);
    };
    return fori_loop(0, kSize, row, image);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    Literal result = arguments[0];
    float* image = result.mutable_data<float>().data();
    for (std::ptrdiff_t i = 0; i < kSize; i++)
      for (std::ptrdiff_t j = 0; j < kSize; j++) {
        const float old = image[i * kSize + j], level = old < 0.5f ? 0.0f : 1.0f;
        const float error = old - level;
        image[i * kSize + j] = level;
        if (j + 1 < kSize) image[i * kSize + j + 1] += 7.0f / 16 * error;
        if (i + 1 == kSize) continue;
        float* below = image + (i + 1) * kSize + j;
        if (j > 0) below[-1] += 3.0f / 16 * error;
        below[0] += 5.0f / 16 * error;
        if (j + 1 < kSize) below[1] += 1.0f / 16 * error;
      }
    return {result};
  };
  return {.name = "pixels/dithered",
          .program = trace(program, f32({kSize, kSize})),
          .arguments = {uniform_floats({kSize, kSize}, 0, 1)},
          .plain = plain};
}

/// The threshold between dark and bright that separates an image of bytes best (Otsu), and the
/// image in black and white.
Workload threshold() {
  constexpr std::int64_t kSize = 128, kLevels = 256;
  const auto program = [&](Tensor image) {
    const Tensor counts = bincount(convert(reshape(image, {-1}), DType::kS32), kLevels);
    const Tensor level = arange(kLevels, DType::kF32), count = convert(counts, DType::kF32);
    const Tensor below = cumsum(count, 0), mass = cumsum(level * count, 0);
    const Tensor above = below[kLevels - 1] - below;
    const Tensor means = mass / maximum(below, 1) - (mass[kLevels - 1] - mass) / maximum(above, 1);
    const Tensor best = argmax(below * above * square(means), 0);
    return std::pair(best, where(convert(image, DType::kS32) > best, 255, 0));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto image = arguments[0].data<std::uint8_t>();
    std::array<int, kLevels> counts{};
    for (const std::uint8_t level : image) counts[level]++;
    float total = 0, total_mass = 0;
    for (std::size_t i = 0; i < kLevels; i++) {
      total += static_cast<float>(counts[i]);
      total_mass += static_cast<float>(i) * static_cast<float>(counts[i]);
    }
    float below = 0, mass = 0, most = -1;
    std::int32_t best = 0;
    for (std::size_t i = 0; i < kLevels; i++) {
      below += static_cast<float>(counts[i]);
      mass += static_cast<float>(i) * static_cast<float>(counts[i]);
      const float above = total - below;
      const float means =
          mass / std::max(below, 1.0f) - (total_mass - mass) / std::max(above, 1.0f);
      const float between = below * above * (means * means);
      if (between > most) most = between, best = static_cast<std::int32_t>(i);
    }
    Literal result = Literal::uninitialized(s32({kSize, kSize}));
    for (std::size_t i = 0; i < image.size(); i++)
      result.mutable_data<std::int32_t>()[i] = image[i] > best ? 255 : 0;
    return {Literal::scalar(best), result};
  };
  return {.name = "pixels/threshold",
          .program = trace(program, u8({kSize, kSize})),
          .arguments = {byte_image(kSize)},
          .plain = plain};
}

/// The lines through points: each point votes for all lines through it (Hough).
Workload lines() {
  constexpr std::int64_t kPoints = 256, kAngles = 64, kDistances = 128;
  const auto program = [&](Tensor xs, Tensor ys, Tensor cosines, Tensor sines) {
    const auto vote = [&](Tensor votes, Tensor x, Tensor y) {
      const auto by_angle = [&](Tensor a, Tensor votes) {
        const Tensor distance =
            convert(x * cosines[a] + y * sines[a], DType::kS32) + kDistances / 2;
        return update(votes, {a, distance}, at(votes, {a, distance}) + 1);
      };
      return std::pair(fori_loop(0, kAngles, by_angle, votes), std::tuple<>());
    };
    const Tensor none = zeros(s32({kAngles, kDistances}));
    return scan(vote, none, std::tuple(xs, ys)).first;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto xs = arguments[0].data<float>(), ys = arguments[1].data<float>(),
               cosines = arguments[2].data<float>(), sines = arguments[3].data<float>();
    Literal result = Literal::zeros(s32({kAngles, kDistances}));
    const auto votes = result.mutable_data<std::int32_t>();
    for (std::size_t i = 0; i < kPoints; i++)
      for (std::size_t a = 0; a < kAngles; a++) {
        const int distance =
            static_cast<int>(xs[i] * cosines[a] + ys[i] * sines[a]) + kDistances / 2;
        votes[a * kDistances + static_cast<std::size_t>(distance)]++;
      }
    return {result};
  };
  Literal cosines = Literal::uninitialized(f32({kAngles})), sines = cosines;
  for (std::size_t a = 0; a < kAngles; a++) {
    cosines.mutable_data<float>()[a] = std::cos(0.049f * static_cast<float>(a));
    sines.mutable_data<float>()[a] = std::sin(0.049f * static_cast<float>(a));
  }
  return {.name = "pixels/lines",
          .program = trace(program, f32({kPoints}), f32({kPoints}), f32({kAngles}), f32({kAngles})),
          .arguments = {uniform_floats({kPoints}, -40, 40), uniform_floats({kPoints}, -40, 40, 2),
                        cosines, sines},
          .plain = plain};
}

/// Labels of the connected parts of an image: each pixel takes the least of its neighbours until
/// none changes.
Workload connected_parts() {
  constexpr std::int64_t kSize = 64;
  const auto program = [&](Tensor image) {
    const Tensor is_set = image > 110;
    const Tensor far = Tensor(std::int32_t{kSize * kSize});
    const Tensor start = where(is_set, reshape(arange(kSize * kSize), {kSize, kSize}), far);
    const auto spread = [&](Tensor labels, Tensor) {
      const Tensor wide = pad(labels, far, {1, 1}, {1, 1}, {0, 0});
      const Tensor up = slice(wide, range(0, kSize), range(1, -1)),
                   down = slice(wide, range(2), range(1, -1)),
                   left = slice(wide, range(1, -1), range(0, kSize)),
                   right = slice(wide, range(1, -1), range(2));
      const Tensor least = minimum(labels, minimum(minimum(up, down), minimum(left, right)));
      const Tensor next = where(is_set, least, far);
      return std::tuple(next, any(next != labels));
    };
    return std::get<0>(while_loop([](Tensor, Tensor changed) { return changed; }, spread,
                                  std::tuple(start, true)));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto image = arguments[0].data<std::uint8_t>();
    constexpr int kWide = kSize + 2, kFar = kSize * kSize;
    static std::vector<std::int32_t> labels(kWide * kWide), next(kWide * kWide);
    std::fill(labels.begin(), labels.end(), kFar);
    std::fill(next.begin(), next.end(), kFar);
    for (int i = 0; i < kSize; i++)
      for (int j = 0; j < kSize; j++)
        if (image[std::size_t(i * kSize + j)] > 110)
          labels[std::size_t((i + 1) * kWide + j + 1)] = int(i * kSize + j);
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = 1; i <= kSize; i++)
        for (int j = 1; j <= kSize; j++) {
          const std::int32_t* at = &labels[std::size_t(i * kWide + j)];
          std::int32_t least =
              std::min(at[0], std::min(std::min(at[-kWide], at[kWide]), std::min(at[-1], at[1])));
          least = at[0] == kFar ? kFar : least;
          changed |= least != at[0];
          next[std::size_t(i * kWide + j)] = least;
        }
      std::swap(labels, next);
    }
    Literal result = Literal::uninitialized(s32({kSize, kSize}));
    for (int i = 0; i < kSize; i++)
      for (int j = 0; j < kSize; j++)
        result.mutable_data<std::int32_t>()[std::size_t(i * kSize + j)] =
            labels[std::size_t((i + 1) * kWide + j + 1)];
    return {result};
  };
  return {.name = "pixels/connected_parts",
          .program = trace(program, u8({kSize, kSize})),
          .arguments = {byte_image(kSize)},
          .plain = plain};
}

/// An image enlarged by half, between the pixels of bytes, in fixed point.
Workload enlarged() {
  constexpr std::int64_t kSize = 128, kLarge = 192;
  const auto program = [&](Tensor image) {
    const Tensor place = (arange(kLarge) * 2 * 256 + 256) / 3 - 128;  // in 256ths of a pixel
    const Tensor inside = clamp(0, place, (kSize - 1) * 256 - 1);
    const Tensor first = inside / 256, part = inside % 256;
    const Tensor wide = convert(image, DType::kS32);
    const Tensor above = take(wide, first, 0), below = take(wide, first + 1, 0);
    const Tensor rows = above * expand_dims(256 - part, 1) + below * expand_dims(part, 1);
    const Tensor left = take(rows, first, 1), right = take(rows, first + 1, 1);
    return convert((left * (256 - part) + right * part + 32768) >> 16, DType::kU8);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const std::uint8_t* image = arguments[0].data<std::uint8_t>().data();
    Literal result = Literal::uninitialized(u8({kLarge, kLarge}));
    std::uint8_t* to = result.mutable_data<std::uint8_t>().data();
    std::array<int, kLarge> first{}, part{};
    for (int i = 0; i < kLarge; i++) {
      const int inside = std::clamp((i * 512 + 256) / 3 - 128, 0, int(kSize - 1) * 256 - 1);
      first[std::size_t(i)] = inside / 256, part[std::size_t(i)] = inside % 256;
    }
    std::array<int, kSize> row{};
    for (std::size_t i = 0; i < kLarge; i++) {
      const std::uint8_t* above = image + first[i] * kSize;
      for (std::size_t j = 0; j < kSize; j++)
        row[j] = above[j] * (256 - part[i]) + above[j + kSize] * part[i];
      for (std::size_t j = 0; j < kLarge; j++) {
        const auto at = static_cast<std::size_t>(first[j]);
        to[i * kLarge + j] = static_cast<std::uint8_t>(
            (row[at] * (256 - part[j]) + row[at + 1] * part[j] + 32768) >> 16);
      }
    }
    return {result};
  };
  return {.name = "pixels/enlarged",
          .program = trace(program, u8({kSize, kSize})),
          .arguments = {byte_image(kSize)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> pixel_workloads() {
  return {median_filter(), dithered(), threshold(), lines(), connected_parts(), enlarged()};
}

}  // namespace rondo::bench
