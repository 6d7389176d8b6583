#include <algorithm>
#include <numeric>

#include "ops/moved.h"

namespace rondo::testing {
namespace {

TEST(Reshape, KeepsRowMajorOrder) {
  Shapes shapes(1);
  for (int i = 0; i < 40; i++) {
    const Shape from = shapes.shape(i % 5);
    std::vector<std::int64_t> dims = from.vector();
    std::shuffle(dims.begin(), dims.end(), shapes.engine());
    const Shape to(dims);
    expect_moved([&](const Tensor& x) { return reshape(x, dims); }, from, to,
                 [&](const Index& index) { return position(index, to); });
  }
}

TEST(Reshape, InfersOneSize) {
  const Tensor x = arange(12);
  EXPECT_EQ(reshape(x, {3, -1}).shape(), (Shape{3, 4}));
  EXPECT_EQ(reshape(x, {-1, 2, 2}).shape(), (Shape{3, 2, 2}));
  EXPECT_EQ(reshape(x, {-1}).shape(), (Shape{12}));
  EXPECT_EQ(reshape(zeros(f32({0, 3})), {-1, 3}).shape(), (Shape{0, 3}));
  EXPECT_EQ(reshape(Tensor(1.0f), {-1}).shape(), (Shape{1}));
  EXPECT_EQ(reshape(constant({5}), {}).shape(), Shape{});
  EXPECT_EQ(reshape(x, Shape{4, 3}).shape(), (Shape{4, 3}));
  expect_values<float>(reshape(2.0f, {1, 1}), {1, 1}, {2});
}

TEST(Reshape, ToTheSameShapeIsTheOperand) {
  const Tensor x = arange(6);
  EXPECT_TRUE(reshape(x, {6}).same_as(x));
  EXPECT_TRUE(reshape(x, {-1}).same_as(x));
}

TEST(Reshape, Misuse) {
  const Tensor x = zeros(f32({2, 3}));
  expect_error([&] { reshape(x, {4}); },
               {"reshape", "f32[2,3] has 6 elements", "[4]", "it has 4", "shape_test.cc"});
  expect_error([&] { reshape(x, {4, -1}); }, {"[4,-1]", "6 is no multiple of 4"});
  expect_error([&] { reshape(x, {-1, -1}); }, {"only one size can be inferred"});
  expect_error([&] { reshape(x, {-2, 3}); }, {"axis 0 has a negative size"});
  expect_error([&] { reshape(zeros(f32({0})), {0, -1}); }, {"axis of size 0"});
  expect_error(
      [&] {
        reshape(x, {std::int64_t{1} << 40, std::int64_t{1} << 40});
      },
      {"too many elements"});
  expect_error([&] { reshape(Tensor(), {1}); }, {"reshape", "empty Tensor"});
}

TEST(BroadcastTo, RepeatsAxesOfSizeOne) {
  Shapes shapes(2);
  for (int i = 0; i < 60; i++) {
    const Shape to = shapes.shape(i % 5);
    // The operand lacks some leading axes and has others of size 1.
    const std::int64_t added = shapes.number(0, to.rank());
    std::vector<std::int64_t> dims(to.begin() + added, to.end());
    for (std::int64_t& dim : dims) {
      if (shapes.number(0, 1) == 0) dim = 1;
    }
    const Shape from(dims);
    expect_moved([&](const Tensor& x) { return broadcast_to(x, to); }, from, to,
                 [&](const Index& index) {
                   Index source(index.begin() + added, index.end());
                   for (std::size_t axis = 0; axis < source.size(); axis++) {
                     if (from[axis] == 1) source[axis] = 0;
                   }
                   return position(source, from);
                 });
  }
}

TEST(BroadcastTo, Misuse) {
  const Tensor x = zeros(f32({2, 3}));
  expect_error([&] { broadcast_to(x, {3}); }, {"broadcast_to", "f32[2,3]", "[3]", "expand_dims"});
  expect_error([&] { broadcast_to(x, {2, 4}); }, {"f32[2,3]", "[2,4]"});
  expect_error([&] { broadcast_to(x, {0, 3}); }, {"f32[2,3]", "[0,3]"});
  expect_error([&] { broadcast_to(x, {-1, 3}); }, {"-1"});
}

TEST(BroadcastInDim, PutsAxesWhereTheMapSays) {
  Shapes shapes(3);
  for (int i = 0; i < 60; i++) {
    const Shape to = shapes.shape(i % 5);
    std::vector<std::int64_t> places(to.size());
    std::iota(places.begin(), places.end(), 0);
    std::shuffle(places.begin(), places.end(), shapes.engine());
    places.resize(static_cast<std::size_t>(shapes.number(0, to.rank())));
    std::vector<std::int64_t> dims;
    for (std::int64_t place : places) dims.push_back(shapes.number(0, 2) == 0 ? 1 : to[place]);
    const Shape from(dims);
    expect_moved(
        [&](const Tensor& x) { return broadcast_in_dim(x, to, places); }, from, to,
        [&](const Index& index) {
          Index source;
          for (std::size_t axis = 0; axis < places.size(); axis++) {
            source.push_back(from[axis] == 1 ? 0 : index[static_cast<std::size_t>(places[axis])]);
          }
          return position(source, from);
        });
  }
}

TEST(BroadcastInDim, Misuse) {
  const Tensor x = zeros(f32({2, 3}));
  expect_error(
      [&] {
        broadcast_in_dim(x, {2, 3, 4}, {0});
      },
      {"broadcast_in_dim", "f32[2,3]", "[2,3,4]", "has 1"});
  expect_error([&] { broadcast_in_dim(x, {2, 3, 4}, {0, 3}); }, {"axis 3 is out of range"});
  expect_error(
      [&] {
        broadcast_in_dim(x, {2, 2, 4}, {1, 1});
      },
      {"axis 1 of the result is named twice"});
  expect_error(
      [&] {
        broadcast_in_dim(x, {2, 4}, {0, 1});
      },
      {"axis 1 of the operand has 3 elements", "axis 1 of the result 4"});
}

TEST(Broadcast, Text) {
  const Tensor x = zeros(f32({2, 1}));
  auto program = trace([](const Tensor& a) { return broadcast_to(a, {4, 2, 3}); }, f32({2, 1}));
  EXPECT_NE(to_hlo_text(program).find("f32[4,2,3] broadcast("), std::string::npos)
      << to_hlo_text(program);
  EXPECT_NE(to_hlo_text(program).find("dimensions={1}"), std::string::npos) << to_hlo_text(program);
}

TEST(Squeeze, DropsAxesOfSizeOne) {
  const Tensor x = reshape(arange(6), {1, 2, 1, 3, 1});
  EXPECT_EQ(squeeze(x).shape(), (Shape{2, 3}));
  EXPECT_EQ(squeeze(x, {0}).shape(), (Shape{2, 1, 3, 1}));
  EXPECT_EQ(squeeze(x, {-1, 2}).shape(), (Shape{1, 2, 3}));
  expect_values<std::int32_t>(squeeze(x), {2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(squeeze(zeros(f32({1, 0}))).shape(), (Shape{0}));
  EXPECT_EQ(squeeze(Tensor(1)).shape(), Shape{});
  expect_error([&] { squeeze(x, {1}); }, {"squeeze", "axis 1 of s32[1,2,1,3,1] has 2 elements"});
  expect_error([&] { squeeze(x, {5}); }, {"squeeze", "axis 5 is out of range"});
  expect_error([&] { squeeze(x, {0, -5}); }, {"squeeze", "axis 0 is named twice"});
}

TEST(ExpandDims, InsertsAnAxis) {
  const Tensor x = reshape(arange(6), {2, 3});
  EXPECT_EQ(expand_dims(x, 0).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(expand_dims(x, 1).shape(), (Shape{2, 1, 3}));
  EXPECT_EQ(expand_dims(x, -1).shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(expand_dims(Tensor(1), 0).shape(), (Shape{1}));
  expect_values<std::int32_t>(expand_dims(x, 1), {2, 1, 3}, {0, 1, 2, 3, 4, 5});
  expect_error([&] { expand_dims(x, 3); }, {"expand_dims", "axis 3 is out of range", "-3 to 2"});
}

}  // namespace
}  // namespace rondo::testing
