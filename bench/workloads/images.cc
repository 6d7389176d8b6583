// Images: filters, grey levels, a template that is searched for.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> image_workloads();  // a part of array_workloads

namespace {

/// The gradient's magnitude (Sobel) of a blurred image.
Workload edges() {
  constexpr std::int64_t kSize = 256;
  const auto program = [](Tensor image) {
    const auto smooth_down = [](Tensor x) {
      return 0.25f * (slice(x, range({}, -2)) + 2 * slice(x, range(1, -1)) + slice(x, range(2)));
    };
    const auto smooth_across = [](Tensor x) {
      return 0.25f * (slice(x, range(), range({}, -2)) + 2 * slice(x, range(), range(1, -1)) +
                      slice(x, range(), range(2)));
    };
    const Tensor blurred = smooth_across(smooth_down(image));
    const Tensor across =
        smooth_down(slice(blurred, range(), range(2)) - slice(blurred, range(), range({}, -2)));
    const Tensor down = smooth_across(slice(blurred, range(2)) - slice(blurred, range({}, -2)));
    return sqrt(across * across + down * down);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    constexpr std::ptrdiff_t kRow = kSize, kBlurred = kSize - 2, kResult = kSize - 4;
    static float column_sums[kRow], blurred[kBlurred * kBlurred];
    const float* image = arguments[0].data<float>().data();
    for (std::ptrdiff_t i = 0; i < kBlurred; i++) {
      const float* row = image + i * kRow;
      for (std::ptrdiff_t j = 0; j < kRow; j++)
        column_sums[j] = 0.25f * (row[j] + 2 * row[j + kRow] + row[j + 2 * kRow]);
      float* out = &blurred[i * kBlurred];
      for (std::ptrdiff_t j = 0; j < kBlurred; j++)
        out[j] = 0.25f * (column_sums[j] + 2 * column_sums[j + 1] + column_sums[j + 2]);
    }
    Literal result = Literal::uninitialized(f32({kResult, kResult}));
    float* magnitude = result.mutable_data<float>().data();
    for (std::ptrdiff_t i = 0; i < kResult; i++) {
      const float *a = &blurred[i * kBlurred], *b = a + kBlurred, *c = b + kBlurred;
      for (std::ptrdiff_t j = 0; j < kResult; j++) {
        const float across =
            0.25f * ((a[j + 2] - a[j]) + 2 * (b[j + 2] - b[j]) + (c[j + 2] - c[j]));
        const float down =
            0.25f * ((c[j] - a[j]) + 2 * (c[j + 1] - a[j + 1]) + (c[j + 2] - a[j + 2]));
        magnitude[i * kResult + j] = std::sqrt(across * across + down * down);
      }
    }
    return {result};
  };
  return {.name = "arrays/edges",
          .program = trace(program, f32({kSize, kSize})),
          .arguments = {uniform_floats({kSize, kSize}, 0, 1)},
          .plain = plain};
}

/// Grey levels, spread so that each is about as frequent as the others.
Workload equalised_levels() {
  constexpr std::int64_t kSize = 256, kLevels = 256;
  const auto program = [](Tensor image) {
    const Tensor below = cumsum(bincount(image, kLevels), 0);
    const Tensor least = min(where(below > 0, below, int(kSize * kSize)));
    const Tensor share =
        convert(below - least, DType::kF32) / convert(kSize * kSize - least, DType::kF32);
    return take(convert(floor(255 * maximum(share, 0) + 0.5f), DType::kU8), image);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto image = arguments[0].data<std::uint8_t>();
    int counts[kLevels] = {};
    for (const std::uint8_t level : image) counts[level]++;
    int below = 0, least = 0;
    std::uint8_t table[kLevels];
    for (std::ptrdiff_t level = 0; level < kLevels; level++) {
      below += counts[level];
      if (least == 0) least = below;
      const float share =
          static_cast<float>(below - least) / static_cast<float>(kSize * kSize - least);
      table[level] = static_cast<std::uint8_t>(std::floor(255 * std::max(share, 0.0f) + 0.5f));
    }
    Literal result = Literal::uninitialized(u8({kSize, kSize}));
    const auto levels = result.mutable_data<std::uint8_t>();
    for (std::size_t i = 0; i < image.size(); i++) levels[i] = table[image[i]];
    return {result};
  };
  Literal image = Literal::zeros(u8({kSize, kSize}));
  const Literal bright = uniform_floats({kSize, kSize}, 0, 1);
  const auto levels = image.mutable_data<std::uint8_t>();
  for (std::size_t i = 0; i < levels.size(); i++) {
    const float x = bright.data<float>()[i];
    levels[i] = static_cast<std::uint8_t>(20 + 180 * x * x);
  }
  return {.name = "arrays/equalised_levels",
          .program = trace(program, u8({kSize, kSize})),
          .arguments = {image},
          .plain = plain};
}

/// The normalised correlation of a template with each part of an image, and where it is greatest.
Workload template_search() {
  constexpr std::int64_t kSize = 96, kTemplate = 12, kPlaces = kSize - kTemplate + 1;
  const auto program = [&](Tensor image, Tensor pattern) {
    const Tensor wanted = pattern - mean(pattern);
    const Tensor none = zeros(f32({kPlaces, kPlaces}));
    const auto add = [&](Tensor k, Tensor products, Tensor sums, Tensor squares) {
      const Tensor i = k / kTemplate, j = k % kTemplate;
      const Tensor part = dynamic_slice(image, {i, j}, {kPlaces, kPlaces});
      return std::tuple(products + at(wanted, {i, j}) * part, sums + part, squares + part * part);
    };
    const auto [products, sums, squares] =
        fori_loop(0, kTemplate * kTemplate, add, std::tuple(none, none, none));
    const Tensor variance = squares - sums * sums / float(kTemplate * kTemplate);
    const Tensor correlation = products * rsqrt(variance * sum(wanted * wanted));
    return std::pair(correlation, argmax(reshape(correlation, {-1}), 0));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    constexpr int kPixels = kTemplate * kTemplate;
    const float* image = arguments[0].data<float>().data();
    const auto pattern = arguments[1].data<float>();
    float wanted[kTemplate][kTemplate], mean = 0, energy = 0;
    for (const float x : pattern) mean += x / kPixels;
    for (std::size_t i = 0; i < kTemplate; i++) {
      for (std::size_t j = 0; j < kTemplate; j++) {
        wanted[i][j] = pattern[i * kTemplate + j] - mean;
        energy += wanted[i][j] * wanted[i][j];
      }
    }
    Literal result = Literal::uninitialized(f32({kPlaces, kPlaces}));
    float* correlation = result.mutable_data<float>().data();
    float products[kPlaces], sums[kPlaces], squares[kPlaces];
    float best = -HUGE_VALF;
    std::int32_t where = 0;
    for (std::ptrdiff_t y = 0; y < kPlaces; y++) {
      std::fill_n(products, kPlaces, 0.0f);
      std::fill_n(sums, kPlaces, 0.0f);
      std::fill_n(squares, kPlaces, 0.0f);
      for (std::ptrdiff_t i = 0; i < kTemplate; i++) {
        for (std::ptrdiff_t j = 0; j < kTemplate; j++) {
          const float* part = image + (y + i) * kSize + j;
          const float weight = wanted[i][j];
          for (std::ptrdiff_t x = 0; x < kPlaces; x++) {
            products[x] += weight * part[x];
            sums[x] += part[x];
            squares[x] += part[x] * part[x];
          }
        }
      }
      for (std::ptrdiff_t x = 0; x < kPlaces; x++) {
        const float variance = squares[x] - sums[x] * sums[x] / kPixels;
        const float value = products[x] / std::sqrt(variance * energy);
        correlation[y * kPlaces + x] = value;
        if (value > best) {
          best = value;
          where = static_cast<std::int32_t>(y * kPlaces + x);
        }
      }
    }
    return {result, Literal::scalar(where)};
  };
  const Literal image = uniform_floats({kSize, kSize}, 0, 1);
  Literal pattern = Literal::zeros(f32({kTemplate, kTemplate}));
  const auto pixels = pattern.mutable_data<float>();
  for (std::size_t i = 0; i < kTemplate; i++)
    for (std::size_t j = 0; j < kTemplate; j++)
      pixels[i * kTemplate + j] = image.data<float>()[(30 + i) * kSize + 40 + j];
  return {.name = "arrays/template_search",
          .program = trace(program, f32({kSize, kSize}), f32({kTemplate, kTemplate})),
          .arguments = {image, pattern},
          .plain = plain};
}

/// The nearest of some points for each pixel, and how far it is.
Workload nearest_sites() {
  constexpr std::int64_t kRows = 150, kColumns = 200, kSites = 50;
  const auto program = [&](Tensor sites) {
    const Tensor y = expand_dims(arange(kRows, DType::kF32), 1), x = arange(kColumns, DType::kF32);
    const auto visit = [&](Tensor k, Tensor least, Tensor site) {
      const Tensor dy = y - at(sites, {k, 0}), dx = x - at(sites, {k, 1});
      const Tensor distance = dy * dy + dx * dx;
      return std::pair(minimum(least, distance), where(distance < least, k, site));
    };
    return fori_loop(0, kSites, visit,
                     std::pair(full(f32({kRows, kColumns}), 1e9f), zeros(s32({kRows, kColumns}))));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float* sites = arguments[0].data<float>().data();
    Literal least = Literal::uninitialized(f32({kRows, kColumns})),
            site = Literal::zeros(s32({kRows, kColumns}));
    float* distances = least.mutable_data<float>().data();
    std::int32_t* numbers = site.mutable_data<std::int32_t>().data();
    std::fill_n(distances, kRows * kColumns, 1e9f);
    for (std::ptrdiff_t i = 0; i < kRows; i++) {
      float* row = distances + i * kColumns;
      std::int32_t* of_row = numbers + i * kColumns;
      for (std::int32_t k = 0; k < kSites; k++) {
        const float dy = static_cast<float>(i) - sites[std::ptrdiff_t{2} * k];
        for (std::ptrdiff_t j = 0; j < kColumns; j++) {
          const float dx = static_cast<float>(j) - sites[std::ptrdiff_t{2} * k + 1];
          const float distance = dy * dy + dx * dx;
          of_row[j] = distance < row[j] ? k : of_row[j];
          row[j] = distance < row[j] ? distance : row[j];
        }
      }
    }
    return {least, site};
  };
  return {.name = "arrays/nearest_sites",
          .program = trace(program, f32({kSites, 2})),
          .arguments = {uniform_floats({kSites, 2}, 0, 150)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> image_workloads() {
  return {edges(), equalised_levels(), template_search(), nearest_sites()};
}

}  // namespace rondo::bench
