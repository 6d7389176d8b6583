// Arrays without elements may have other axes so long that their product overflows 64 bits. Nothing
// may be computed with it.
#include "support/expect.h"

namespace rondo::testing {
namespace {

constexpr std::int64_t kLong = std::int64_t{1} << 40;
const Shape kShape{0, kLong, kLong};

void expect_empty(const Tensor& x, const Shape& shape) {
  EXPECT_EQ(x.eval().type(), (TensorType{DType::kF32, shape}));
}

TEST(LongEmpty, Creation) {
  expect_empty(zeros({DType::kF32, kShape}), kShape);
  expect_empty(iota({DType::kF32, kShape}, 0), kShape);
  expect_empty(iota({DType::kF32, kShape}, 1), kShape);
}

TEST(LongEmpty, Shape) {
  const Tensor x = constant(Literal::zeros({DType::kF32, kShape}));
  expect_empty(reshape(x, {kLong, kLong, 0}), {kLong, kLong, 0});
  expect_empty(broadcast_to(x, {2, 0, kLong, kLong}), {2, 0, kLong, kLong});
  expect_empty(transpose(x), {kLong, kLong, 0});
  expect_empty(reverse(x), kShape);
  expect_empty(rondo::concatenate({x, x}, 0), kShape);
  expect_empty(rondo::stack({x, x}, 1), {0, 2, kLong, kLong});
  expect_empty(pad(x, 1, {0, 1, -1}, {0, 0, 0}), {0, kLong + 1, kLong - 1});
}

TEST(LongEmpty, Parts) {
  const Tensor x = constant(Literal::zeros({DType::kF32, kShape})), i = constant({3})[0];
  expect_empty(slice(x, {0, 1, 2}, {0, kLong, kLong}, {1, 3, 1}), {0, (kLong + 1) / 3, kLong - 2});
  expect_empty(dynamic_slice(x, {i, i, i}, {0, 5, kLong}), {0, 5, kLong});
  expect_empty(dynamic_update_slice(x, zeros(f32({0, 2, 3})), {i, i, i}), kShape);
  expect_empty(take(x, constant({1, 2}), 1), {0, 2, kLong});
  expect_empty(scatter(x, zeros(s32({3, 1})), zeros({DType::kF32, {3, 0, kLong}}),
                       {.update_window_dims = {1, 2},
                        .inserted_window_dims = {1},
                        .scatter_dims_to_operand_dims = {1},
                        .index_vector_dim = 1},
                       [](const Tensor& a, const Tensor& b) { return a + b; }),
               kShape);
}

TEST(LongEmpty, TheEndsOfPaddingAndStrides) {
  expect_values<float>(
      slice(constant({{1.0f, 2.0f}, {3.0f, 4.0f}}), {0, 0}, {2, 2}, {INT64_MAX, 1}), {1, 2},
      {1, 2});
  constexpr std::int64_t most = std::int64_t{1} << 62;
  expect_values<float>(pad(constant({1.0f}), 9, {-most}, {most}), {1}, {9});
  expect_values<float>(pad(constant({1.0f}), 9, {most}, {-most}), {1}, {9});
  expect_values<float>(pad(constant({{1.0f, 2.0f}}), 9, {0, 0}, {0, 0}, {most, 0}), {1, 2}, {1, 2});
  expect_error([&] { pad(constant({1.0f}), 9, {INT64_MIN}, {INT64_MAX}); },
               {"pad", "axis 0 of f32[1]", "too large"});
}

}  // namespace
}  // namespace rondo::testing
