// Derivatives of the ops that move elements: broadcast, reshape, transpose, reverse, concatenate,
// pad, slice, dynamic slices; and of products.
#include <gtest/gtest.h>

#include <complex>

#include "support/expect.h"
#include "transforms/bent.h"

namespace rondo {
namespace {

using testing::bent;
using testing::derivative_error;
using testing::expect_scalar;
using testing::expect_values;
using testing::random_array;
using testing::weighed;
using Many = std::vector<Tensor>;

struct MovingOp {
  const char* name;
  std::vector<Shape> shapes;
  std::function<Tensor(const Many&)> op;
};

const MovingOp kMovingOps[] = {
    {"broadcast_to",
     {{3}},
     [](const Many& x) {
       return broadcast_to(x[0], {4, 2, 3});
     }},
    {"broadcast_to_of_ones",
     {{2, 1, 3}},
     [](const Many& x) {
       return broadcast_to(x[0], {2, 4, 3});
     }},
    {"broadcast_scalar",
     {{}},
     [](const Many& x) {
       return broadcast_to(x[0], {2, 3});
     }},
    {"broadcast_in_dim",
     {{3, 2}},
     [](const Many& x) {
       return broadcast_in_dim(x[0], {2, 5, 3}, {2, 0});
     }},
    {"broadcast_to_no_elements",
     {{2}},
     [](const Many& x) {
       return sum(broadcast_to(x[0], {0, 2})) + sum(x[0]);
     }},
    {"reshape",
     {{2, 6}},
     [](const Many& x) {
       return reshape(x[0], {3, 4});
     }},
    {"squeeze", {{2, 1, 3}}, [](const Many& x) { return squeeze(x[0]); }},
    {"transpose",
     {{2, 3, 4}},
     [](const Many& x) {
       return transpose(x[0], {2, 0, 1});
     }},
    {"reverse",
     {{2, 3, 4}},
     [](const Many& x) {
       return reverse(x[0], {0, 2});
     }},
    {"concatenate",
     {{2, 3}, {2, 1}, {2, 2}},
     [](const Many& x) {
       return concatenate({x[0], x[1], x[2], x[0]}, 1);
     }},
    {"concatenate_with_constant",
     {{2, 3}},
     [](const Many& x) {
       return concatenate({zeros({x[0].dtype(), {1, 3}}), x[0]}, 0);
     }},
    {"stack",
     {{3}, {3}},
     [](const Many& x) {
       return stack({x[0], x[1]}, 1);
     }},
    {"pad",
     {{2, 3}, {}},
     [](const Many& x) {
       return pad(x[0], x[1], {1, 0}, {2, 1});
     }},
    {"pad_interior",
     {{2, 3}, {}},
     [](const Many& x) {
       return pad(x[0], x[1], {1, 2}, {0, 1}, {2, 1});
     }},
    {"pad_negative",
     {{4, 5}, {}},
     [](const Many& x) {
       return pad(x[0], x[1], {-1, -3}, {2, -1}, {1, 2});
     }},
    {"pad_of_nothing", {{0}, {}}, [](const Many& x) { return pad(x[0], x[1], {1}, {2}, {3}); }},
    {"slice",
     {{4, 5}},
     [](const Many& x) {
       return slice(x[0], {1, 0}, {3, 4});
     }},
    {"slice_strided",
     {{7, 5}},
     [](const Many& x) {
       return slice(x[0], {1, 0}, {6, 5}, {3, 2});
     }},
    {"slice_of_nothing",
     {{4}},
     [](const Many& x) { return sum(slice(x[0], {2}, {2}, {3})) + sum(x[0]); }},
    {"row", {{3, 2}}, [](const Many& x) { return x[0][1] * x[0][-1]; }},
    {"row_at_index", {{3, 2}}, [](const Many& x) { return x[0][constant(Literal::scalar(2))]; }},
    {"dynamic_slice",
     {{4, 5}},
     [](const Many& x) {
       return dynamic_slice(x[0], {Tensor(1), Tensor(2)}, {2, 3});
     }},
    {"dynamic_slice_clamped",
     {{4, 5}},
     [](const Many& x) {
       const Tensor start = constant(Literal::scalar(9)), low = constant(Literal::scalar(-3));
       return dynamic_slice(x[0], {start, low}, {2, 3});
     }},
    {"dynamic_update_slice",
     {{4, 5}, {2, 3}},
     [](const Many& x) {
       return dynamic_update_slice(x[0], x[1], {Tensor(1), Tensor(2)});
     }},
    {"dynamic_update_slice_clamped",
     {{4, 5}, {2, 3}},
     [](const Many& x) {
       const Tensor start = constant(Literal::scalar(9)), low = constant(Literal::scalar(-3));
       return dynamic_update_slice(x[0], x[1], {low, start});
     }},
    {"dynamic_update_slice_into_constant",
     {{2}},
     [](const Many& x) {
       return dynamic_update_slice(ones({x[0].dtype(), {4}}), x[0], {Tensor(1)});
     }},
    {"update_with_constant",
     {{4}},
     [](const Many& x) { return update(x[0], constant(Literal::scalar(2)), 3.0); }},
    {"dot_vectors", {{4}, {4}}, [](const Many& x) { return dot(x[0], x[1]); }},
    {"dot_with_itself", {{4}}, [](const Many& x) { return dot(x[0], x[0]); }},
    {"matmul", {{2, 3}, {3, 4}}, [](const Many& x) { return matmul(x[0], x[1]); }},
    {"matmul_vector", {{2, 3}, {3}}, [](const Many& x) { return matmul(x[0], x[1]); }},
    {"matmul_batched", {{5, 2, 3}, {5, 3, 4}}, [](const Many& x) { return matmul(x[0], x[1]); }},
    {"matmul_broadcast", {{2, 3}, {5, 3, 4}}, [](const Many& x) { return matmul(x[0], x[1]); }},
    {"dot_outer", {{2, 3}, {4}}, [](const Many& x) { return dot_general(x[0], x[1], DotDims{}); }},
    {"dot_general",  // lhs: contracted with rhs 3, batch, free, contracted with rhs 1
     {{2, 5, 3, 4}, {5, 4, 6, 2}},
     [](const Many& x) {
       return dot_general(x[0], x[1], DotDims{{1}, {0}, {0, 3}, {3, 1}});
     }},
    {"dot_general_two_batches",
     {{2, 3, 4, 5}, {5, 3, 2, 6}},
     [](const Many& x) {
       return dot_general(x[0], x[1], DotDims{{1, 0}, {1, 2}, {3}, {0}});
     }},
};

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

INSTANTIATE_TEST_SUITE_P(Ops, MovingDerivatives, ::testing::ValuesIn(kMovingOps),
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

// An infinite cotangent stays where it is: the others are no sums with it in.
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
