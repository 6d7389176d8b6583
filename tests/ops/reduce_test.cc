// sum prod max min mean any all, and reduce by any combiner.
#include "ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>

#include "ir/node.h"
#include "ops/moved.h"
#include "ops/vectors.h"
#include "support/definition.h"

namespace rondo {
namespace {

using namespace testing;

using Axes = std::vector<std::int64_t>;

bool holds(const Axes& axes, std::int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

Shape without(const Shape& shape, const Axes& axes) {
  std::vector<std::int64_t> dims;
  for (std::int64_t i = 0; i < shape.rank(); i++) {
    if (!holds(axes, i)) dims.push_back(shape[i]);
  }
  return dims;
}

/// The equivalent loop: adds each element to its result, in row-major order.
template <class T, class Acc>
std::vector<T> reduced(const std::vector<T>& x, const Shape& shape, const Axes& axes, Acc init,
                       const std::function<Acc(Acc, Acc)>& combine) {
  const Shape kept = without(shape, axes);
  std::vector<Acc> out(static_cast<std::size_t>(kept.elements()), init);
  std::size_t next = 0;
  for_each_index(shape, [&](const Index& index) {
    Index place;
    for (std::int64_t i = 0; i < shape.rank(); i++) {
      if (!holds(axes, i)) place.push_back(index[static_cast<std::size_t>(i)]);
    }
    Acc& to = out[static_cast<std::size_t>(position(place, kept))];
    to = combine(to, static_cast<Acc>(x[next++]));
  });
  return {out.begin(), out.end()};
}

template <class T>
std::vector<T> some_numbers(std::int64_t count, std::mt19937& engine) {
  std::vector<T> values;
  std::uniform_int_distribution<int> small(std::is_unsigned_v<T> ? 0 : -9, 9);
  for (std::int64_t i = 0; i < count; i++) values.push_back(static_cast<T>(small(engine)));
  return values;
}

/// Integers wrap, as they do in XLA.
template <class T>
T wrapped_sum(T a, T b, auto combine) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(combine(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  else
    return combine(a, b);
}

template <class T>
class ReduceNumbers : public ::testing::Test {};
using ReducedTypes = ::testing::Types<std::int8_t, std::int32_t, std::int64_t, std::uint8_t,
                                      std::uint32_t, float, double>;
TYPED_TEST_SUITE(ReduceNumbers, ReducedTypes);

// Whole numbers, so that the order of a sum makes no difference.
TYPED_TEST(ReduceNumbers, IsTheLoopForAllAxes) {
  using T = TypeParam;
  Shapes shapes(3);
  for (const Shape& shape :
       {Shape{}, Shape{5}, Shape{40}, Shape{3, 4}, Shape{70, 33}, Shape{2, 3, 4}, Shape{3, 1, 5, 2},
        Shape{2, 37, 3}, Shape{2, 3, 2, 3, 2}, Shape{3, 0, 2}}) {
    const std::vector<T> x = some_numbers<T>(shape.elements(), shapes.engine());
    const Tensor tensor = Literal::from(x, shape);
    for (std::int64_t chosen = 0; chosen < 1 << shape.rank(); chosen++) {
      Axes axes;
      for (std::int64_t i = 0; i < shape.rank(); i++) {
        if (chosen >> i & 1) axes.push_back(i);
      }
      if (axes.empty() && shape.rank() > 0) continue;  // that means all
      SCOPED_TRACE(::testing::PrintToString(axes) + " of " + tensor.type().str());
      const Shape kept = without(shape, axes);
      expect_values(sum(tensor, axes), kept, reduced<T, T>(x, shape, axes, T(0), [](T a, T b) {
                      return wrapped_sum(a, b, std::plus<>());
                    }));
      expect_values(prod(tensor, axes), kept, reduced<T, T>(x, shape, axes, T(1), [](T a, T b) {
                      return wrapped_sum(a, b, std::multiplies<>());
                    }));
      if (shape.elements() == 0) continue;
      expect_values(max(tensor, axes), kept,
                    reduced<T, T>(x, shape, axes, std::numeric_limits<T>::lowest(),
                                  [](T a, T b) { return std::max(a, b); }));
      expect_values(min(tensor, axes), kept,
                    reduced<T, T>(x, shape, axes, std::numeric_limits<T>::max(),
                                  [](T a, T b) { return std::min(a, b); }));
    }
  }
}

TEST(Reduce, AxesCountFromTheEndAndMayStay) {
  const Tensor x = constant({{1, 2, 3}, {4, 5, 6}});
  expect_values<std::int32_t>(sum(x, {-1}), {2}, {6, 15});
  expect_values<std::int32_t>(sum(x, {-2}), {3}, {5, 7, 9});
  expect_values<std::int32_t>(sum(x, {1}, true), {2, 1}, {6, 15});
  expect_values<std::int32_t>(sum(x, {0}, true), {1, 3}, {5, 7, 9});
  expect_values<std::int32_t>(max(x, {}, true), {1, 1}, {6});
  expect_values<std::int32_t>(min(x, {1, 0}), {}, {1});
  expect_values<float>(mean(convert(x, DType::kF32), {0}, true), {1, 3}, {2.5f, 3.5f, 4.5f});
  expect_values<bool>(any(x > 5, {1}, true), {2, 1}, {false, true});
}

TEST(Reduce, TakesOneAxisAsANumber) {
  const Tensor x = constant({{1, 2, 3}, {4, 5, 6}});
  const std::size_t second = 1;
  expect_values<std::int32_t>(sum(x, 0), {3}, {5, 7, 9});
  expect_values<std::int32_t>(sum(x, -1), {2}, {6, 15});
  expect_values<std::int32_t>(prod(x, second, true), {2, 1}, {6, 120});
  expect_values<std::int32_t>(sum(x, std::vector<std::int64_t>{0, 1}), {}, {21});
  expect_values<std::int32_t>(sum(x, {}), {}, {21});
  expect_values<std::int32_t>(flip(x, 1), {2, 3}, {3, 2, 1, 6, 5, 4});
  expect_values<std::int32_t>(squeeze(sum(x, 0, true), 0), {3}, {5, 7, 9});
  expect_values<bool>(any(x > 4, 0) & !all(x > 1, 0), {3}, {false, false, false});
  expect_error([&] { sum(x, 2); }, {"sum: axis 2 is out of range"});
}

TEST(Reduce, IntegersWrapInTheirOwnDtype) {
  expect_scalar<std::int8_t>(sum(vec<std::int8_t>({100, 100, 100})), 44);
  expect_scalar<std::uint8_t>(sum(vec<std::uint8_t>({200, 100})), 44);
  expect_scalar<std::int32_t>(prod(vec<std::int32_t>({65536, 65536, 3})), 0);
  expect_scalar<std::int64_t>(sum(vec<std::int64_t>({INT64_MAX, 1})), INT64_MIN);
}

TEST(Reduce, PredsAreCounted) {
  const Tensor x = vec_of<bool>(std::vector<int>{1, 0, 1, 1});
  expect_scalar<std::int32_t>(sum(x), 3);
  expect_scalar<std::int32_t>(prod(x), 0);
  expect_scalar<bool>(max(x), true);
  expect_scalar<bool>(min(x), false);
}

TEST(Reduce, AnyAndAllTakeWhatIsNotZero) {
  const Tensor x = constant({{0, 2, 0}, {1, 3, -1}, {0, 0, 0}});
  expect_values<bool>(any(x, {1}), {3}, {true, true, false});
  expect_values<bool>(all(x, {1}), {3}, {false, true, false});
  expect_values<bool>(any(x != 0, {0}), {3}, {true, true, true});
  expect_scalar<bool>(all(x == x), true);
  expect_scalar<bool>(any(vec<float>({0, -0.0f, kNan})), true);
}

TEST(Reduce, OfNothing) {
  const Tensor x = zeros(f32({0, 3}));
  expect_values<float>(sum(x, {0}), {3}, {0, 0, 0});
  expect_values<float>(prod(x, {0}), {3}, {1, 1, 1});
  expect_values<bool>(any(x, {0}), {3}, {false, false, false});
  expect_values<bool>(all(x, {0}), {3}, {true, true, true});
  expect_values<float>(mean(x, {0}), {3}, {kNan, kNan, kNan});
  expect_values<float>(max(x, {1}), {0}, {});
  expect_error([&] { max(x, {0}); }, {"max", "no elements", "f32[0,3]", "{0}", "reduce_test.cc"});
  expect_error([&] { min(x); }, {"min", "no elements", "f32[0,3]"});
}

TEST(Reduce, NanSpreadsThroughMaxAndMin) {
  for (std::size_t place : {0u, 1u, 20u, 39u}) {
    std::vector<float> x(40);
    std::iota(x.begin(), x.end(), -20.0f);
    expect_scalar<float>(max(vec(x)), 19);
    expect_scalar<float>(min(vec(x)), -20);
    x[place] = kNan;
    expect_scalar<float>(max(vec(x)), kNan);
    expect_scalar<float>(min(vec(x)), kNan);
    expect_values<float>(max(reshape(vec(x), {40, 1}), {0}), {1}, {kNan});
    expect_close<float16>(max(convert(vec(x), DType::kF16)), {}, {float16(kNan)});
  }
  expect_scalar<float>(max(vec<float>({-kInf, -kInf})), -kInf);
  EXPECT_FALSE(std::signbit(max(vec<float>({-0.0f, 0.0f, -0.0f})).item<float>()));
  EXPECT_TRUE(std::signbit(min(vec<float>({0.0f, -0.0f, 0.0f})).item<float>()));
}

TEST(Reduce, LongSumsAreAccurate) {
  constexpr std::int64_t n = 1000000;
  std::vector<float> x(n);
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> unit(0.0f, 1.0f);
  for (float& value : x) value = unit(engine);
  const double exact = std::accumulate(x.begin(), x.end(), 0.0);
  expect_close<float>(sum(vec(x)), {}, {static_cast<float>(exact)}, 1e-7);
  expect_close<float>(mean(vec(x)), {}, {static_cast<float>(exact / n)}, 1e-7);
  expect_close<float>(sum(reshape(vec(x), {n, 1}), {0}), {1}, {static_cast<float>(exact)}, 1e-7);
  expect_close<float>(sum(full(f32({n}), 0.1f)), {}, {static_cast<float>(n * 0.1)}, 1e-7);
  // Down the columns and along the rows of a matrix.
  const Tensor table = full(f32({500000, 2}), 0.1f);
  expect_close<float>(sum(table, {0}), {2}, {50000, 50000}, 1e-7);
  expect_close<float>(sum(transpose(table), {1}), {2}, {50000, 50000}, 1e-7);
  expect_close<double>(sum(full(f64({n}), 0.1)), {}, {n * 0.1}, 1e-12);
}

TEST(Reduce, HalvesRoundAtEachStep) {
  for (std::int64_t columns : {1, 3}) {
    const std::vector<bfloat16> want(static_cast<std::size_t>(columns), bfloat16(256));
    expect_close<bfloat16>(sum(ones(bf16({1000, columns})), {0}), {columns}, want, 0);
  }
  expect_close<bfloat16>(sum(ones(bf16({1000}))), {}, {bfloat16(256)}, 0);
  expect_close<float16>(sum(ones(f16({5000}))), {}, {float16(2048)}, 0);
  expect_close<bfloat16>(mean(ones(bf16({1000}))), {}, {bfloat16(1)}, 0);
}

TEST(Reduce, ComplexNumbersAddAndMultiply) {
  using C = std::complex<float>;
  const Tensor x = vec<C>({{1, 2}, {3, -1}, {0, 1}});
  expect_scalar<C>(sum(x), {4, 2});
  expect_scalar<C>(prod(x), C{1, 2} * C{3, -1} * C{0, 1});
  expect_close<float>(real(mean(x)), {}, {4.0f / 3});
  expect_error([&] { max(x); }, {"max", "c64[3]", "no order", "abs(x)"});
}

TEST(Reduce, ProductsAreTakenInOrder) {
  std::vector<float> x;
  for (int i = 0; i < 40; i++) x.push_back(i % 2 == 0 ? 1e30f : 1e-30f);
  expect_close<float>(prod(vec(x)), {}, {1.0f}, 1e-5);
}

TEST(Reduce, MeanWantsAFloatingDtype) {
  expect_scalar<double>(mean(vec<double>({1, 2, 4, 5})), 3);
  expect_error([] { mean(constant({1, 2})); }, {"mean", "s32[2]", "convert(x, DType::kF32)"});
  expect_error([] { mean(constant({true})); }, {"mean", "pred[1]"});
}

TEST(Reduce, AxesAreChecked) {
  const Tensor x = zeros(f32({2, 3}));
  expect_error([&] { sum(x, {2}); }, {"sum", "axis 2", "-2 to 1", "reduce_test.cc"});
  expect_error([&] { sum(x, {0, -2}); }, {"sum", "axis 0", "twice"});
  expect_error([&] { sum(Tensor(1.0f), {0}); }, {"sum", "scalar"});
  expect_error([&] { sum(Tensor()); }, {"sum", "empty Tensor"});
}

TEST(ReduceBy, StartsFromTheInitialValue) {
  const Tensor x = constant({1, 2, 3});
  expect_scalar<std::int32_t>(
      reduce(x, 100, {}, [](Tensor acc, Tensor value) { return acc + value; }), 106);
  expect_scalar<std::int32_t>(
      reduce(zeros(s32({0})), 7, {0}, [](Tensor acc, Tensor value) { return acc + value; }), 7);
  expect_scalar<float>(
      reduce(vec<float>({1, 2}), 0.5, {0}, [](Tensor a, Tensor b) { return maximum(a, b); }), 2);
  // A scalar that the combiner returns takes the dtype of its accumulator.
  expect_scalar<float>(reduce(vec<float>({1, 2}), 0, {0}, [](Tensor, Tensor) { return 4; }), 4);
}

// A combiner that is neither commutative nor associative shows the order.
TEST(ReduceBy, GoesInRowMajorOrder) {
  const Shape shape{2, 3, 2};
  const std::vector<std::int32_t> x{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3};
  auto append = [](Tensor acc, Tensor digit) { return acc * 10 + digit; };
  for (const Axes& axes :
       {Axes{0}, Axes{1}, Axes{2}, Axes{0, 1}, Axes{0, 2}, Axes{1, 2}, Axes{0, 1, 2}}) {
    expect_values(
        reduce(Tensor(Literal::from(x, shape)), 0, axes, append), without(shape, axes),
        reduced<std::int32_t, std::int32_t>(x, shape, axes, 0, [](auto acc, auto digit) {
          return static_cast<std::int32_t>(std::uint32_t(acc) * 10 + std::uint32_t(digit));
        }));
  }
}

struct Extent {
  Tensor low, high, count;
};

TEST(ReduceBy, TakesTreesOfArrays) {
  const Tensor x = constant({{3.0f, -1.0f, 4.0f}, {1.0f, 5.0f, -9.0f}});
  auto widen = [](Extent acc, Extent e) {
    return Extent{minimum(acc.low, e.low), maximum(acc.high, e.high), acc.count + e.count};
  };
  const Extent extent =
      reduce(Extent{x, x, ones(s32({2, 3}))}, std::tuple(kInf, -kInf, 0), {1}, widen);
  expect_values<float>(extent.low, {2}, {-1, -9});
  expect_values<float>(extent.high, {2}, {4, 5});
  expect_values<std::int32_t>(extent.count, {2}, {3, 3});
  // The position of the greatest element.
  const auto [value, place] = reduce(
      std::pair(x, iota(s32({2, 3}), 1)), std::pair(-kInf, -1), {1},
      [](std::pair<Tensor, Tensor> best, std::pair<Tensor, Tensor> e) {
        const Tensor better = e.first > best.first;
        return std::pair(where(better, e.first, best.first), where(better, e.second, best.second));
      });
  expect_values<float>(value, {2}, {4, 5});
  expect_values<std::int32_t>(place, {2}, {2, 1});
}

TEST(ReduceBy, MistakesAreNamed) {
  const Tensor x = zeros(f32({3}));
  auto add = [](Tensor a, Tensor b) { return a + b; };
  expect_error([&] { reduce(x, constant({0.0f}), {0}, add); },
               {"reduce", "f32[1]", "scalar", "f32[]", "reduce_test.cc"});
  expect_error([&] { reduce(x, 0, {0}, [](Tensor a, Tensor) { return convert(a, DType::kS32); }); },
               {"combiner", "(s32[])", "(f32[])", "convert"});
  expect_error(
      [&] {
        reduce(std::tuple(x, zeros(f32({4}))), std::tuple(0, 0), {0},
               [](auto a, auto) { return a; });
      },
      {"operand 1 is f32[4]", "operand 0 is f32[3]", "broadcast_to"});
  expect_error(
      [&] { reduce(std::vector{x}, std::vector<float>{}, {0}, [](auto a, auto) { return a; }); },
      {"1 arrays", "0 initial values"});
  expect_error(
      [&] {
        trace(
            [&](Tensor y) {
              return reduce(y, 0, {0}, [&](Tensor a, Tensor b) { return a + b * sum(y); });
            },
            f32({3}));
      },
      {"the combiner of reduce", "outside"});
}

TEST(ReduceBy, ErrorsOfTheCombinerAreTheUsers) {
  struct Stop {};
  EXPECT_THROW(reduce(zeros(f32({3})), 0, {0}, [](Tensor, Tensor) -> Tensor { throw Stop(); }),
               Stop);
}

TEST(Reduce, KnowsItsCombinersAgain) {
  using ops::Combiner;
  auto combiner = [](const Tensor& reduced) {
    return ops::known_combiner(definition_of(reduced).node()->regions[0]);
  };
  const Tensor x = vec<float>({1, 2, 3}), flags = vec_of<bool>(std::vector<int>{1, 0});
  EXPECT_EQ(combiner(sum(x)), Combiner::kAdd);
  EXPECT_EQ(combiner(prod(x)), Combiner::kMultiply);
  EXPECT_EQ(combiner(max(x)), Combiner::kMaximum);
  EXPECT_EQ(combiner(min(x)), Combiner::kMinimum);
  EXPECT_EQ(combiner(any(flags)), Combiner::kOr);
  EXPECT_EQ(combiner(all(flags)), Combiner::kAnd);
  EXPECT_EQ(combiner(reduce(x, 0, {0}, [](Tensor a, Tensor b) { return b + a; })), Combiner::kAdd);
  EXPECT_EQ(combiner(reduce(x, 0, {0}, [](Tensor a, Tensor) { return a + a; })), Combiner::kOther);
  EXPECT_EQ(combiner(reduce(x, 0, {0}, [](Tensor a, Tensor b) { return a - b; })),
            Combiner::kOther);
  // The regions of sums of one dtype are one object.
  EXPECT_TRUE(definition_of(sum(x)).node()->regions[0].same_as(
      definition_of(sum(x * 2, {0})).node()->regions[0]));
}

}  // namespace
}  // namespace rondo
