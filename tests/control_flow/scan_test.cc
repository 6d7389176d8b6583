// scan, map, while_scan and associative_scan against plain C++ loops.
#include <numeric>

#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_error;
using testing::expect_scalar;
using testing::expect_values;

TEST(Scan, CumulativeSum) {
  const Tensor xs = constant({{1, 2}, {3, 4}, {5, 6}});
  auto [carry, ys] =
      scan([](Tensor c, Tensor x) { return std::pair(c + x, c + x); }, zeros(s32({2})), xs);
  expect_values<int>(carry, {2}, {9, 12});
  expect_values<int>(ys, {3, 2}, {1, 2, 4, 6, 9, 12});
}

TEST(Scan, RunningMeanOfATupleCarry) {
  auto [carry, means] = scan(
      [](Tensor sum, Tensor count, Tensor x) {
        const Tensor s = sum + x, n = count + 1;
        return std::pair(std::tuple(s, n), s / n);
      },
      std::tuple(0.0f, 0.0f), constant({1.0f, 2.0f, 3.0f, 4.0f, 5.0f}));
  expect_scalar(std::get<0>(carry), 15.0f);
  expect_scalar(std::get<1>(carry), 5.0f);
  expect_values<float>(means, {5}, {1, 1.5f, 2, 2.5f, 3});
}

TEST(Scan, ReverseIsFlipOfFlip) {
  auto [carry, ys] = scan([](Tensor c, Tensor x) { return std::pair(c + x, c + x); }, 0,
                          constant({1, 2, 3, 4}), {.reverse = true});
  expect_scalar(carry, 10);
  expect_values<int>(ys, {4}, {10, 9, 7, 4});
}

TEST(Scan, WithoutXs) {
  auto [carry, nothing] = scan([](Tensor c) { return std::pair(c + 1, std::tuple<>()); }, 0,
                               std::tuple<>(), {.length = 20});
  expect_scalar(carry, 20);
  auto [carry2, ys] = scan([](Tensor c, std::tuple<>) { return std::pair(c * 2, c); }, 1,
                           std::tuple<>(), {.length = 5});
  expect_scalar(carry2, 32);
  expect_values<int>(ys, {5}, {1, 2, 4, 8, 16});
}

TEST(Scan, ZeroLength) {
  auto [carry, ys] =
      scan([](Tensor c, Tensor x) { return std::pair(c + x, x * 2); }, 3, zeros(s32({0})));
  expect_scalar(carry, 3);
  EXPECT_EQ(ys.eval().type(), s32({0}));
  EagerScope eager;
  auto [carry2, ys2] =
      scan([](Tensor c, Tensor x) { return std::pair(c + x, x * 2); }, 3, zeros(s32({0})));
  expect_scalar(carry2, 3);
  EXPECT_EQ(ys2.eval().type(), s32({0}));
}

struct Drive {
  Tensor force, wind;
};

TEST(Scan, StructsAsXsAndYs) {
  auto [carry, ys] = scan(
      [](Tensor v, Drive d) {
        const Tensor next = v + d.force - d.wind;
        return std::pair(next, Drive{next, d.wind});
      },
      0, Drive{constant({1, 2, 3}), constant({0, 1, 0})});
  expect_scalar(carry, 5);
  expect_values<int>(ys.force, {3}, {1, 2, 5});
  expect_values<int>(ys.wind, {3}, {0, 1, 0});
}

TEST(Scan, OtherAxis) {
  const Tensor xs = constant({{1, 2, 3}, {4, 5, 6}});  // along axis 1: columns
  for (std::int64_t axis : {std::int64_t{1}, std::int64_t{-1}}) {
    auto [carry, ys] = scan([](Tensor c, Tensor x) { return std::pair(c + x, c + x); },
                            zeros(s32({2})), xs, {.axis = axis});
    expect_values<int>(carry, {2}, {6, 15});
    expect_values<int>(ys, {2, 3}, {1, 3, 6, 4, 9, 15});
  }
}

TEST(Scan, CarryUntouchedAndYThatIsX) {
  const Tensor xs = constant({3, 1, 2});
  auto [carry, ys] = scan([](Tensor c, Tensor x) { return std::pair(c, x); }, 7, xs);
  expect_scalar(carry, 7);
  expect_values<int>(ys, {3}, {3, 1, 2});
}

class ScanUnroll : public ::testing::TestWithParam<std::tuple<std::int64_t, std::int64_t, bool>> {};

TEST_P(ScanUnroll, GivesTheSame) {
  const auto [n, unroll, reverse] = GetParam();
  std::vector<int> x(static_cast<std::size_t>(n));
  std::iota(x.begin(), x.end(), 1);
  auto [carry, ys] = scan([](Tensor c, Tensor x) { return std::pair(c * 3 + x, c - x); }, 1,
                          constant(x, {n}), {.reverse = reverse, .unroll = unroll});
  std::vector<int> want(x.size());
  std::uint32_t c = 1;
  for (std::size_t k = 0; k < x.size(); k++) {
    const std::size_t i = reverse ? x.size() - 1 - k : k;
    want[i] = static_cast<int>(c - static_cast<std::uint32_t>(x[i]));
    c = c * 3 + static_cast<std::uint32_t>(x[i]);
  }
  expect_scalar(carry, static_cast<int>(c));
  expect_values<int>(ys, {n}, want);
}

