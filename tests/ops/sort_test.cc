// sort argsort sort_by.
#include "ops/sort.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <string_view>

#include "ir/node.h"
#include "ops/moved.h"
#include "ops/vectors.h"
#include "support/definition.h"

namespace rondo {
namespace {

using namespace testing;

/// NaN last, -0 equal to 0.
template <class T>
bool goes_before(T a, T b) {
  return a < b || (b != b && a == a);
}

/// Calls line(start, step) for each line along the axis.
template <class Line>
void for_each_line(const Shape& shape, std::int64_t axis, Line&& line) {
  std::int64_t step = 1;
  for (std::int64_t i = axis + 1; i < shape.rank(); i++) step *= shape[i];
  for_each_index(shape, [&](const Index& index) {
    if (index[static_cast<std::size_t>(axis)] == 0) line(position(index, shape), step);
  });
}

template <class T>
class Sort : public ::testing::Test {};
using SortedTypes =
    ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                     std::uint16_t, std::uint32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(Sort, SortedTypes);

// Against std::stable_sort, with many ties; long enough for each of the kernel's algorithms.
TYPED_TEST(Sort, IsStableSortAlongEachAxis) {
  using T = TypeParam;
  Shapes shapes(11);
  for (const Shape& shape : {Shape{1}, Shape{2}, Shape{20}, Shape{300}, Shape{3000}, Shape{3, 4},
                             Shape{30, 3}, Shape{2, 50, 2}, Shape{0}, Shape{2, 0}}) {
    std::vector<T> x;
    for (std::int64_t i = 0; i < shape.elements(); i++) {
      const std::int64_t wide =
          shapes.number(0, 3) == 0 ? std::numeric_limits<std::int64_t>::max() / 2 : 20;
      x.push_back(static_cast<T>(shapes.number(-wide, wide)));
    }
    for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
      std::vector<T> sorted(x.size());
      std::vector<std::int32_t> places(x.size());
      for_each_line(shape, axis, [&](std::int64_t start, std::int64_t step) {
        std::vector<std::int32_t> order(static_cast<std::size_t>(shape[axis]));
        std::iota(order.begin(), order.end(), 0);
        auto at = [&](std::int64_t k) { return static_cast<std::size_t>(start + k * step); };
        std::stable_sort(order.begin(), order.end(),
                         [&](std::int32_t a, std::int32_t b) { return x[at(a)] < x[at(b)]; });
        for (std::size_t k = 0; k < order.size(); k++) {
          sorted[at(static_cast<std::int64_t>(k))] = x[at(order[k])];
          places[at(static_cast<std::int64_t>(k))] = order[k];
        }
      });
      const Tensor tensor = Literal::from(x, shape);
      SCOPED_TRACE(tensor.type().str() + " axis " + std::to_string(axis));
      expect_values(sort(tensor, axis), shape, sorted);
      expect_values(argsort(tensor, axis - shape.rank()), shape, places);
    }
  }
}

TEST(Sort, TheLastAxisIsTheDefault) {
  const Tensor x = constant({{3, 1, 2}, {9, 7, 8}});
  expect_values<std::int32_t>(sort(x), {2, 3}, {1, 2, 3, 7, 8, 9});
  expect_values<std::int32_t>(argsort(x), {2, 3}, {1, 2, 0, 1, 2, 0});
}

template <class T>
class SortFloats : public ::testing::Test {};
using SortedFloats = ::testing::Types<float16, bfloat16, float, double>;
TYPED_TEST_SUITE(SortFloats, SortedFloats);

// Like jnp.sort: NaN last whatever its sign, -0 equal to 0, so both keep their order and their
// signs.
TYPED_TEST(SortFloats, NanIsLastAndZerosAreEqual) {
  const float nan = std::copysign(kNan, -1.0f);
  const std::vector<float> x{kNan, 1, 0.0f, -kInf, -0.0f, nan, kInf, -2, 0.0f, 1};
  const std::vector<float> want{-kInf, -2, 0.0f, -0.0f, 0.0f, 1, 1, kInf, kNan, nan};
  for (int copies : {1, 100}) {
    std::vector<TypeParam> values;
    for (int i = 0; i < copies; i++) {
      for (float v : x) values.push_back(TypeParam(v));
    }
    const Literal sorted = sort(vec(values)).eval();
    const auto data = sorted.data<TypeParam>();
    std::vector<float> expected = want;
    if (copies > 1) {
      expected.assign(x.begin(), x.end());
      for (int i = 1; i < copies; i++) expected.insert(expected.end(), x.begin(), x.end());
      std::stable_sort(expected.begin(), expected.end(), goes_before<float>);
    }
    for (std::size_t i = 0; i < expected.size(); i++) {
      const float got = static_cast<float>(data[i]);
      EXPECT_TRUE(got == expected[i] || (std::isnan(got) && std::isnan(expected[i])))
          << i << ": " << got;
      EXPECT_EQ(std::signbit(got), std::signbit(expected[i])) << i;
    }
  }
  std::vector<TypeParam> values;
  for (float v : x) values.push_back(TypeParam(v));
  expect_vec<std::int32_t>(argsort(vec(values)), {3, 7, 2, 4, 8, 1, 9, 6, 0, 5});
}

TEST(Sort, OfPreds) {
  const Tensor x = vec_of<bool>(std::vector<int>{1, 0, 1, 0});
  expect_vec<bool>(sort(x), {false, false, true, true});
  expect_vec<std::int32_t>(argsort(x), {1, 3, 0, 2});
}

TEST(Sort, ComplexNumbersByTheirParts) {
  using C = std::complex<float>;
  const Tensor x =
      vec<C>({{2, 1}, {1, 5}, {kNan, 0}, {1, kNan}, {2, -1}, {1, -5}, {-0.0f, 0}, {0, -1}});
  expect_vec<std::int32_t>(argsort(x), {7, 6, 5, 1, 3, 4, 0, 2});
  expect_complex<float>(sort(slice(x, {4}, {8})), {{0, -1}, {-0.0f, 0}, {1, -5}, {2, -1}});
}

// The emitted comparator regions have the semantics of the kernel that recognises them.
TEST(Sort, TheComparatorsMeanTheOrder) {
  const std::vector<float> x{kNan, 1, 0.0f, -kInf, -0.0f, std::copysign(kNan, -1.0f), kInf, -2};
  const Function& region = ops::ascending_comparator(std::vector<DType>{DType::kF32});
  const Executable less = compile(region, {.optimize = false});
  for (float a : x) {
    for (float b : x) {
      EXPECT_EQ(less.run({Literal::scalar(a), Literal::scalar(b)})[0].item<bool>(),
                goes_before(a, b))
          << a << " " << b;
    }
  }
  using C = std::complex<double>;
  const Executable less_complex =
      compile(ops::ascending_comparator(std::vector<DType>{DType::kC128}), {.optimize = false});
  const std::vector<C> z{{kNan, 1}, {1, kNan}, {1, 2}, {1, -2}, {0, 1}, {-0.0, 2}, {kNan, kNan}};
  for (const C& a : z) {
    for (const C& b : z) {
      const bool equal = a.real() == b.real() || (std::isnan(a.real()) && std::isnan(b.real()));
      const bool want =
          goes_before(a.real(), b.real()) || (equal && goes_before(a.imag(), b.imag()));
      EXPECT_EQ(less_complex.run({Literal::scalar(a), Literal::scalar(b)})[0].item<bool>(), want)
          << a << " " << b;
    }
  }
}

TEST(Sort, KnowsItsComparatorsAgain) {
  auto order = [](const Tensor& sorted) {
    return ops::known_order(definition_of(sorted).node()->regions[0]);
  };
  const Tensor x = vec<float>({3, 1, 2});
  EXPECT_TRUE(order(sort(x)).has_value());
  EXPECT_TRUE(order(argsort(x)).has_value());
  const auto descending = order(sort_by(x, 0, [](Tensor a, Tensor b) { return a > b; }));
  ASSERT_TRUE(descending.has_value());
  EXPECT_TRUE(descending->descending);
  const auto swapped = order(sort_by(x, 0, [](Tensor a, Tensor b) { return b > a; }));
  ASSERT_TRUE(swapped.has_value());
  EXPECT_FALSE(swapped->descending);
  // Written by hand, node for node the same.
  const auto twin = order(sort_by(x, 0, [](Tensor a, Tensor b) {
    const Tensor less = a < b, a_nan = is_nan(a), b_nan = is_nan(b);
    const Tensor a_number = !a_nan;
    return less | (a_number & b_nan);
  }));
  EXPECT_TRUE(twin.has_value());
  EXPECT_FALSE(order(sort_by(x, 0, [](Tensor a, Tensor b) { return a * 2 < b; })).has_value());
  EXPECT_FALSE(order(sort_by(x, 0, [](Tensor a, Tensor b) { return a <= b; })).has_value());
}

struct Player {
  Tensor points, age, number;
};

TEST(SortBy, SortsTreesByAnyComparator) {
  const Player players{constant({5.0f, 7.0f, 5.0f, 9.0f, 7.0f}), constant({30, 20, 25, 40, 20}),
                       constant({0, 1, 2, 3, 4})};
  const Player ranked = sort_by(players, 0, [](Player a, Player b) {
    return (a.points > b.points) | ((a.points == b.points) & (a.age < b.age));
  });
  expect_vec<std::int32_t>(ranked.number, {3, 1, 4, 2, 0});
  expect_vec<float>(ranked.points, {9, 7, 7, 5, 5});
  expect_vec<std::int32_t>(ranked.age, {40, 20, 20, 25, 30});
}

TEST(SortBy, AComparisonOfOneOperandPermutesAll) {
  const auto [keys, values] =
      sort_by(std::pair(constant({{3, 1, 2}, {6, 5, 4}}),
                        constant({{30.0f, 10.0f, 20.0f}, {60.0f, 50.0f, 40.0f}})),
              1, [](auto a, auto b) { return a.second > b.second; });
  expect_values<std::int32_t>(keys, {2, 3}, {3, 2, 1, 6, 5, 4});
  expect_values<float>(values, {2, 3}, {30, 20, 10, 60, 50, 40});
}

TEST(SortBy, DescendingKeepsTiesInOrder) {
  const auto [keys, places] = sort_by(std::pair(constant({1, 2, 1, 2, 0}), arange(5)), 0,
                                      [](auto a, auto b) { return a.first > b.first; });
  expect_vec<std::int32_t>(keys, {2, 2, 1, 1, 0});
  expect_vec<std::int32_t>(places, {1, 3, 0, 2, 4});
}

// Compared with the same merge by hand: any comparator terminates, and gives a permutation.
TEST(SortBy, AComparatorThatIsNoOrderEndsAllTheSame) {
  std::vector<std::int32_t> x(200);
  std::iota(x.begin(), x.end(), 0);
  for (int kind = 0; kind < 3; kind++) {
    const Tensor sorted = sort_by(vec(x), 0, [&](Tensor a, Tensor b) {
      return kind == 0 ? a == a : kind == 1 ? (a * 7919 + b * 104729) % 3 == 0 : a != a;
    });
    const Literal literal = sorted.eval();
    const auto data = literal.data<std::int32_t>();
    std::vector<std::int32_t> seen(data.begin(), data.end());
    if (kind == 2) {
      EXPECT_EQ(seen, x);  // nothing precedes anything: unchanged
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, x);
  }
}

TEST(SortBy, WorksInALoop) {
  const Tensor x = constant({{4, 2, 3}, {9, 8, 7}});
  const Tensor sorted = fori_loop(
      0, 2, [](Tensor, Tensor rows) { return sort(rows, 1); }, x);
  expect_values<std::int32_t>(sorted, {2, 3}, {2, 3, 4, 7, 8, 9});
}

TEST(SortBy, MistakesAreNamed) {
  const Tensor x = zeros(f32({2, 3}));
  expect_error([&] { sort(x, 2); }, {"sort", "axis 2", "-2 to 1", "sort_test.cc"});
  expect_error([&] { argsort(Tensor(1.0f)); }, {"argsort", "scalar"});
  expect_error([&] { sort_by(x, 0, [](Tensor a, Tensor b) { return a - b; }); },
               {"sort", "scalar pred", "f32[]", "sort_test.cc"});
  expect_error(
      [&] {
        sort_by(std::pair(x, zeros(f32({3}))), 0, [](auto a, auto b) { return a.first < b.first; });
      },
      {"operand 1 is f32[3]", "operand 0 is f32[2,3]"});
  expect_error(
      [&] {
        trace(
            [](Tensor y) {
              return sort_by(y, 0, [&](Tensor a, Tensor b) { return a + sum(y) < b; });
            },
            f32({3}));
      },
      {"the comparator of sort_by", "outside"});
  expect_error([&] { sort_by(std::vector<Tensor>{}, 0, [](auto, auto) { return Tensor(true); }); },
               {"nothing to sort"});
}

bool is_loaded(std::string_view library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) return true;
  }
  return false;
}

/// Highway takes milliseconds to load. In a separate process, which has not sorted anything.
TEST(SortLibrary, IsNotLoadedBeforeTheFirstSort) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const bool sum_is_right = sum(arange(1000)).item<std::int32_t>() == 499'500;
        const bool loaded = is_loaded("libhwy");
        const Literal sorted = sort(-arange(1000)).eval();
        std::exit(sum_is_right && !loaded && sorted.data<std::int32_t>()[0] == -999 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace rondo
