// top_k argpartition unique argwhere isin histogram segment_sum and its family, against plain
// loops.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "ops/moved.h"
#include "ops/sort.h"
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;
using Indices = std::vector<std::int32_t>;

/// Small numbers with ties, and NaN and zeros of both signs.
std::vector<double> drawn(Shapes& shapes, std::int64_t n) {
  std::vector<double> x;
  for (std::int64_t i = 0; i < n; i++) {
    const std::int64_t kind = shapes.number(0, 9);
    x.push_back(kind == 0   ? (shapes.number(0, 1) == 0 ? -1 : 1) * std::nan("")
                : kind == 1 ? -0.0
                            : static_cast<double>(shapes.number(-9, 9)) / 2);
  }
  return x;
}

/// NaN is equal to NaN, and after all others.
bool nan_less(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

template <class T>
class TopKOf : public ::testing::Test {};
using TopKTypes = ::testing::Types<std::int8_t, std::int32_t, std::int64_t, std::uint16_t, float16,
                                   bfloat16, float, double>;
TYPED_TEST_SUITE(TopKOf, TopKTypes);

TEST(TopK, IsTheHeadOfAStableSortFromTheGreatest) {
  Shapes shapes(3);
  for (const std::int64_t n : {1, 2, 5, 16, 40, 300, 301}) {
    const std::int64_t rows = shapes.number(1, 4), k = n == 301 ? 20 : shapes.number(0, n);
    const std::vector<double> x = drawn(shapes, rows * n);
    std::vector<double> values;
    Indices places;
    for (std::int64_t row = 0; row < rows; row++) {
      const auto at = [&](std::int32_t i) { return x[static_cast<std::size_t>(row * n + i)]; };
      Indices order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](std::int32_t a, std::int32_t b) { return nan_less(at(b), at(a)); });
      order.resize(static_cast<std::size_t>(k));
      for (const std::int32_t i : order) values.push_back(at(i));
      places.insert(places.end(), order.begin(), order.end());
    }
    const auto [got, indices] = top_k(Literal::from(x, {rows, n}), k);
    expect_values(got, {rows, k}, values);
    expect_values(indices, {rows, k}, places);
  }
}

// Few of many, for which the kernel selects, and many of many, for which it sorts.
TYPED_TEST(TopKOf, SelectsWhatASortHasFirst) {
  using T = TypeParam;
  struct Case {
    std::int64_t n, k;
  };
  Shapes shapes(13);
  for (const Case& c : {Case{100, 1}, Case{1000, 7}, Case{2000, 60}, Case{40, 39}, Case{33, 0}}) {
    std::vector<int> numbers;
    for (std::int64_t i = 0; i < 2 * c.n; i++)
      numbers.push_back(static_cast<int>(shapes.number(0, 100)));
    // Ascending: each one is greater than, or equal to, all before.
    if (c.k == 7) std::sort(numbers.begin(), numbers.end());
    std::vector<T> x;
    std::vector<double> values;
    for (const int number : numbers) x.push_back(static_cast<T>(static_cast<float>(number)));
    Indices places;
    for (std::int64_t row = 0; row < 2; row++) {
      const auto at = [&](std::int32_t i) {
        return numbers[static_cast<std::size_t>(row * c.n + i)];
      };
      Indices order(static_cast<std::size_t>(c.n));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](std::int32_t a, std::int32_t b) { return at(a) > at(b); });
      for (std::int64_t i = 0; i < c.k; i++) {
        places.push_back(order[static_cast<std::size_t>(i)]);
        values.push_back(at(places.back()));
      }
    }
    const auto [got, indices] = top_k(Literal::from(x, {2, c.n}), c.k);
    EXPECT_EQ(got.dtype(), dtype_of<T>);
    expect_values(convert(got, DType::kF64), {2, c.k}, values);
    expect_values(indices, {2, c.k}, places);
  }
}

TEST(TopK, HasDerivativesOfFewOfMany) {
  const Tensor x = reshape(sin(convert(arange(80) * arange(80), DType::kF64)), {2, 40});
  check_grads([](Tensor v) { return square(top_k(v, 3).first); }, std::tuple(x));
  const auto of_rows = vmap([](Tensor row) { return top_k(row, 3); })(x);
  const auto at_once = top_k(x, 3);
  EXPECT_TRUE(all(of_rows.first == at_once.first).item<bool>());
  EXPECT_TRUE(all(of_rows.second == at_once.second).item<bool>());
}

