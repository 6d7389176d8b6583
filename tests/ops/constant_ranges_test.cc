// constant of ranges: vectors, arrays, spans, C arrays, nested.
#include <array>
#include <list>
#include <span>
#include <valarray>
#include <vector>

#include "support/expect.h"

namespace rondo::testing {
namespace {

TEST(ConstantOfRanges, EmptyBracesAreTheShapeOfAScalar) {
  expect_values<float>(constant(std::vector<float>{5}, {}), {}, {5});
  expect_values<float>(constant(std::array<float, 1>{5}, {}), {}, {5});
  expect_values<float>(constant({5.0f}, {}), {}, {5});
  expect_values<int>(constant({1, 2, 3, 4}, {2, 2}), {2, 2}, {1, 2, 3, 4});
  expect_values<float>(constant(std::vector<float>{5, 6}, Shape{2, 1}), {2, 1}, {5, 6});
  expect_values<int>(constant({{1, 2}, {3, 4}}, SourceLocation{}), {2, 2}, {1, 2, 3, 4});
}

TEST(ConstantOfRanges, OfOneRange) {
  const std::array<double, 3> array{1, 2, 3};
  expect_values<double>(constant(array), {3}, {1, 2, 3});
  expect_values<double>(constant(std::span(array)), {3}, {1, 2, 3});
  std::vector<double> vector{4, 5};
  expect_values<double>(constant(std::span(vector)), {2}, {4, 5});
  expect_values<std::int64_t>(constant(std::list<std::int64_t>{4, 5}), {2}, {4, 5});
  expect_values<float>(constant(std::valarray<float>{4, 5}), {2}, {4, 5});
  expect_values<bool>(constant(std::vector<bool>{true, false}), {2}, {true, false});
  expect_values<bool>(constant(std::array<bool, 2>{true, false}), {2}, {true, false});
  const float numbers[] = {1, 2};
  expect_values<float>(constant(numbers), {2}, {1, 2});
  expect_values<float>(constant(std::array<float, 0>{}), {0}, {});
}

TEST(ConstantOfRanges, OfRangesOfRanges) {
  const std::vector<std::array<float, 3>> points{{1, 2, 3}, {4, 5, 6}};
  expect_values<float>(constant(points), {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_values<float>(constant(std::span(points)), {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_values<float>(constant(std::array<std::vector<float>, 2>{{{1, 2}, {3, 4}}}), {2, 2},
                       {1, 2, 3, 4});
  const int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
  expect_values<int>(constant(table), {2, 3}, {1, 2, 3, 4, 5, 6});
  const int cube[2][1][2] = {{{1, 2}}, {{3, 4}}};
  expect_values<int>(constant(cube), {2, 1, 2}, {1, 2, 3, 4});
  const std::vector<std::vector<std::array<bool, 2>>> bits{{{true, false}}, {{false, true}}};
  expect_values<bool>(constant(bits), {2, 1, 2}, {true, false, false, true});
  expect_values<bool>(constant(std::vector<std::vector<bool>>{{true}, {false}}), {2, 1},
                      {true, false});
  // In another shape, in row-major order.
  expect_values<float>(constant(points, {3, 2}), {3, 2}, {1, 2, 3, 4, 5, 6});
}

// What the type of an empty range determines is kept.
TEST(ConstantOfRanges, OfNothing) {
  expect_values<float>(constant(std::vector<std::array<float, 3>>{}), {0, 3}, {});
  expect_values<float>(constant(std::vector<std::vector<float>>{}), {0, 0}, {});
  expect_values<float>(constant(std::vector<std::vector<float>>{{}, {}}), {2, 0}, {});
  expect_values<float>(constant(std::array<std::array<float, 0>, 2>{}), {2, 0}, {});
}

TEST(ConstantOfRanges, RaggedOnesAreRefusedWithTheirPlace) {
  expect_error(
      [] {
        (void)constant(std::array<std::vector<int>, 3>{{{1, 2}, {3, 4}, {5}}});
      },
      {"constant", "row 2 has 1 elements", "row 0 has 2", "constant_ranges_test.cc",
       "Fill the shorter ones"});
  using Rows = std::vector<std::vector<int>>;
  expect_error(
      [] {
        (void)constant(std::vector<Rows>{{{1}, {2}}, {{3}, {4, 5}}});
      },
      {"row [1][1] has 2 elements", "row [0][0] has 1"});
  expect_error(
      [] {
        (void)constant(std::vector<Rows>{{{1}, {2}}, {{3}}});
      },
      {"row 1 has 1 elements", "row 0 has 2"});
  expect_error(
      [] {
        (void)constant(std::vector<std::vector<float>>{{}, {1}});
      },
      {"row 1 has 1 elements", "row 0 has 0"});
}

template <class T>
constexpr bool kIsTaken = requires(const T& value) {
  constant(value);
};
static_assert(kIsTaken<std::vector<std::vector<std::vector<float>>>>);
static_assert(!kIsTaken<std::vector<std::vector<Tensor>>>);

}  // namespace
}  // namespace rondo::testing
