// Derivatives of the ops that move elements: broadcast, reshape, transpose, reverse, concatenate,
// pad, slice, dynamic slices; and of products.
#include <gtest/gtest.h>

#include <complex>

#include "support/expect.h"
#include "transforms/derivative_rows.h"

namespace rondo {
namespace {

using testing::bent;
using testing::derivative_error;
using testing::expect_scalar;
using testing::expect_values;
using testing::Many;
using testing::MovingOp;
using testing::random_array;
using testing::weighed;

class MovingDerivatives : public ::testing::TestWithParam<MovingOp> {
 protected:
  std::string error(DType dtype) const {
    std::vector<Literal> x;
    for (const Shape& shape : GetParam().shapes)
      x.push_back(random_array({dtype, shape}, static_cast<unsigned>(x.size()) + 1));
    return derivative_error(bent([](const Many& all) { return Many{GetParam().op(all)}; }), x);
  }
};

TEST_P(MovingDerivatives, AgreeWithDifferences) { EXPECT_EQ(error(DType::kF64), ""); }

TEST_P(MovingDerivatives, OfComplexNumbersAgreeWithDifferences) {
  EXPECT_EQ(error(DType::kC128), "");
}

INSTANTIATE_TEST_SUITE_P(Ops, MovingDerivatives, ::testing::ValuesIn(testing::moving_ops()),
                         [](const auto& info) { return std::string(info.param.name); });

// 16-bit cotangents are added up in f32: one by one they would stop at 256.
TEST(MovingDerivative, OfBroadcastIsExactInBf16) {
  const Literal x = Literal::scalar(bfloat16(1.0f));
  const Tensor gradient =
      grad([](const Tensor& s) { return sum(convert(broadcast_to(s, {1000}), DType::kF32)); })(x);
  expect_scalar(convert(gradient, DType::kF32), 1000.0f);
  const Tensor of_padding = grad([](const Tensor& s) {
    return sum(convert(pad(zeros(bf16({1})), s, {500}, {500}), DType::kF32));
  })(x);
  expect_scalar(convert(of_padding, DType::kF32), 1000.0f);
}

// The numbers are those of jax.grad, JAX 0.10.2.
TEST(MovingDerivative, DynamicSlicesClampAsInJax) {
  const Tensor start = constant(Literal::scalar(4));
  const Tensor x = constant({0.0, 1.0, 2.0, 3.0, 4.0}), u = constant({1.0, 1.0, 1.0});
  expect_values<double>(
      grad([&](const Tensor& t) { return weighed(dynamic_slice(t, {start}, {3})); })(x), {5},
      {0, 0, 1, 10, 100});
  const auto [of_x, of_u] = grad<0, 1>([&](const Tensor& t, const Tensor& part) {
    return weighed(dynamic_update_slice(t, part, {start}));
  })(x, u);
  expect_values<double>(of_x, {5}, {1, 10, 0, 0, 0});
  expect_values<double>(of_u, {3}, {100, 1000, 10000});
}

TEST(MovingDerivative, DotOfComplexNumbersAsInJax) {
  using C = std::complex<double>;
  const Tensor a = constant({C(1, 2), C(3, -1)}), b = constant({C(0.5, -1), C(2, 1)});
  const auto f = [&](const Tensor& x) {
    const Tensor product = dot(x, b);
    return real(product * product);
  };
  expect_values<C>(grad(f)(a), {2}, {C(11.5, -18), C(36, 23)});
}

// An infinite cotangent does not affect the others: they are no sums that include it.
TEST(MovingDerivative, OfPadLeavesOutTheOperand) {
  const auto [out, pullback] =
      vjp([](const Tensor& x, const Tensor& value) { return pad(x, value, {1}, {1}); },
          constant({1.0, 2.0}), Literal::scalar(5.0));
  const auto [of_x, of_value] = pullback(Tensor(constant({1.0, HUGE_VAL, 3.0, 4.0})));
  expect_values<double>(of_x, {2}, {HUGE_VAL, 3});
  expect_scalar(of_value, 5.0);
}

TEST(MovingDerivative, PassesNoIntegers) {
  const Tensor x = constant({1.0, 4.0, 9.0});
  const auto f = [](const Tensor& t) {
    const Tensor places = convert(t, DType::kS32) % 3;  // 1, 1, 0
    return sum(take(t, places) * convert(iota(s32({3}), 0), DType::kF64)) +
           convert(argmax(t, 0), DType::kF64);
  };
  expect_values<double>(grad(f)(x), {3}, {2, 1, 0});
}

}  // namespace
}  // namespace rondo
