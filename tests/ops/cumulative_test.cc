// cumsum cumprod cummax cummin, as computed by their kernel and by their expansion for HLO.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "ops/expanded.h"
#include "ops/moved.h"
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

/// The loop along one axis.
template <class T>
std::vector<T> running(std::vector<T> x, const Shape& shape, std::int64_t axis, bool reverse,
                       const std::function<T(T, T)>& combine) {
  const std::int64_t n = shape[axis];
  std::int64_t step = 1;
  for (std::int64_t i = axis + 1; i < shape.rank(); i++) step *= shape[i];
  for_each_index(shape, [&](const Index& index) {
    if (index[static_cast<std::size_t>(axis)] != 0) return;
    const std::int64_t start = position(index, shape);
    for (std::int64_t k = 1; k < n; k++) {
      const std::int64_t to = reverse ? n - 1 - k : k, from = reverse ? to + 1 : to - 1;
      T& value = x[static_cast<std::size_t>(start + to * step)];
      value = combine(x[static_cast<std::size_t>(start + from * step)], value);
    }
  });
  return x;
}

template <class T>
class Cumulative : public ::testing::Test {};
using CumulativeTypes =
    ::testing::Types<std::int8_t, std::int32_t, std::uint16_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(Cumulative, CumulativeTypes);

// Whole numbers, so that the order of a sum makes no difference.
TYPED_TEST(Cumulative, IsTheLoop) {
  using T = TypeParam;
  struct Case {
    std::function<Tensor(const Tensor&, std::int64_t, bool)> op;
    std::function<T(T, T)> combine;
  };
  const std::vector<Case> cases{
      {[](const Tensor& x, std::int64_t axis, bool reverse) { return cumsum(x, axis, reverse); },
       [](T a, T b) { return static_cast<T>(a + b); }},
      {[](const Tensor& x, std::int64_t axis, bool reverse) { return cumprod(x, axis, reverse); },
       [](T a, T b) { return static_cast<T>(a * b); }},
      {[](const Tensor& x, std::int64_t axis, bool reverse) { return cummax(x, axis, reverse); },
       [](T a, T b) { return std::max(a, b); }},
      {[](const Tensor& x, std::int64_t axis, bool reverse) { return cummin(x, axis, reverse); },
       [](T a, T b) { return std::min(a, b); }}};
  Shapes shapes(7);
  for (const Shape& shape : {Shape{1}, Shape{2}, Shape{7}, Shape{16}, Shape{33}, Shape{4, 5},
                             Shape{3, 1, 4}, Shape{2, 9, 3}, Shape{0}, Shape{2, 0}}) {
    std::vector<T> x;
    for (std::int64_t i = 0; i < shape.elements(); i++)
      x.push_back(static_cast<T>(shapes.number(std::is_unsigned_v<T> ? 0 : -2, 2)));
    const Literal literal = Literal::from(x, shape);
    for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
      for (bool reverse : {false, true}) {
        for (std::size_t i = 0; i < cases.size(); i++) {
          SCOPED_TRACE(literal.type().str() + " axis " + std::to_string(axis) + " case " +
                       std::to_string(i));
          const std::vector<T> want = running<T>(x, shape, axis, reverse, cases[i].combine);
          expect_values(cases[i].op(Tensor(literal), axis, reverse), shape, want);
          expect_values(
              run_expanded([&](Tensor y) { return cases[i].op(y, axis - shape.rank(), reverse); },
                           literal)[0],
              shape, want);
        }
      }
    }
  }
}

TEST(Cumulative, PredsAreCounted) {
  const Tensor x = vec_of<bool>(std::vector<int>{1, 0, 1, 1});
  expect_vec<std::int32_t>(cumsum(x, 0), {1, 1, 2, 3});
  expect_vec<std::int32_t>(cumsum(x, 0, true), {3, 2, 2, 1});
  expect_vec<std::int32_t>(cumprod(x, 0), {1, 0, 0, 0});
  expect_vec<bool>(cummin(x, 0), {true, false, false, false});
}

TEST(Cumulative, NanStays) {
  const std::vector<float> x{1, 3, kNan, 2, 5};
  expect_vec<float>(cummax(vec(x), 0), {1, 3, kNan, kNan, kNan});
  expect_vec<float>(cummin(vec(x), 0), {1, 1, kNan, kNan, kNan});
  expect_vec<float>(cumsum(vec(x), 0, true), {kNan, kNan, kNan, 7, 5});
  expect_values<float>(run_expanded([](Tensor y) { return cummax(y, 0); }, Literal::from(x))[0],
                       {5}, {1, 3, kNan, kNan, kNan});
}

