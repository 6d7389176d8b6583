// Windows against the definition, element by element.
#include "ops/reduce_window.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "ops/moved.h"
#include "ops/vectors.h"
#include "support/derivative_check.h"

namespace rondo {
namespace {

using namespace testing;

struct MovingWindow {
  Shape x;
  WindowDims window;
  Shape out;
};

MovingWindow random_window(std::mt19937& engine, bool dilated = true) {
  const auto number = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
  };
  MovingWindow c;
  std::vector<std::int64_t> x, out;
  const std::int64_t rank = number(0, 3);
  for (std::int64_t axis = 0; axis < rank; axis++) {
    std::int64_t n, w, low, high, stride, base, dilation, room;
    do {
      n = number(1, 12), w = number(1, 9), low = number(-1, 3), high = number(-1, 3);
      stride = number(1, 3), base = dilated ? number(1, 2) : 1,
      dilation = dilated ? number(1, 2) : 1;
      room = (n - 1) * base + low + high - (w - 1) * dilation;
    } while (room < 0);
    x.push_back(n);
    out.push_back(room / stride + 1);
    c.window.size.push_back(w);
    c.window.stride.push_back(stride);
    c.window.padding.push_back({low, high});
    c.window.base_dilation.push_back(base);
    c.window.window_dilation.push_back(dilation);
  }
  c.x = x;
  c.out = out;
  return c;
}

/// The places in x, as one row, that the window at `at` covers, in row-major order.
std::vector<std::size_t> covered(const MovingWindow& c, const Index& at) {
  std::vector<std::size_t> places;
  for_each_index(Shape(c.window.size), [&](const Index& k) {
    Index from;
    for (std::size_t axis = 0; axis < at.size(); axis++) {
      const std::int64_t place = at[axis] * c.window.stride[axis] +
                                 k[axis] * c.window.window_dilation[axis] -
                                 c.window.padding[axis].first;
      const std::int64_t base = c.window.base_dilation[axis];
      if (place < 0 || place % base != 0 || place / base >= c.x[static_cast<std::int64_t>(axis)])
        return;
      from.push_back(place / base);
    }
    places.push_back(static_cast<std::size_t>(position(from, c.x)));
  });
  return places;
}

template <class T>
std::vector<T> window_numbers(const Shape& shape, std::mt19937& engine) {
  std::uniform_int_distribution<int> number(std::is_unsigned_v<T> ? 0 : -9, 9);
  std::vector<T> values;
  for (std::int64_t i = 0; i < shape.elements(); i++)
    values.push_back(static_cast<T>(number(engine)));
  return values;
}

template <class T>
class ReduceWindow : public ::testing::Test {};
using WindowTypes = ::testing::Types<std::int8_t, std::uint32_t, float, double>;
TYPED_TEST_SUITE(ReduceWindow, WindowTypes);

TYPED_TEST(ReduceWindow, IsTheLoop) {
  using T = TypeParam;
  struct Case {
    std::function<Tensor(const Tensor&, const Tensor&)> op;
    std::function<T(T, T)> combine;
    T init;
  };
  const std::vector<Case> cases{
      {[](const Tensor& a, const Tensor& b) { return a + b; },
       [](T a, T b) { return static_cast<T>(a + b); }, 3},
      {[](const Tensor& a, const Tensor& b) { return maximum(a, b); },
       [](T a, T b) { return std::max(a, b); }, 2},
      {[](const Tensor& a, const Tensor& b) { return minimum(a, b); },
       [](T a, T b) { return std::min(a, b); }, 5},
      // The last element: associative, but not commutative and without identity.
      {[](const Tensor& a, const Tensor& b) { return where(a == a + 1, a, b); },
       [](T, T b) { return b; }, 1}};
  std::mt19937 engine(1);
  for (int i = 0; i < 25; i++) {
    const MovingWindow c = random_window(engine);
    const std::vector<T> x = window_numbers<T>(c.x, engine);
    for (std::size_t k = 0; k < cases.size(); k++) {
      std::vector<T> want;
      for_each_index(c.out, [&](const Index& at) {
        T total = cases[k].init;
        for (const std::size_t place : covered(c, at)) total = cases[k].combine(total, x[place]);
        want.push_back(total);
      });
      SCOPED_TRACE(k);
      expect_values(reduce_window(Tensor(Literal::from(x, c.x)), Tensor(cases[k].init), c.window,
                                  cases[k].op),
                    c.out, want);
    }
  }
}

TEST(ReduceWindowOfSeveral, FindsThePlaceOfTheMaximum) {
  std::mt19937 engine(2);
  for (int i = 0; i < 20; i++) {
    const MovingWindow c = random_window(engine);
    const std::vector<float> x = window_numbers<float>(c.x, engine);
    const Tensor places = reshape(iota(s32({c.x.elements()}), 0), c.x.vector());
    const auto [greatest, place] = reduce_window(
        std::pair(Tensor(Literal::from(x, c.x)), places), std::pair(Tensor(-100.0f), Tensor(-1)),
        c.window, [](const auto& a, const auto& b) {
          const Tensor stays = a.first >= b.first;
          return std::pair(where(stays, a.first, b.first), where(stays, a.second, b.second));
        });
    std::vector<std::int32_t> want;
    for_each_index(c.out, [&](const Index& at) {
      std::int32_t best = -1;
      for (const std::size_t p : covered(c, at)) {
        if (best < 0 || x[p] > x[static_cast<std::size_t>(best)])
          best = static_cast<std::int32_t>(p);
      }
      want.push_back(best);
    });
    expect_values(place, c.out, want);
  }
}

TEST(ReduceWindowOfHalves, AddsInF32) {
  const Tensor total = reduce_window(ones(bf16({1000})), Tensor(bfloat16(0.0f)), {.size = {1000}},
                                     [](const Tensor& a, const Tensor& b) { return a + b; });
  expect_values(convert(total, DType::kF32), {1}, std::vector<float>{1000});
}

// Each element counts in the windows in which it is selected.
TEST(SelectAndScatter, IsTheLoop) {
  std::mt19937 engine(3);
  for (int i = 0; i < 25; i++) {
    const MovingWindow c = random_window(engine, false);
    const std::vector<float> x = window_numbers<float>(c.x, engine),
                             source = window_numbers<float>(c.out, engine);
    std::vector<float> want(x.size(), 10);
    std::size_t next = 0;
    for_each_index(c.out, [&](const Index& at) {
      const float value = source[next++];
      const std::vector<std::size_t> places = covered(c, at);
      if (places.empty()) return;
      std::size_t best = places[0];
      for (const std::size_t place : places) {
        if (!(x[best] >= x[place])) best = place;
      }
      want[best] += value;
    });
    const Tensor got = select_and_scatter(
        Literal::from(x, c.x), Literal::from(source, c.out), 10.0f,
        {.size = c.window.size, .stride = c.window.stride, .padding = c.window.padding},
        [](const Tensor& a, const Tensor& b) { return a >= b; },
        [](const Tensor& a, const Tensor& b) { return a + b; });
    expect_values(got, c.x, want);
  }
}

TEST(Pooling, OfSmallImages) {
  const Tensor x = Literal::from(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 3, 3, 1});
  expect_values(max_pool(x, {2, 2}), {1, 2, 2, 1}, std::vector<float>{5, 6, 8, 9});
  expect_values(avg_pool(x, {2, 2}, {2, 2}, {{0, 1}, {0, 1}}), {1, 2, 2, 1},
                std::vector<float>{3, 2.25f, 3.75f, 2.25f});
  EXPECT_THROW(max_pool(x, {2}), TraceError);
  EXPECT_THROW(avg_pool(convert(x, DType::kS32), {2, 2}), TraceError);
}

