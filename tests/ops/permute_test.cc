#include <algorithm>
#include <numeric>

#include "ops/moved.h"

namespace rondo::testing {
namespace {

TEST(Transpose, AxesGoWhereThePermutationSays) {
  Shapes shapes(4);
  for (int i = 0; i < 60; i++) {
    const Shape from = shapes.shape(i % 5);
    std::vector<std::int64_t> perm(from.size()), dims;
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), shapes.engine());
    for (std::int64_t axis : perm) dims.push_back(from[axis]);
    if (perm.empty()) continue;
    expect_moved([&](const Tensor& x) { return transpose(x, perm); }, from, dims,
                 [&](const Index& index) {
                   Index source(index.size());
                   for (std::size_t axis = 0; axis < perm.size(); axis++)
                     source[static_cast<std::size_t>(perm[axis])] = index[axis];
                   return position(source, from);
                 });
  }
}

TEST(Transpose, ReversesTheAxesByDefault) {
  expect_values<std::int32_t>(transpose(constant({{1, 2, 3}, {4, 5, 6}})), {3, 2},
                              {1, 4, 2, 5, 3, 6});
  EXPECT_EQ(transpose(zeros(f32({2, 3, 4}))).shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(transpose(zeros(f32({2, 3, 4})), {-1, 0, 1}).shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(transpose(Tensor(1.0f)).shape(), Shape{});
}

TEST(Transpose, ThatChangesNothingIsTheOperand) {
  const Tensor x = zeros(f32({2, 3})), v = arange(3);
  EXPECT_TRUE(transpose(x, {0, 1}).same_as(x));
  EXPECT_TRUE(transpose(v).same_as(v));
}

TEST(Transpose, Misuse) {
  const Tensor x = zeros(f32({2, 3}));
  expect_error([&] { transpose(x, {0}); }, {"transpose", "[0]", "2 axes of f32[2,3]"});
  expect_error([&] { transpose(x, {0, 0}); }, {"transpose", "[0,0]", "named once"});
  expect_error([&] { transpose(x, {0, 2}); }, {"transpose", "[0,2]"});
  expect_error([&] { transpose(x, {1, -3}); }, {"transpose", "f32[2,3]", "permute_test.cc"});
}

TEST(Reverse, TurnsTheAxesRound) {
  Shapes shapes(5);
  for (int i = 0; i < 60; i++) {
    const Shape shape = shapes.shape(i % 5);
    std::vector<std::int64_t> axes;
    for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
      if (shapes.number(0, 1) == 1)
        axes.push_back(shapes.number(0, 1) == 1 ? axis : axis - shape.rank());
    }
    std::shuffle(axes.begin(), axes.end(), shapes.engine());
    expect_moved([&](const Tensor& x) { return reverse(x, axes); }, shape, shape,
                 [&](const Index& index) {
                   Index source = index;
                   for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
                     const auto named = [&](std::int64_t a) {
                       return a == axis || a + shape.rank() == axis;
                     };
                     if (!axes.empty() && std::none_of(axes.begin(), axes.end(), named)) continue;
                     std::int64_t& at = source[static_cast<std::size_t>(axis)];
                     at = shape[axis] - 1 - at;
                   }
                   return position(source, shape);
                 });
  }
}

TEST(Reverse, Misuse) {
  const Tensor x = zeros(f32({2, 3}));
  expect_error([&] { reverse(x, {2}); }, {"reverse", "axis 2 is out of range"});
  expect_error([&] { reverse(x, {0, -2}); }, {"reverse", "axis 0 is named twice"});
}

TEST(Permute, Text) {
  auto program = trace(
      [](const Tensor& x) {
        return reverse(transpose(x, {2, 0, 1}), {0, 2});
      },
      f32({2, 3, 4}));
  const std::string hlo = to_hlo_text(program);
  EXPECT_NE(hlo.find("dimensions={2, 0, 1}"), std::string::npos) << hlo;
  EXPECT_NE(hlo.find("dimensions={0, 2}"), std::string::npos) << hlo;
}

}  // namespace
}  // namespace rondo::testing
