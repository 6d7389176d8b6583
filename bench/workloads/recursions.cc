// Recursions over an order, a scale or a band: prediction, wavelets, splines, a system with a band,
// and an opening of an image.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> recursion_workloads();  // a part of array_workloads

namespace {

/// The coefficients that predict a signal best from the 24 samples before (Levinson and Durbin).
Workload levinson() {
  constexpr std::int64_t kSamples = 1024, kOrder = 24;
  const auto program = [&](Tensor x) {
    const auto product = [&](Tensor lag) {
      const auto add = [&](Tensor i, Tensor sum) { return sum + x[i] * x[i + lag]; };
      return fori_loop(0, kSamples - lag, add, 0.0);
    };
    const Tensor r = map(product, arange(kOrder + 1));
    const Tensor index = arange(kOrder);
    const auto raise = [&](Tensor i, Tensor a, Tensor error) {
      const Tensor before = index < i;
      const Tensor mismatch = r[i + 1] + sum(where(before, a * take(r, maximum(i - index, 0)), 0));
      const Tensor k = -mismatch / error;
      const Tensor mirrored = take(a, maximum(i - 1 - index, 0));
      const Tensor next = where(before, a + k * mirrored, where(index == i, k, 0));
      return std::tuple(next, error * (1 - k * k));
    };
    return fori_loop(0, kOrder, raise, std::tuple(zeros(f64({kOrder})), r[0]));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto x = arguments[0].data<double>();
    std::array<double, kOrder + 1> r{};
    for (std::size_t lag = 0; lag <= kOrder; lag++)
      for (std::size_t i = 0; i + lag < kSamples; i++) r[lag] += x[i] * x[i + lag];
    Literal result = Literal::zeros(f64({kOrder}));
    const auto a = result.mutable_data<double>();
    std::array<double, kOrder> before{};
    double error = r[0];
    for (std::size_t i = 0; i < kOrder; i++) {
      double mismatch = r[i + 1];
      for (std::size_t j = 0; j < i; j++) mismatch += a[j] * r[i - j];
      const double k = -mismatch / error;
      std::copy_n(a.begin(), i, before.begin());
      for (std::size_t j = 0; j < i; j++) a[j] = before[j] + k * before[i - 1 - j];
      a[i] = k;
      error *= 1 - k * k;
    }
    return {result, Literal::scalar(error)};
  };
  return {.name = "signals/levinson",
          .program = trace(program, f64({kSamples})),
          .arguments = {uniform_doubles({kSamples}, -1, 1)},
          .plain = plain};
}

/// The reversible wavelet transform of images (CDF 5/3), by lifting: integers, six scales.
Workload lifting() {
  constexpr std::int64_t kSamples = 4096, kScales = 6;
  const auto program = [&](Tensor x) {
    Tensor rest = x;
    std::vector<Tensor> parts;
    for (int scale = 0; scale < kScales; scale++) {
      const std::int64_t half = rest.dim(0) / 2;
      const Tensor even = slice(rest, range({}, {}, 2)), odd = slice(rest, range(1, {}, 2));
      const Tensor after = rondo::concatenate({slice(even, range(1)), slice(even, range(-1))}, 0);
      const Tensor detail = odd - ((even + after) >> 1);
      const Tensor before =
          rondo::concatenate({slice(detail, range(0, 1)), slice(detail, range(0, half - 1))}, 0);
      rest = even + ((before + detail + 2) >> 2);
      parts.insert(parts.begin(), detail);
    }
    parts.insert(parts.begin(), rest);
    return rondo::concatenate(parts, 0);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    Literal result = arguments[0];
    std::int32_t* x = result.mutable_data<std::int32_t>().data();
    std::array<std::int32_t, kSamples> in{};
    std::size_t size = kSamples;
    for (int scale = 0; scale < kScales; scale++, size /= 2) {
      std::copy_n(x, size, in.begin());
      const std::size_t half = size / 2;
      std::int32_t* detail = x + half;
      for (std::size_t i = 0; i < half; i++)
        detail[i] = in[2 * i + 1] - ((in[2 * i] + in[i + 1 < half ? 2 * i + 2 : 2 * i]) >> 1);
      for (std::size_t i = 0; i < half; i++)
        x[i] = in[2 * i] + ((detail[i > 0 ? i - 1 : 0] + detail[i] + 2) >> 2);
    }
    return {result};
  };
  return {.name = "signals/lifting",
          .program = trace(program, s32({kSamples})),
          .arguments = {uniform_integers({kSamples}, 0, 256)},
          .plain = plain};
}

/// A natural cubic spline: a tridiagonal system for the curvatures, then values at some places,
/// each in an interval that is searched.
Workload spline() {
  constexpr std::int64_t kKnots = 64, kPlaces = 2000;
  const auto program = [&](Tensor knots, Tensor values, Tensor places) {
    const auto down = [&](Tensor i, Tensor slopes, Tensor rights) {
      const Tensor before = knots[i] - knots[i - 1], after = knots[i + 1] - knots[i];
      const Tensor right =
          6 * ((values[i + 1] - values[i]) / after - (values[i] - values[i - 1]) / before);
      const Tensor pivot = 2 * (before + after) - before * slopes[i - 1];
      return std::tuple(update(slopes, i, after / pivot),
                        update(rights, i, (right - before * rights[i - 1]) / pivot));
    };
    const Tensor none = zeros(f32({kKnots}));
    const auto [slopes, rights] = fori_loop(1, kKnots - 1, down, std::tuple(none, none));
    const auto up = [&, slopes = slopes, rights = rights](Tensor k, Tensor bends) {
      const Tensor i = std::int32_t{kKnots - 2} - k;
      return update(bends, i, rights[i] - slopes[i] * bends[i + 1]);
    };
    const Tensor bends = fori_loop(0, kKnots - 2, up, none);
    const auto value = [&](Tensor x) {
      const auto halve = [&](Tensor low, Tensor high) {
        const Tensor middle = (low + high) >> 1;
        const Tensor is_left = x < knots[middle];
        return std::tuple(where(is_left, low, middle), where(is_left, middle, high));
      };
      const auto start = std::tuple(Tensor(0), Tensor(std::int32_t{kKnots - 1}));
      const Tensor low = std::get<0>(
          while_loop([](Tensor low, Tensor high) { return high - low > 1; }, halve, start));
      const Tensor h = knots[low + 1] - knots[low];
      const Tensor a = (knots[low + 1] - x) / h, b = (x - knots[low]) / h;
      return a * values[low] + b * values[low + 1] +
             ((a * a * a - a) * bends[low] + (b * b * b - b) * bends[low + 1]) * (h * h / 6);
    };
    return map(value, places);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto knots = arguments[0].data<float>(), values = arguments[1].data<float>(),
               places = arguments[2].data<float>();
    std::array<float, kKnots> slopes{}, rights{}, bends{};
    for (std::size_t i = 1; i + 1 < kKnots; i++) {
      const float before = knots[i] - knots[i - 1], after = knots[i + 1] - knots[i];
      const float right =
          6 * ((values[i + 1] - values[i]) / after - (values[i] - values[i - 1]) / before);
      const float pivot = 2 * (before + after) - before * slopes[i - 1];
      slopes[i] = after / pivot;
      rights[i] = (right - before * rights[i - 1]) / pivot;
    }
    for (std::size_t i = kKnots - 2; i > 0; i--) bends[i] = rights[i] - slopes[i] * bends[i + 1];
    Literal result = Literal::uninitialized(f32({kPlaces}));
    for (std::size_t n = 0; n < kPlaces; n++) {
      const float x = places[n];
      std::size_t low = 0, high = kKnots - 1;
      while (high - low > 1) {
        const std::size_t middle = (low + high) / 2;
        if (x < knots[middle])
          high = middle;
        else
          low = middle;
      }
      const float h = knots[low + 1] - knots[low];
      const float a = (knots[low + 1] - x) / h, b = (x - knots[low]) / h;
      result.mutable_data<float>()[n] =
          a * values[low] + b * values[low + 1] +
          ((a * a * a - a) * bends[low] + (b * b * b - b) * bends[low + 1]) * (h * h / 6);
    }
    return {result};
  };
  Literal knots = uniform_floats({kKnots}, 0, 0.5);
  for (std::size_t i = 0; i < kKnots; i++) knots.mutable_data<float>()[i] += static_cast<float>(i);
  return {.name = "tables/spline",
          .program = trace(program, f32({kKnots}), f32({kKnots}), f32({kPlaces})),
          .arguments = {knots, uniform_floats({kKnots}, -1, 1, 2),
                        uniform_floats({kPlaces}, 0.6, kKnots - 1.5, 3)},
          .plain = plain};
}

/// A system with a band of five diagonals, by elimination within the band.
Workload banded_system() {
  constexpr std::int64_t kRows = 400, kBeside = 2, kWidth = 2 * kBeside + 1;
  const auto program = [&](Tensor band, Tensor right) {
    const auto eliminate = [&](Tensor k, Tensor band, Tensor right) {
      for (int i = 1; i <= kBeside; i++) {
        const Tensor factor = at(band, {k + i, Tensor(int(kBeside) - i)}) / at(band, {k, kBeside});
        for (int j = 1; j <= kBeside; j++) {
          const int place = int(kBeside) - i + j;
          band = update(band, {k + i, place},
                        at(band, {k + i, place}) - factor * at(band, {k, kBeside + j}));
        }
        right = update(right, k + i, right[k + i] - factor * right[k]);
      }
      return std::tuple(band, right);
    };
    // Two more rows, of the identity, so that all steps are alike.
    const auto [reduced, rest] = fori_loop(0, kRows, eliminate, std::tuple(band, right));
    const auto solve = [&, reduced = reduced](Tensor n, Tensor x) {
      const Tensor k = std::int32_t{kRows - 1} - n;
      const Tensor sum = x[k] - at(reduced, {k, kBeside + 1}) * x[k + 1] -
                         at(reduced, {k, kBeside + 2}) * x[k + 2];
      return update(x, k, sum / at(reduced, {k, kBeside}));
    };
    return fori_loop(0, kRows, solve, rest);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    Literal matrix = arguments[0], result = arguments[1];
    double* band = matrix.mutable_data<double>().data();
    double* x = result.mutable_data<double>().data();
    for (std::size_t k = 0; k < kRows; k++) {
      const double* row = band + k * kWidth;
      for (std::size_t i = 1; i <= kBeside; i++) {
        double* below = band + (k + i) * kWidth + kBeside - i;
        const double factor = below[0] / row[kBeside];
        for (std::size_t j = 1; j <= kBeside; j++) below[j] -= factor * row[kBeside + j];
        x[k + i] -= factor * x[k];
      }
    }
    for (std::size_t k = kRows; k-- > 0;) {
      const double* row = band + k * kWidth;
      x[k] = (x[k] - row[kBeside + 1] * x[k + 1] - row[kBeside + 2] * x[k + 2]) / row[kBeside];
    }
    return {result};
  };
  Literal band = uniform_doubles({kRows + kBeside, kWidth}, -1, 1);
  for (std::size_t k = 0; k < kRows + kBeside; k++)
    band.mutable_data<double>()[k * kWidth + kBeside] += 5;
  return {.name = "matrices/banded_system",
          .program = trace(program, f64({kRows + kBeside, kWidth}), f64({kRows + kBeside})),
          .arguments = {band, uniform_doubles({kRows + kBeside}, -1, 1, 2)},
          .plain = plain};
}

/// An image without its small bright spots: the least of 5 x 5 pixels, then the largest.
Workload opening() {
  constexpr std::int64_t kSize = 96, kReach = 2;
  const auto program = [&](Tensor image) {
    const auto along = [&](Tensor x, int axis, int outside, auto combine) {
      const std::vector<std::int64_t> reach =
          axis == 0 ? std::vector<std::int64_t>{kReach, 0} : std::vector<std::int64_t>{0, kReach};
      const Tensor wide =
          pad(x, constant(static_cast<std::uint8_t>(outside)), reach, reach, {0, 0});
      const auto part = [&](std::int64_t k) {
        return axis == 0 ? slice(wide, range(k, k + kSize))
                         : slice(wide, range(), range(k, k + kSize));
      };
      Tensor best = part(0);
      for (std::int64_t k = 1; k <= 2 * kReach; k++) best = combine(best, part(k));
      return best;
    };
    const auto least = [](Tensor a, Tensor b) { return minimum(a, b); };
    const auto most = [](Tensor a, Tensor b) { return maximum(a, b); };
    const Tensor eroded = along(along(image, 1, 255, least), 0, 255, least);
    return along(along(eroded, 1, 0, most), 0, 0, most);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    Literal result = arguments[0];
    std::uint8_t* image = result.mutable_data<std::uint8_t>().data();
    static std::array<std::uint8_t, kSize * kSize> between;
    const auto pass = [&](auto combine) {
      for (int i = 0; i < kSize; i++) {
        for (int j = 0; j < kSize; j++) {
          std::uint8_t best = image[i * kSize + j];
          for (int k = std::max(j - 2, 0); k <= std::min(j + 2, int(kSize) - 1); k++)
            best = combine(best, image[i * kSize + k]);
          between[static_cast<std::size_t>(i * kSize + j)] = best;
        }
      }
      for (int i = 0; i < kSize; i++) {
        std::uint8_t* row = image + i * kSize;
        const int first = std::max(i - 2, 0), last = std::min(i + 2, int(kSize) - 1);
        for (int j = 0; j < kSize; j++)
          row[j] = between[static_cast<std::size_t>(first * kSize + j)];
        for (int k = first + 1; k <= last; k++)
          for (int j = 0; j < kSize; j++)
            row[j] = combine(row[j], between[static_cast<std::size_t>(k * kSize + j)]);
      }
    };
    pass([](std::uint8_t a, std::uint8_t b) { return std::min(a, b); });
    pass([](std::uint8_t a, std::uint8_t b) { return std::max(a, b); });
    return {result};
  };
  const Literal numbers = uniform_integers({kSize, kSize}, 0, 256);
  Literal image = Literal::uninitialized(u8({kSize, kSize}));
  for (std::size_t i = 0; i < kSize * kSize; i++)
    image.mutable_data<std::uint8_t>()[i] =
        static_cast<std::uint8_t>(numbers.data<std::int32_t>()[i]);
  return {.name = "pixels/opening",
          .program = trace(program, u8({kSize, kSize})),
          .arguments = {image},
          .plain = plain};
}

}  // namespace

std::vector<Workload> recursion_workloads() {
  return {levinson(), lifting(), spline(), banded_system(), opening()};
}

}  // namespace rondo::bench