// The first of equal elements, as JAX (jax.grad of jax.lax.reduce_window with jax.lax.max).
TEST(Pooling, GradientOfTies) {
  const Tensor x = Literal::from(std::vector<float>{1, 1, 0, 2, 2}, {1, 5, 1});
  const Tensor g = grad([](const Tensor& v) { return sum(max_pool(v, {3})); })(x);
  expect_values(g, {1, 5, 1}, std::vector<float>{1, 0, 0, 2, 0});
}

TEST(ReduceWindowDerivatives, AreThoseOfDifferences) {
  std::mt19937 engine(4);
  std::uniform_real_distribution<double> number(0.5, 2);
  const std::vector<std::function<Tensor(const Tensor&, const Tensor&)>> ops{
      [](const Tensor& a, const Tensor& b) { return a + b; },
      [](const Tensor& a, const Tensor& b) { return maximum(a, b); },
      [](const Tensor& a, const Tensor& b) { return minimum(a, b); },
      [](const Tensor& a, const Tensor& b) { return a * b; },
      [](const Tensor& a, const Tensor& b) { return a * b + a + b; }};
  for (int i = 0; i < 15; i++) {
    const MovingWindow c = random_window(engine);
    std::vector<double> x;
    for (std::int64_t k = 0; k < c.x.elements(); k++) x.push_back(number(engine) / 2);
    const auto& op = ops[static_cast<std::size_t>(i) % ops.size()];
    SCOPED_TRACE(i);
    EXPECT_EQ(derivative_error(of_tensors<2>([&](const Tensor& a, const Tensor& init) {
                                 return reduce_window(a, init, c.window, op);
                               }),
                               {Literal::from(x, c.x), Literal::scalar(0.75)}, {.rtol = 1e-5}),
              "");
  }
}

TEST(ReduceWindowBatch, IsOneForEachLane) {
  std::mt19937 engine(9);
  for (int i = 0; i < 15; i++) {
    const MovingWindow c = random_window(engine);
    std::vector<std::int64_t> dims = c.x.vector();
    dims.insert(dims.begin(), 3);
    const Tensor x = Literal::from(window_numbers<float>(dims, engine), dims);
    const Tensor init = vec<float>({1, 2, 3});
    const auto f = [&](const Tensor& a, const Tensor& start) {
      return reduce_window(a, start, c.window,
                           [](const Tensor& p, const Tensor& q) { return maximum(p, q); });
    };
    std::vector<Tensor> want;
    for (std::int64_t k = 0; k < 3; k++)
      want.push_back(f(take(x, Tensor(k)), take(init, Tensor(k))));
    EXPECT_TRUE(vmap(f)(x, init).eval().identical(stack(want, 0).eval()));
  }
}

TEST(ReduceWindowMisuse, NamesWhatDoesNotFit) {
  const Tensor x = ones(f32({4, 4}));
  const auto plus = [](const Tensor& a, const Tensor& b) { return a + b; };
  EXPECT_NO_THROW(reduce_window(x, 0, {.size = {2, 2}}, plus));
  for (const WindowDims& window :
       {WindowDims{.size = {2}}, WindowDims{.size = {0, 1}},
        WindowDims{.size = {2, 2}, .stride = {1}}, WindowDims{.size = {2, 2}, .stride = {1, 0}},
        WindowDims{.size = {2, 2}, .padding = {{-5, 0}, {0, 0}}},
        WindowDims{.size = {2, 2}, .window_dilation = {-1, 1}}})
    EXPECT_THROW(reduce_window(x, 0, window, plus), TraceError);
  EXPECT_THROW(
      reduce_window(x, 0, {.size = {2, 2}}, [](const Tensor& a, const Tensor& b) { return a < b; }),
      TraceError);
}

}  // namespace
}  // namespace rondo