TEST(TopK, OfAllDtypes) {
  expect_values<std::int32_t>(top_k(constant({3, 9, -1, 9}), 2).first, {2}, {9, 9});
  expect_values<std::int32_t>(top_k(constant({3, 9, -1, 9}), 2).second, {2}, {1, 3});
  expect_values<std::uint8_t>(top_k(vec<std::uint8_t>({3, 200, 7}), 1).first, {1}, {200});
  expect_values<std::int32_t>(top_k(constant({2, 1}) == 1, 2).second, {2}, {1, 0});
  expect_values<float>(top_k(vec<float>({1, kNan, kInf, -kInf}), 4).first, {4},
                       {kNan, kInf, 1, -kInf});
  check_grads([](Tensor x) { return top_k(x, 2).first * top_k(sin(x), 2).first; },
              std::tuple(constant({{1.0, 3.0, 2.0}, {0.5, -1.0, 4.0}})));
}

// The region that texts contain is the order that the kernel knows.
TEST(TopK, ComparesFromTheGreatest) {
  const Function& greater = ops::descending_comparator(std::vector<DType>{DType::kF64});
  EXPECT_EQ(ops::known_order(greater), ops::KnownOrder{.descending = true});
  const Executable compares = compile(greater, {.optimize = false});
  const double values[] = {-HUGE_VAL, -1, -0.0, 0.0, 2, HUGE_VAL, std::nan("")};
  for (const double a : values) {
    for (const double b : values)
      EXPECT_EQ(compares.run({Literal::scalar(a), Literal::scalar(b)})[0].item<bool>(),
                nan_less(b, a));
  }
}

TEST(TopK, Misuse) {
  expect_error([] { top_k(arange(3), 4); },
               {"top_k: k is 4, the last axis of s32[3] has 3 elements", "from 0 to 3"});
  expect_error([] { top_k(arange(3), -1); }, {"top_k: k is -1"});
  expect_error([] { top_k(Tensor(1.0f), 1); }, {"top_k", "axis"});
  expect_error([] { top_k(zeros(c64({3})), 1); }, {"top_k: the operand is c64[3]", "rondo::real"});
}

TEST(Argpartition, PutsOneElementWhereASortDoes) {
  Shapes shapes(4);
  const std::vector<double> x = drawn(shapes, 30);
  std::vector<double> sorted = x;
  std::sort(sorted.begin(), sorted.end(), nan_less);
  for (const std::int64_t k : {0, 7, 29, -1, -30}) {
    const Literal places = argpartition(vec(x), k).eval();
    const auto at = [&](std::size_t i) {
      return x[static_cast<std::size_t>(places.data<std::int32_t>()[i])];
    };
    const auto middle = static_cast<std::size_t>(k < 0 ? k + 30 : k);
    EXPECT_EQ(std::isnan(at(middle)), std::isnan(sorted[middle]));
    if (!std::isnan(sorted[middle])) {
      EXPECT_EQ(at(middle), sorted[middle]);
    }
    for (std::size_t i = 0; i < 30; i++) {
      const std::size_t first = std::min(i, middle), last = std::max(i, middle);
      EXPECT_FALSE(nan_less(at(last), at(first))) << i;
    }
  }
  expect_error([] { argpartition(arange(3), 3); }, {"argpartition: k is 3, axis 0 of s32[3]"});
}

TEST(Unique, HasEachValueOnce) {
  Shapes shapes(5);
  for (const std::int64_t n : {1, 2, 9, 60}) {
    const std::vector<double> x = drawn(shapes, n);
    std::map<double, std::int32_t, decltype(&nan_less)> counts(&nan_less);
    for (const double value : x) counts[value]++;
    const auto distinct = static_cast<std::int64_t>(counts.size());
    Indices inverse;
    for (const double value : x)
      inverse.push_back(
          static_cast<std::int32_t>(std::distance(counts.begin(), counts.find(value))));
    for (const std::int64_t size : {distinct - 1, distinct, distinct + 3}) {
      std::vector<double> values;
      Indices how_often;
      for (const auto& [value, count] : counts) {
        values.push_back(value);
        how_often.push_back(count);
      }
      values.resize(static_cast<std::size_t>(size), 77);
      how_often.resize(values.size(), 0);
      const Unique got = unique(Literal::from(x, {n, 1}), size, 77);
      expect_values(got.values, {size}, values);
      expect_values(got.counts, {size}, how_often);
      expect_values(got.inverse, {n, 1}, inverse);
    }
  }
}

