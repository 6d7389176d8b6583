// argmax argmin, as computed by their kernel and by the variadic reduction that they become in HLO.
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

#include "ops/expanded.h"
#include "ops/moved.h"
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

void expect_both(const Literal& x, std::int64_t axis, const Shape& shape,
                 const std::vector<std::int32_t>& greatest,
                 const std::vector<std::int32_t>& least) {
  SCOPED_TRACE(x.type().str() + " axis " + std::to_string(axis));
  expect_values(argmax(Tensor(x), axis), shape, greatest);
  expect_values(argmin(Tensor(x), axis), shape, least);
  expect_values(run_expanded([&](Tensor y) { return argmax(y, axis); }, x)[0], shape, greatest);
  expect_values(run_expanded([&](Tensor y) { return argmin(y, axis); }, x)[0], shape, least);
}

template <class T>
class ArgExtreme : public ::testing::Test {};
using Types =
    ::testing::Types<std::int8_t, std::uint8_t, std::int32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(ArgExtreme, Types);

// Few different values, so that there are ties: the first counts.
TYPED_TEST(ArgExtreme, IsTheLoop) {
  using T = TypeParam;
  Shapes shapes(5);
  for (const Shape& shape :
       {Shape{1}, Shape{9}, Shape{3, 4}, Shape{2, 7, 3}, Shape{5, 1}, Shape{0, 3}}) {
    std::vector<T> x;
    for (std::int64_t i = 0; i < shape.elements(); i++)
      x.push_back(static_cast<T>(shapes.number(0, 3)));
    for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
      if (shape[axis] == 0) continue;
      std::vector<std::int64_t> dims = shape.vector();
      dims.erase(dims.begin() + axis);
      const Shape kept(dims);
      std::vector<std::int32_t> greatest, least;
      for_each_index(kept, [&](Index index) {
        index.insert(index.begin() + axis, 0);
        auto at = [&](std::int32_t k) {
          index[static_cast<std::size_t>(axis)] = k;
          return x[static_cast<std::size_t>(position(index, shape))];
        };
        std::int32_t high = 0, low = 0;
        for (std::int32_t k = 1; k < shape[axis]; k++) {
          if (at(k) > at(high)) high = k;
          if (at(k) < at(low)) low = k;
        }
        greatest.push_back(high);
        least.push_back(low);
      });
      expect_both(Literal::from(x, shape), axis, kept, greatest, least);
      if (shape.rank() > 1)
        expect_both(Literal::from(x, shape), axis - shape.rank(), kept, greatest, least);
    }
  }
}

TEST(ArgExtreme, TheFirstNanWins) {
  expect_both(Literal::from(std::vector<float>{1, kNan, 7, kNan}), 0, {}, {1}, {1});
  expect_both(Literal::from(std::vector<float>{kNan, 1, 2}), 0, {}, {0}, {0});
  expect_both(Literal::from(std::vector<float>{1, kNan, 5, 2, kNan, kNan}, {3, 2}), 0, {2}, {2, 0},
              {2, 0});
  const Tensor half = convert(vec<float>({1, kNan, 7, -kInf}), DType::kBF16);
  expect_scalar<std::int32_t>(argmax(half, 0), 1);
}

TEST(ArgExtreme, TheFirstOfEqualsWins) {
  expect_both(Literal::from(std::vector<float>{-kInf, -kInf}), 0, {}, {0}, {0});
  expect_both(Literal::from(std::vector<float>{kInf, kInf, -kInf, -kInf}), 0, {}, {0}, {2});
  expect_both(Literal::from(std::vector<float>{-0.0f, 0.0f, -0.0f}), 0, {}, {0}, {0});
  expect_both(Literal::from(std::vector<std::int32_t>{INT32_MIN, INT32_MIN}), 0, {}, {0}, {0});
}

TEST(ArgExtreme, OfPreds) {
  const Tensor x = vec_of<bool>(std::vector<int>{0, 1, 0, 1});
  expect_scalar<std::int32_t>(argmax(x, 0), 1);
  expect_scalar<std::int32_t>(argmin(!x, 0), 1);
}

TEST(ArgExtreme, MistakesAreNamed) {
  expect_error(
      [] {
        argmax(zeros(f32({0, 2})), 0);
      },
      {"argmax", "no elements", "axis 0", "f32[0,2]", "arg_extreme_test.cc"});
  expect_error([] { argmin(zeros(c64({2})), 0); }, {"argmin", "c64[2]", "no order"});
  expect_error([] { argmax(zeros(f32({2})), 1); }, {"argmax", "axis 1"});
  expect_error([] { argmax(Tensor(1.0f), 0); }, {"argmax", "scalar"});
  expect_error([] { argmax(broadcast_to(zeros(f32({1})), {std::int64_t{1} << 31}), 0); },
               {"argmax", "too long", "s32"});
}

/// Rows of all lengths, with ties and, among floats, NaN: the first of the best, NaN before all.
template <class T>
void expect_first_of_rows() {
  std::mt19937 random(22);
  for (std::int64_t length = 1; length < 200; length += length < 90 ? 1 : 13) {
    std::vector<T> row;
    for (std::int64_t i = 0; i < length; i++) row.push_back(static_cast<T>(random() % 50));
    if constexpr (std::is_floating_point_v<T>) {
      if (length % 3 == 0) row[random() % row.size()] = std::numeric_limits<T>::quiet_NaN();
      if (length % 4 == 0) row[0] = T(-0.0);
    }
    for (const bool greatest : {true, false}) {
      std::size_t want = 0;
      for (std::size_t i = 1; i < row.size(); i++) {
        if (row[want] != row[want]) break;
        if (row[i] != row[i] || (greatest ? row[i] > row[want] : row[i] < row[want])) want = i;
      }
      const Tensor x(Literal::from<T>(row, {length}));
      const Tensor got = greatest ? argmax(x, 0) : argmin(x, 0);
      EXPECT_EQ(got.item<std::int32_t>(), static_cast<std::int32_t>(want)) << length;
    }
  }
}

TEST(ArgExtreme, IsTheFirstOfALongRow) {
  expect_first_of_rows<float>();
  expect_first_of_rows<double>();
  expect_first_of_rows<std::int32_t>();
  expect_first_of_rows<std::uint8_t>();
}

}  // namespace
}  // namespace rondo