TEST(Cumulative, LongSumsAreAccurate) {
  constexpr std::size_t n = 1000000;
  const Literal x = Literal::from(std::vector<float>(n, 0.1f));
  std::vector<float> want(n);
  for (std::size_t i = 0; i < n; i++)
    want[i] = static_cast<float>(0.1f * static_cast<double>(i + 1));
  expect_close(cumsum(Tensor(x), 0), {n}, want, 1e-7);
  expect_close(run_expanded([](Tensor y) { return cumsum(y, 0); }, x)[0], {n}, want, 1e-5);
}

// Multiples of 2^-12 have exact sums in f64, so that only the last rounding is left.
TEST(Cumulative, SumsAreRoundedOnce) {
  for (std::int64_t n : {1, 2, 4, 5, 6, 8, 9, 1023}) {
    for (bool reverse : {false, true}) {
      std::vector<float> x, want(static_cast<std::size_t>(n));
      for (std::int64_t i = 0; i < n; i++)
        x.push_back(static_cast<float>((i * 7919 + 13) % 1000003) * 0x1p-12f);
      double total = 0;
      for (std::int64_t i = 0; i < n; i++) {
        const auto at = static_cast<std::size_t>(reverse ? n - 1 - i : i);
        want[at] = static_cast<float>(total += static_cast<double>(x[at]));
      }
      expect_vec<float>(cumsum(vec(x), 0, reverse), want);
    }
  }
}

TEST(Cumulative, InfinitiesAndZerosAreThoseOfTheLoop) {
  std::vector<float> x{-0.0f, -0.0f, 0, kInf, 1, 2, 3, 4, 5, -kInf, 6, 7}, want;
  double total = static_cast<double>(x[0]);
  for (std::size_t i = 0; i < x.size(); i++)
    want.push_back(static_cast<float>(i == 0 ? total : total += static_cast<double>(x[i])));
  expect_vec<float>(cumsum(vec(x), 0), want);
}

TEST(Cumulative, HalvesAreAccumulatedInSinglePrecision) {
  const Literal x = ones(bf16({1000})).eval();
  std::vector<bfloat16> want;
  for (int i = 1; i <= 1000; i++) want.push_back(bfloat16(static_cast<float>(i)));
  expect_close(cumsum(Tensor(x), 0), {1000}, want, 0);
  expect_close(run_expanded([](Tensor y) { return cumsum(y, 0); }, x)[0], {1000}, want, 0);
}

TEST(Cumulative, ComplexNumbersAddAndMultiply) {
  using C = std::complex<float>;
  expect_vec<C>(cumsum(vec<C>({{1, 2}, {3, -1}}), 0), {{1, 2}, {4, 1}});
  expect_vec<C>(cumprod(vec<C>({{1, 2}, {3, -1}}), 0), {{1, 2}, {5, 5}});
}

// The operand's storage is reused if it is unshared, and otherwise unchanged.
TEST(Cumulative, LeavesItsOperandAlone) {
  const Tensor x = vec<std::int32_t>({1, 2, 3});
  const Tensor y = x + 1;
  const Tensor total = cumsum(y, 0) + y;
  expect_vec<std::int32_t>(total, {4, 8, 13});
  expect_vec<std::int32_t>(cumsum(x + 1, 0), {2, 5, 9});
  expect_vec<std::int32_t>(x, {1, 2, 3});
}

TEST(Cumulative, TheExpansionIsSmall) {
  const Function program = passes::expand(
      trace([](Tensor x) { return cumsum(x, 0); }, f32({1000000})), passes::Target::kHlo);
  EXPECT_LT(program.body().size(), 250u);  // some ten ops for each of 20 levels
}

TEST(Cumulative, MistakesAreNamed) {
  const Tensor x = zeros(f32({2, 3}));
  expect_error([&] { cumsum(x, 2); }, {"cumsum", "axis 2", "-2 to 1", "cumulative_test.cc"});
  expect_error([&] { cummax(Tensor(1.0f), 0); }, {"cummax", "scalar"});
  expect_error([&] { cummin(zeros(c64({2})), 0); }, {"cummin", "c64[2]", "no order"});
}

}  // namespace
}  // namespace rondo