TEST(Unique, FillsWithTheLeastValue) {
  expect_values<std::int32_t>(unique(constant({5, 3, 5}), 4).values, {4}, {3, 5, 3, 3});
  const Unique none = unique(zeros(f32({2, 0})), 2, 8);
  expect_values<float>(none.values, {2}, {8, 8});
  expect_values<std::int32_t>(none.counts, {2}, {0, 0});
  expect_values<std::int32_t>(none.inverse, {2, 0}, {});
  expect_values<float>(unique(zeros(f32({0})), 1).values, {1}, {0});
  expect_values<bool>(unique(constant({1, 2}) == 1, 2).values, {2}, {false, true});
  expect_values<std::int32_t>(unique(Tensor(3), 1).inverse, {}, {0});
  // The cotangent of a value goes to where it is first.
  expect_values<double>(
      grad([](Tensor x) { return sum(square(unique(x, 3, 0).values)); })(vec<double>({4, 1, 4, 1})),
      {4}, {8, 2, 0, 0});
  expect_error([] { unique(arange(3), -1); }, {"unique: the size is -1"});
  expect_error([] { unique(arange(3), 2, 1.5); }, {"1.5"});
  expect_error([] { unique(arange(3), 2, arange(2)); }, {"unique: fill is s32[2]", "s32[]"});
}

TEST(Argwhere, IsRowMajor) {
  const Tensor x = constant({{0, 3, 0}, {7, 0, -1}});
  expect_values<std::int32_t>(argwhere(x, 3), {3, 2}, {0, 1, 1, 0, 1, 2});
  expect_values<std::int32_t>(argwhere(x, 2), {2, 2}, {0, 1, 1, 0});
  expect_values<std::int32_t>(argwhere(x > 2, 4, -1), {4, 2}, {0, 1, 1, 0, -1, -1, -1, -1});
  expect_values<std::int32_t>(argwhere(vec<float>({0, kNan, -0.0f}), 2, 9), {2, 1}, {1, 9});
  expect_values<std::int32_t>(argwhere(zeros(f32({0, 4})), 1, 5), {1, 2}, {5, 5});
  expect_values<std::int32_t>(argwhere(Tensor(1), 2), {2, 0}, {});
  expect_values<std::int32_t>(argwhere(x, 0), {0, 2}, {});
  expect_error([&] { argwhere(x, -1); }, {"argwhere: the size is -1"});
  expect_error([&] { argwhere(x, 1, zeros(f32())); }, {"argwhere: fill is f32[]"});
}

TEST(Isin, IsMembership) {
  const Tensor x = constant({{1, 2, 3}, {7, 2, -1}});
  expect_values<bool>(isin(x, constant({{2}, {7}})), {2, 3},
                      {false, true, false, true, true, false});
  expect_values<bool>(isin(x, zeros(s32({0}))), {2, 3}, std::vector<bool>(6, false));
  expect_values<bool>(isin(2, x), {}, {true});
  expect_values<bool>(isin(vec<float>({kNan, 0, kInf}), vec<float>({kNan, -0.0f, kInf})), {3},
                      {false, true, true});
  expect_error([&] { isin(x, zeros(f32({2}))); },
               {"isin: x is s32[2,3], values is f32[2]", "rondo::convert"});
}

