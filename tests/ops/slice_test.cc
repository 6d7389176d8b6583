#include "ops/moved.h"

namespace rondo::testing {
namespace {

TEST(Slice, TakesEveryStridethElement) {
  Shapes shapes(8);
  for (int i = 0; i < 100; i++) {
    const Shape from = shapes.shape(i % 5);
    std::vector<std::int64_t> starts, limits, strides, dims;
    for (std::int64_t size : from) {
      starts.push_back(shapes.number(0, size));
      limits.push_back(shapes.number(starts.back(), size));
      strides.push_back(shapes.number(1, 3));
      std::int64_t count = 0;
      for (std::int64_t at = starts.back(); at < limits.back(); at += strides.back()) count++;
      dims.push_back(count);
    }
    expect_moved([&](const Tensor& x) { return slice(x, starts, limits, strides); }, from, dims,
                 [&](const Index& index) {
                   Index source;
                   for (std::size_t axis = 0; axis < index.size(); axis++)
                     source.push_back(starts[axis] + index[axis] * strides[axis]);
                   return position(source, from);
                 });
  }
}

TEST(Slice, StridesOfOneByDefault) {
  expect_values<std::int32_t>(slice(arange(6), {1}, {4}), {3}, {1, 2, 3});
  const Tensor x = arange(6);
  EXPECT_TRUE(slice(x, {0}, {6}).same_as(x));
  EXPECT_TRUE(slice(Tensor(1), {}, {}).type() == s32());
}

TEST(Slice, Misuse) {
  const Tensor x = zeros(f32({4, 5}));
  expect_error(
      [&] {
        slice(x, {0, 0}, {4, 6});
      },
      {"slice", "[0, 6)", "axis 1 of f32[4,5]", "5 elements", "slice_test.cc"});
  expect_error([&] { slice(x, {-1, 0}, {4, 5}); }, {"[-1, 4)", "axis 0"});
  expect_error([&] { slice(x, {3, 0}, {2, 5}); }, {"[3, 2)", "axis 0"});
  expect_error([&] { slice(x, {0}, {4}); }, {"f32[4,5] has 2 axes", "1 starts"});
  expect_error([&] { slice(x, {0, 0}, {4, 5}, {1}); }, {"1 strides"});
  expect_error([&] { slice(x, {0, 0}, {4, 5}, {1, 0}); }, {"stride 0 of axis 1"});
  expect_error([&] { slice(x, {0, 0}, {4, 5}, {-1, 1}); }, {"stride -1 of axis 0", "reverse"});
}

TEST(Slice, Text) {
  auto program = trace(
      [](const Tensor& x) {
        return slice(x, {0, 1}, {4, 3}, {2, 1});
      },
      f32({4, 5}));
  EXPECT_NE(to_hlo_text(program).find("slice={[0:4:2], [1:3]}"), std::string::npos)
      << to_hlo_text(program);
}

}  // namespace
}  // namespace rondo::testing
