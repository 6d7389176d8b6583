// gradient trapezoid cumulative_trapezoid convolve correlate polyval polyfit, the nan-functions,
// meshgrid and the frequencies, compared with NumPy 2.4 and SciPy 1.17 and with plain loops.
#include "ops/moved.h"
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

const std::vector<double> kSamples{1, 2, 4, 7, 11.5};
const std::vector<double> kPlaces{0, 1, 1.5, 3.5, 4};

TEST(Numeric, Gradient) {
  const Tensor y = vec(kSamples), x = vec(kPlaces);
  expect_values<double>(gradient(y, 2), {5}, {0.5, 0.75, 1.25, 1.875, 2.25});
  expect_close<double>(gradient(y, x), {5}, {1, 3, 3.5, 7.5, 9}, 1e-15);
  expect_values<double>(gradient(constant({{1.0, 2.0, 6.0}, {3.0, 4.0, 5.0}}), 1, 0), {2, 3},
                        {2, 2, -1, 2, 2, -1});
  expect_values<double>(gradient(vec<double>({3, 7}), vec<double>({0, 0.5})), {2}, {8, 8});
  // Exact for a parabola on any points, along any axis.
  const Tensor both = stack({square(x), 3 * square(x) - x}, 1);
  const Literal got = slice(gradient(both, x, 0), range(1, -1)).eval();
  for (std::size_t i = 0; i < 3; i++) {
    EXPECT_NEAR(got.data<double>()[2 * i], 2 * kPlaces[i + 1], 1e-13);
    EXPECT_NEAR(got.data<double>()[2 * i + 1], 6 * kPlaces[i + 1] - 1, 1e-13);
  }
  check_grads(
      [](Tensor f, Tensor p) { return std::tuple(gradient(f, p), gradient(f, p[1]), gradient(f)); },
      std::tuple(y, x));
  expect_error([] { gradient(arange(3)); }, {"gradient: takes floats"});
  expect_error([] { gradient(vec<double>({1})); }, {"gradient: axis 0 of f64[1] has 1 samples"});
  expect_error(
      [&] {
        gradient(y, vec<double>({1, 2}));
      },
      {"gradient: y is f64[5], x is f64[2]", "5 coordinates"});
  expect_error([&] { gradient(y, Tensor(1.0f)); }, {"y is f64[5], x is f32[]", "convert"});
}

TEST(Numeric, Integrals) {
  const Tensor y = vec(kSamples), x = vec(kPlaces);
  expect_values<double>(trapezoid(y), {}, {19.25});
  expect_values<double>(trapezoid(y, 0.5), {}, {9.625});
  expect_values<double>(trapezoid(y, x), {}, {18.625});
  expect_values<double>(cumulative_trapezoid(y, x), {4}, {1.5, 3, 14, 18.625});
  const Tensor rows = stack({y, 2 * y}, 0), places = stack({x, x + 1}, 0);
  expect_values<double>(trapezoid(rows, places), {2}, {18.625, 37.25});
  expect_values<double>(trapezoid(transpose(rows), x, 0), {2}, {18.625, 37.25});
  expect_values<double>(cumulative_trapezoid(rows, 1, 0), {1, 5}, {1.5, 3, 6, 10.5, 17.25});
  expect_values<double>(trapezoid(vec<double>({3})), {}, {0});
  expect_values<double>(cumulative_trapezoid(vec<double>({3})), {0}, {});
  check_grads(
      [](Tensor f, Tensor p) {
        return std::tuple(trapezoid(f, p), cumulative_trapezoid(f, p), trapezoid(f, p[1]));
      },
      std::tuple(y, x));
  expect_error([] { trapezoid(zeros(f32({2, 0}))); }, {"trapezoid: axis 1 of f32[2,0] has 0"});
  expect_error([&] { trapezoid(rows, vec<double>({1, 2})); }, {"or an array of the shape of y"});
}

