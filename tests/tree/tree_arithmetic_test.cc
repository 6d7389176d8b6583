// Arithmetic on trees, compared with plain loops over the leaves' elements.
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <tuple>

#include "support/expect.h"

namespace rondo {
namespace {

using namespace testing;

struct Layer {
  Tensor w, b;
};
struct Model {
  std::vector<Layer> layers;
  Tensor scale;
};
struct Mixed {
  Tensor whole, real;
};

const std::vector<float> kW{1, -2, 3, 4}, kB{0.5f, 6};

Model model(float factor) {
  const auto times = [&](const std::vector<float>& values) {
    std::vector<float> all;
    for (const float value : values) all.push_back(factor * value);
    return all;
  };
  return {{{constant(times(kW), {2, 2}), constant(times(kB))}}, factor * 3};
}

TEST(TreeArithmetic, Axpy) {
  const auto check = [](const Model& got) {
    ASSERT_EQ(got.layers.size(), 1u);
    std::vector<float> w, b;
    for (const float value : kW) w.push_back(2 * value + -1 * value);
    for (const float value : kB) b.push_back(2 * value + -1 * value);
    expect_values(got.layers[0].w, {2, 2}, w);
    expect_values(got.layers[0].b, {2}, b);
    expect_values(got.scale, {}, std::vector<float>{3});
  };
  check(axpy(2, model(1), model(-1)));
  check(axpy(Tensor(2.0f), model(1), model(-1)));
  check(axpy(constant(2.0f), model(1), model(-1)));
  expect_values(axpy(0.5, constant({2.0f, 4.0f}), constant({1.0f, 1.0f})), {2},
                std::vector<float>{2, 3});
  // Each leaf in its own dtype, C++ numbers too.
  const auto [i, x] = axpy(3, std::tuple(constant({1, 2}), 0.5), std::tuple(constant({1, 1}), 1.0));
  expect_values(i, {2}, std::vector<std::int32_t>{4, 7});
  expect_values(x, {}, std::vector<double>{2.5});
  EXPECT_TRUE(std::get<0>(axpy(1, std::tuple<Tensor>(1.0f), std::tuple<Tensor>(2.0f))).rank() == 0);
}

TEST(TreeArithmetic, DotAndNorm) {
  float dot = 0, squares = 0;
  for (const float value : kW) dot += value * -2 * value, squares += value * value;
  for (const float value : kB) dot += value * -2 * value, squares += value * value;
  dot += 3 * -6.0f;
  squares += 9;
  expect_close(dot_of(model(1), model(-2)), {}, std::vector<float>{dot});
  expect_close(norm_of(model(1)), {}, std::vector<float>{std::sqrt(squares)});
  expect_values(dot_of(std::array{constant({1, 2}), constant({3, 4})},
                       std::array{constant({5, 6}), constant({7, 8})}),
                {}, std::vector<std::int32_t>{5 + 12 + 21 + 32});
  using C = std::complex<float>;
  const Tensor z = constant({C(1, 2), C(0, -1)});
  expect_values(dot_of(std::tuple(z), std::tuple(z * C(0, 1))), {}, std::vector<C>{C(0, 6)});
  expect_close(norm_of(std::tuple(z, Tensor(std::complex<float>(3, 0)))), {},
               std::vector<float>{std::sqrt(15.0f)});
  expect_values(dot_of(std::tuple<>(), std::tuple<>()), {}, std::vector<float>{0});
  expect_values(norm_of(std::vector<Tensor>()), {}, std::vector<float>{0});
}

TEST(TreeArithmetic, HasDerivatives) {
  const Layer at{constant({{1.0f, -2.0f}, {3.0f, 4.0f}}), constant({0.5f, 6.0f})};
  const Layer slope = grad([](Layer t) { return dot_of(t, axpy(2, t, t)); })(at);
  expect_values(slope.w, {2, 2}, std::vector<float>{6, -12, 18, 24});  // of 3 t . t
  expect_values(slope.b, {2}, std::vector<float>{3, 36});
  const Layer none = grad([](Layer t) { return norm_of(t); })(zeros_like(at));
  expect_values(none.b, {2}, std::vector<float>{0, 0});
}

TEST(TreeArithmetic, ZerosAndOnes) {
  const Model zeros = zeros_like(model(2)), ones = ones_like(model(2));
  expect_values(zeros.layers[0].w, {2, 2}, std::vector<float>(4, 0.0f));
  expect_values(zeros.scale, {}, std::vector<float>{0});
  expect_values(ones.layers[0].b, {2}, std::vector<float>{1, 1});
  const std::map<std::string, Tensor> named =
      ones_like(std::map<std::string, Tensor>{{"a", constant({true, false})}, {"b", 3}});
  EXPECT_EQ(named.at("a").type(), pred({2}));
  EXPECT_TRUE(all(named.at("a")).item<bool>());
  expect_values(named.at("b"), {}, std::vector<std::int32_t>{1});
}

TEST(TreeArithmetic, TakesElementsOfStacks) {
  const Layer rows{constant({{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}}),
                   constant({7.0f, 8.0f, 9.0f})};
  const Layer one = take_of(rows, 1), clamped = take_of(rows, Tensor(9));
  expect_values(one.w, {2}, std::vector<float>{3, 4});
  expect_values(one.b, {}, std::vector<float>{8});
  expect_values(clamped.b, {}, std::vector<float>{9});
  const Layer some = take_of(rows, constant({2, 0}));
  expect_values(some.w, {2, 2}, std::vector<float>{5, 6, 1, 2});
  expect_values(some.b, {2}, std::vector<float>{9, 7});
  const Layer last = take_of(rows, 0, -1);
  expect_values(last.w, {3}, std::vector<float>{1, 3, 5});
}

TEST(TreeArithmetic, InALoop) {
  // Gradient descent on |t|^2 / 2: t halves.
  const Layer start{constant({4.0f, 8.0f}), 16.0f};
  const Layer end = fori_loop(
      0, 3, [](Tensor, Layer t) { return axpy(-0.5, t, t); }, start);
  expect_values(end.w, {2}, std::vector<float>{0.5f, 1});
  expect_values(end.b, {}, std::vector<float>{2});
}

TEST(TreeArithmetic, Misuse) {
  Model longer = model(1), other = model(1);
  longer.layers.push_back(longer.layers[0]);
  other.layers[0].b = constant({1.0f, 2.0f, 3.0f});
  expect_error([&] { axpy(1, model(1), longer); }, {"axpy: y has another structure than x",
                                                    "x.layers[1].w", "tree_arithmetic_test.cc"});
  expect_error([&] { dot_of(model(1), longer); }, {"dot_of", "x.layers[1].b"});
  expect_error([&] { axpy(1, model(1), other); },
               {"x.layers[0].b is f32[2], y.layers[0].b is f32[3]"});
  expect_error(
      [&] {
        axpy(constant({1.0f, 2.0f}), model(1), model(1));
      },
      {"a is f32[2]", "scalar"});
  expect_error([&] { axpy(constant(1.0), model(1), model(1)); },
               {"a is f64[]", "x.layers[0].w is f32[2,2]", "rondo::convert("});
  expect_error([&] { axpy(0.5, std::tuple(constant({1})), std::tuple(constant({1}))); },
               {"inexact scalar: 0.5"});
  const Mixed mixed{constant({1}), constant({1.0f})};
  expect_error([&] { norm_of(mixed); }, {"norm_of: tree.whole is s32[1]"});
  expect_error([&] { dot_of(mixed, mixed); }, {"x.whole is s32[1], x.real is f32[1]"});
  expect_error([&] { zeros_like(Layer{1.0f, {}}); }, {"zeros_like: tree.b is an empty tensor"});
  expect_error([&] { take_of(model(1), 0); },
               {"take_of: tree.scale is f32[], which has no axis 0"});
}

}  // namespace
}  // namespace rondo