TEST(Histogram, IsNumPys) {
  const Tensor x = vec<double>({0, 0.1, 0.25, 0.5, 0.99, 1, 1.01, -0.01, std::nan(""), 0.75});
  expect_values<std::int32_t>(histogram(x, 4, 0, 1), {4}, {2, 1, 1, 3});
  expect_values<std::int32_t>(histogram(constant({{1, 2}, {2, 5}}), 2, 1, 5), {2}, {3, 1});
  // Edges that rounding moves: numpy.histogram([0.3, 0.6, 0.7, ...], 10, (0, 1)).
  std::vector<double> edges;
  for (int i = 0; i <= 10; i++) edges.push_back(0.1 * i);
  expect_values<std::int32_t>(histogram(vec(edges), 10, 0, 1), {10},
                              {1, 1, 1, 1, 1, 1, 1, 1, 1, 2});
  expect_values<std::int32_t>(histogram(zeros(f32({0})), 3, 0, 1), {3}, {0, 0, 0});
  expect_error([&] { histogram(x, 0, 0, 1); }, {"histogram: 0 bins"});
  expect_error([&] { histogram(x, 2, Tensor(0.0f), 1); }, {"histogram: an end is f32[]", "kF64"});
}

TEST(Segments, AreReducedRowByRow) {
  Shapes shapes(6);
  for (int repeat = 0; repeat < 6; repeat++) {
    const std::int64_t n = shapes.number(0, 30), columns = shapes.number(1, 3),
                       count = shapes.number(0, 6);
    Indices ids;
    for (std::int64_t i = 0; i < n; i++)
      ids.push_back(static_cast<std::int32_t>(shapes.number(-2, 7)));
    std::vector<double> x;
    for (std::int64_t i = 0; i < n * columns; i++)
      x.push_back(static_cast<double>(shapes.number(-4, 4)));
    const auto by_loop = [&](double identity, auto combine) {
      std::vector<double> result(static_cast<std::size_t>(count * columns), identity);
      for (std::int64_t i = 0; i < n * columns; i++) {
        const std::int64_t id = ids[static_cast<std::size_t>(i / columns)];
        if (id < 0 || id >= count) continue;
        double& place = result[static_cast<std::size_t>(id * columns + i % columns)];
        place = combine(place, x[static_cast<std::size_t>(i)]);
      }
      return result;
    };
    const Tensor rows = Literal::from(x, {n, columns}), numbers = vec(ids);
    const Shape shape{count, columns};
    expect_values(segment_sum(rows, numbers, count), shape, by_loop(0, std::plus()));
    expect_values(segment_prod(rows, numbers, count), shape, by_loop(1, std::multiplies()));
    expect_values(segment_max(rows, numbers, count), shape,
                  by_loop(-HUGE_VAL, [](double a, double b) { return std::max(a, b); }));
    expect_values(segment_min(rows, numbers, count), shape,
                  by_loop(HUGE_VAL, [](double a, double b) { return std::min(a, b); }));
  }
}

TEST(Segments, OfOtherDtypes) {
  const Tensor ids = vec<std::uint8_t>({0, 2, 255, 0});
  const Tensor x = vec<std::int8_t>({3, -4, 9, 5});
  expect_values<std::int8_t>(segment_sum(x, ids, 3), {3}, {8, 0, -4});
  expect_values<std::int8_t>(segment_max(x, ids, 3), {3}, {5, -128, -4});
  expect_values<std::int8_t>(segment_min(x, ids, 3), {3}, {3, 127, -4});
  expect_values<std::int32_t>(segment_sum(x > 0, ids, 3), {3}, {2, 0, 0});
  expect_values<bool>(segment_max(x > 4, ids, 3), {3}, {true, false, false});
  check_grads(
      [](Tensor v) {
        const Tensor places = constant({1, 0, 1, 3});
        return std::tuple(segment_sum(v, places, 3), segment_prod(v, places, 3),
                          segment_max(v, places, 2), segment_min(v, places, 2));
      },
      std::tuple(constant({{1.5, -0.3}, {2.0, 0.7}, {0.4, 1.1}, {3.0, 0.2}})));
  expect_error([&] { segment_sum(x, arange(3), 2); },
               {"segment_sum: the operand is s8[4], ids are s32[3]", "s32[4]"});
  expect_error([&] { segment_max(x, convert(ids, DType::kF32), 2); }, {"ids are f32[4]"});
  expect_error([&] { segment_min(x, ids, -1); }, {"segment_min: -1 segments"});
  expect_error([&] { segment_prod(Tensor(1), ids, 1); }, {"segment_prod: the operand is a scalar"});
  expect_error([&] { segment_max(zeros(c64({4})), ids, 1); }, {"complex numbers have no order"});
}

}  // namespace
}  // namespace rondo