TEST(Numeric, Convolve) {
  Shapes shapes(12);
  // With more than 16 terms, a loop.
  for (const auto& [n, m] : {std::pair{5, 3}, {3, 5}, {1, 1}, {4, 4}, {40, 20}, {1, 30}}) {
    std::vector<double> a, v, full(static_cast<std::size_t>(n + m - 1), 0);
    for (int i = 0; i < n; i++) a.push_back(static_cast<double>(shapes.number(-9, 9)));
    for (int i = 0; i < m; i++) v.push_back(static_cast<double>(shapes.number(-9, 9)));
    for (std::size_t i = 0; i < a.size(); i++)
      for (std::size_t j = 0; j < v.size(); j++) full[i + j] += a[i] * v[j];
    expect_values(convolve(vec(a), vec(v)), {n + m - 1}, full);
    const std::size_t most = a.size() > v.size() ? a.size() : v.size(),
                      least = a.size() + v.size() - most;
    const auto part = [&](std::size_t start, std::size_t count) {
      const auto begin = full.begin() + static_cast<std::ptrdiff_t>(start);
      return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    expect_vec(convolve(vec(a), vec(v), "same"), part((least - 1) / 2, most));
    expect_vec(convolve(vec(a), vec(v), "valid"), part(least - 1, most - least + 1));
  }
  check_grads([](Tensor a, Tensor v) { return std::tuple(convolve(a, v), convolve(v, a, "same")); },
              std::tuple(vec(kSamples), vec<double>({0.5, -1, 2})));
  const Tensor ones17 = ones(f16({17}));  // summed in f32
  EXPECT_EQ(convolve(ones17 * 2048, ones17, "valid").dtype(), DType::kF16);
  expect_error([] { convolve(arange(3), arange(0)); }, {"convolve: an operand is s32[0]"});
  expect_error([] { convolve(arange(3), arange(2), "some"); },
               {"the mode is \"some\"", "\"full\""});
  expect_error(
      [] {
        convolve(zeros(f32({2, 2})), zeros(f32({2})));
      },
      {"an operand is f32[2,2]; it must have 1 axis"});
}

TEST(Numeric, Correlate) {
  const Tensor a = arange(5) + 1, v = constant({1, -2, 4}), w = constant({1, 2, 3, 4});
  expect_values<std::int32_t>(correlate(a, v, "full"), {7}, {4, 6, 9, 12, 15, -6, 5});
  expect_values<std::int32_t>(correlate(a, v, "same"), {5}, {6, 9, 12, 15, -6});
  expect_values<std::int32_t>(correlate(a, v), {3}, {9, 12, 15});
  expect_values<std::int32_t>(correlate(v, a, "full"), {7}, {5, -6, 15, 12, 9, 6, 4});
  expect_values<std::int32_t>(correlate(v, a, "same"), {5}, {-6, 15, 12, 9, 6});
  expect_values<std::int32_t>(correlate(v, a), {3}, {15, 12, 9});
  expect_values<std::int32_t>(correlate(a, w, "same"), {5}, {11, 20, 30, 40, 26});
  expect_values<std::int32_t>(correlate(w, a, "same"), {5}, {26, 40, 30, 20, 11});
  using C = std::complex<double>;
  const Tensor z = correlate(vec<C>({{1, 2}, {0, 3}, {1, 0}}), vec<C>({{0, 1}, {2, -1}}), "full");
  expect_complex<double>(z, {{0, 5}, {-1, 5}, {5, 1}, {0, -1}});
}

TEST(Numeric, Polynomials) {
  expect_values<double>(polyval(vec<double>({3, -2, 0.5}), vec<double>({0, 1, -2})), {3},
                        {0.5, 1.5, 16.5});
  expect_values<std::int32_t>(polyval(arange(20), constant({{1, 0}})), {1, 2}, {190, 19});
  expect_values<float>(polyval(zeros(f32({0})), Tensor(2.0f)), {}, {0});
  const Tensor x = linspace(-1, 2, 9, DType::kF64), y = sin(x);
  expect_close<double>(polyfit(x, y, 0), {1}, {0.28383166043818625}, 1e-13);
  expect_close<double>(polyfit(x, y, 1), {2}, {0.6573157961353874, -0.04482623762950758}, 1e-13);
  expect_close<double>(
      polyfit(x, y, 3), {4},
      {-0.12631620657866513, -0.00735637572130764, 0.9690152820821646, 0.0014814068897388841},
      1e-12, 1e-14);
  expect_close<double>(polyfit(x, stack({y, square(x)}, 1), 2), {3, 2},
                       {-0.19683068558930483, 1, 0.8541464817246915, 0, 0.09049485871314, 0}, 1e-12,
                       1e-14);
  // Of high degree: the values are those of the function.
  const Tensor dense = linspace(0, 1, 40, DType::kF64);
  const Tensor error = polyval(polyfit(dense, exp(dense), 10), dense) - exp(dense);
  EXPECT_LT(max(abs(error)).item<double>(), 1e-13);
  check_grads([](Tensor p, Tensor f) { return polyval(polyfit(p, f, 2), p); },
              std::tuple(vec(kPlaces), vec(kSamples)));
  expect_error([&] { polyfit(x, y, 9); }, {"polyfit: degree 9 for 9 points"});
  expect_error([&] { polyfit(x, y[0], 1); }, {"polyfit: x is f64[9], y is f64[]"});
  expect_error([&] { polyval(y[0], x); }, {"polyval: the coefficients is f64[]"});
}

TEST(Numeric, WithoutNan) {
  const double nan = std::nan("");
  const Tensor x = constant({{1.0, nan, 3.0}, {nan, nan, nan}, {4.0, -1.0, 2.5}});
  expect_values<double>(nansum(x, 1), {3}, {4, 0, 5.5});
  expect_close<double>(nanmean(x, 1), {3}, {2, nan, 1.8333333333333333}, 1e-15);
  expect_values<double>(nanmax(x, 1), {3}, {3, nan, 4});
  expect_values<double>(nanmin(x, {1}, true), {3, 1}, {1, nan, -1});
  expect_close<double>(nanvar(x, 1), {3}, {1, nan, 4.388888888888888}, 1e-14);
  expect_close<double>(nanvar(x, 0, false, 1), {3}, {4.5, nan, 0.125}, 1e-14);
  expect_close<double>(nanmean(x), {}, {1.9}, 1e-15);
  expect_close<double>(nanvar(x), {}, {3.04}, 1e-14);
  expect_values<double>(nanmax(vec<double>({-HUGE_VAL, nan})), {}, {-HUGE_VAL});
  expect_values<double>(nanvar(vec<double>({1, HUGE_VAL})), {}, {nan});
  expect_values<std::int32_t>(nanmax(arange(4)), {}, {3});
  expect_values<std::int32_t>(nansum(arange(4) > 1), {}, {2});
  using C = std::complex<float>;
  expect_complex<float>(nanmean(vec<C>({{1, 2}, {kNan, 0}, {3, -1}}), {}, true), {{2, 0.5f}});
  expect_values<float>(nanvar(vec<C>({{1, 2}, {kNan, 0}, {3, 2}})), {}, {1});
  // NaN receives no cotangent, and gives none to the others.
  expect_values<double>(
      grad([](Tensor v) { return nansum(3 * v) + nanmax(v); })(vec<double>({1, nan, 3})), {3},
      {3, 0, 4});
  expect_values<double>(grad([](Tensor v) { return 2 * nanvar(v); })(vec<double>({1, nan, 3})), {3},
                        {-2, 0, 2});
  expect_error([] { nanmean(arange(3)); }, {"nanmean: takes floats"});
  expect_error([] { nanmax(zeros(c64({2}))); }, {"nanmax: takes floats", "rondo::real"});
}

TEST(Numeric, GridsAndFrequencies) {
  const auto [x, y] = meshgrid(arange(3), constant({0.5f, 1.5f}));
  expect_values<std::int32_t>(x, {2, 3}, {0, 1, 2, 0, 1, 2});
  expect_values<float>(y, {2, 3}, {0.5f, 0.5f, 0.5f, 1.5f, 1.5f, 1.5f});
  expect_error([] { meshgrid(arange(3), Tensor(1)); }, {"meshgrid: y is s32[]"});
  expect_close<double>(fftfreq(5, 0.1, DType::kF64), {5}, {0, 2, 4, -4, -2}, 1e-15);
  expect_close<float>(fftfreq(6), {6}, {0, 1 / 6.0f, 1 / 3.0f, -0.5f, -1 / 3.0f, -1 / 6.0f});
  expect_close<double>(rfftfreq(5, 0.1, DType::kF64), {3}, {0, 2, 4}, 1e-15);
  expect_close<float>(rfftfreq(6, Tensor(2.0f)), {4}, {0, 1 / 12.0f, 1 / 6.0f, 0.25f});
  expect_values<std::int32_t>(fftshift(arange(5)), {5}, {3, 4, 0, 1, 2});
  expect_values<std::int32_t>(ifftshift(arange(5)), {5}, {2, 3, 4, 0, 1});
  const Tensor m = reshape(arange(6), {2, 3});
  expect_values<std::int32_t>(fftshift(m), {2, 3}, {5, 3, 4, 2, 0, 1});
  expect_values<std::int32_t>(fftshift(m, 1), {2, 3}, {2, 0, 1, 5, 3, 4});
  expect_values<std::int32_t>(ifftshift(fftshift(m)), {2, 3}, {0, 1, 2, 3, 4, 5});
  expect_error([] { fftfreq(0); }, {"fftfreq: 0 samples"});
  expect_error([] { rfftfreq(4, 1, DType::kS32); }, {"rfftfreq: frequencies of s32"});
  expect_error([] { fftfreq(4, Tensor(1.0)); }, {"fftfreq: d is f64[]; it must be f32[]"});
}

}  // namespace
}  // namespace rondo