INSTANTIATE_TEST_SUITE_P(All, ScanUnroll,
                         ::testing::Combine(::testing::Values(0, 1, 2, 7, 8),
                                            ::testing::Values(1, 2, 3, 8, kUnrollAll),
                                            ::testing::Bool()));

TEST(Scan, LongScanCostsTheSamePerRow) {
  // Each row is written in place: copying the stack for each row would be 2e10 bytes here.
  const std::int64_t n = 100'000;
  auto [carry, ys] =
      scan([](Tensor c) { return std::pair(c + 1, c); }, 0, std::tuple<>(), {.length = n});
  const Literal rows = ys.eval();
  EXPECT_EQ(rows.data<int>()[99'999], 99'999);
}

TEST(Map, AppliesToEachElement) {
  const Tensor xs = constant({{1, 2}, {3, 4}, {5, 6}});
  expect_values<int>(map([](Tensor x) { return sum(x); }, xs), {3}, {3, 7, 11});
  expect_values<int>(map([](Tensor x) { return sum(x); }, xs, {.batch_size = 2}), {3}, {3, 7, 11});
  auto [a, b] = map([](Tensor x, Tensor y) { return std::pair(x + y, x - y); },
                    std::tuple(constant({1, 2}), constant({10, 20})));
  expect_values<int>(a, {2}, {11, 22});
  expect_values<int>(b, {2}, {-9, -18});
}

TEST(WhileScan, StopsEarly) {
  auto result = while_scan([](Tensor c) { return c < 100; },
                           [](Tensor c) { return std::pair(c * 2, c); }, 1, {.max_trip_count = 10});
  expect_scalar(result.carry, 128);
  expect_scalar(result.count, 7);
  expect_values<int>(result.ys, {10}, {1, 2, 4, 8, 16, 32, 64, 0, 0, 0});
}

TEST(WhileScan, StopsAtTheLimit) {
  for (bool eager : {false, true}) {
    std::optional<EagerScope> scope;
    if (eager) scope.emplace();
    auto result =
        while_scan([](Tensor) { return true; }, [](Tensor c) { return std::pair(c + 1, c); }, 0,
                   {.max_trip_count = 3});
    expect_scalar(result.carry, 3);
    expect_scalar(result.count, 3);
    expect_values<int>(result.ys, {3}, {0, 1, 2});
  }
}

TEST(AssociativeScan, PrefixSumsOfAnyLength) {
  for (std::int64_t n = 0; n <= 17; n++) {
    std::vector<int> x(static_cast<std::size_t>(n));
    std::iota(x.begin(), x.end(), 1);
    std::vector<int> want(x.size()), backwards(x.size());
    std::partial_sum(x.begin(), x.end(), want.begin());
    std::partial_sum(x.rbegin(), x.rend(), backwards.rbegin());
    auto add = [](Tensor a, Tensor b) { return a + b; };
    expect_values<int>(associative_scan(add, constant(x, {n})), {n}, want);
    expect_values<int>(associative_scan(add, constant(x, {n}), {.reverse = true}), {n}, backwards);
  }
}

TEST(AssociativeScan, LinearRecurrenceOfATree) {
  // h = a h + b as the composition of affine maps.
  using Affine = std::pair<Tensor, Tensor>;
  const std::vector<float> a{0.5f, 2, -1, 0.25f, 3}, b{1, 0, 2, -4, 1};
  auto [scale, offset] = associative_scan(
      [](Affine f, Affine g) { return Affine(f.first * g.first, g.first * f.second + g.second); },
      Affine(constant(a, {5}), constant(b, {5})));
  std::vector<float> want;
  float h = 0;
  for (std::size_t i = 0; i < 5; i++) want.push_back(h = a[i] * h + b[i]);
  testing::expect_close<float>(offset, {5}, want);
}

TEST(ScanErrors, AllLengthsAreListed) {
  expect_error(
      [] {
        scan([](Tensor c, Drive d) { return std::pair(c + d.force + d.wind, c); }, 0,
             Drive{constant({1, 2, 3}), constant({1, 2})});
      },
      {"the lengths along axis 0 disagree", "xs.force: 3 (s32[3])", "xs.wind: 2 (s32[2])",
       "scan_test.cc:"});
  expect_error(
      [] {
        scan([](Tensor c, Tensor x) { return std::pair(c + x, c); }, 0, constant({1, 2, 3}),
             {.length = 4});
      },
      {"length: 4", "xs: 3"});
}

TEST(ScanErrors, Texts) {
  auto f = [](Tensor c) { return std::pair(c, c); };
  expect_error([&] { scan(f, 0, std::tuple<>()); },
               {"without xs the length is not known", ".length = n"});
  expect_error([&] { scan(f, 0, std::tuple<>(), {.length = -1}); }, {"length is -1"});
  expect_error([&] { scan([](Tensor c, Tensor x) { return std::pair(c + x, c); }, 0, Tensor(1)); },
               {"xs is s32[], which has no axis 0"});
  expect_error(
      [&] {
        scan([](Tensor c, Tensor x) { return std::pair(c + x, c); }, 0, constant({1.0f}),
             {.name = "mix"});
      },
      {"s32", "f32", "convert"});
  expect_error(
      [&] {
        scan([](Tensor c, Tensor) { return std::pair(convert(c, DType::kF32), c); }, 0,
             constant({1}), {.name = "mix"});
      },
      {"the body of scan 'mix' changes the carry", "carry: s32[] goes in, f32[] comes out"});
}

}  // namespace
}  // namespace rondo
