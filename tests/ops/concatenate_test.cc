#include "ops/moved.h"

namespace rondo::testing {
namespace {

TEST(Concatenate, PutsPartsInARow) {
  Shapes shapes(6);
  for (int round = 0; round < 60; round++) {
    Shape shape = shapes.shape(1 + round % 4);
    const std::int64_t axis = shapes.number(0, shape.rank() - 1);
    const std::int64_t count = shapes.number(1, 5);
    std::vector<Tensor> parts;
    std::vector<std::vector<std::int32_t>> values;
    std::vector<Shape> part_shapes;
    std::vector<std::int64_t> dims = shape.vector();
    dims[static_cast<std::size_t>(axis)] = 0;
    for (std::int64_t i = 0; i < count; i++) {
      std::vector<std::int64_t> part = shape.vector();
      part[static_cast<std::size_t>(axis)] = shapes.number(0, 3);
      dims[static_cast<std::size_t>(axis)] += part[static_cast<std::size_t>(axis)];
      part_shapes.emplace_back(part);
      values.emplace_back();
      for (std::int64_t e = 0; e < part_shapes.back().elements(); e++)
        values.back().push_back(static_cast<std::int32_t>(1000 * i + e));
      parts.push_back(constant(values.back(), part_shapes.back()));
    }
    std::vector<std::int32_t> want;
    for_each_index(dims, [&](Index index) {
      std::int64_t& at = index[static_cast<std::size_t>(axis)];
      std::size_t part = 0;
      while (at >= part_shapes[part][axis]) at -= part_shapes[part++][axis];
      want.push_back(values[part][static_cast<std::size_t>(position(index, part_shapes[part]))]);
    });
    expect_values(concatenate(parts, axis - (round % 2 == 0 ? 0 : shape.rank())), dims, want);
  }
}

TEST(Concatenate, AThousandParts) {
  std::vector<Tensor> parts;
  std::vector<std::int32_t> want;
  for (int i = 0; i < 1000; i++) {
    parts.push_back(constant({i, -i}));
    want.insert(want.end(), {i, -i});
  }
  expect_values(rondo::concatenate(parts, 0), {2000}, want);
}

TEST(Concatenate, OfOnePartIsThePart) {
  const Tensor x = arange(3);
  EXPECT_TRUE(rondo::concatenate({x}, 0).same_as(x));
}

TEST(Concatenate, Misuse) {
  const Tensor x = zeros(f32({2, 3}));
  expect_error([&] { rondo::concatenate({}, 0); }, {"concatenate", "empty", "concatenate_test.cc"});
  expect_error(
      [&] {
        rondo::concatenate({x, x, zeros(f32({3, 3}))}, 1);
      },
      {"concatenate", "part 2 is f32[3,3]", "part 0 is f32[2,3]", "only axis 1"});
  expect_error([&] { rondo::concatenate({x, zeros(f32({2}))}, 0); }, {"part 1 is f32[2]"});
  expect_error(
      [&] {
        rondo::concatenate({x, zeros(s32({2, 3}))}, 0);
      },
      {"part 1 is s32[2,3]", "convert", "kF32"});
  expect_error([&] { rondo::concatenate({x, x}, 2); }, {"axis 2 is out of range"});
  expect_error(
      [&] {
        rondo::concatenate({Tensor(1), Tensor(2)}, 0);
      },
      {"concatenate", "scalar", "stack"});
  expect_error([&] { rondo::concatenate({x, Tensor()}, 0); }, {"empty Tensor"});
}

TEST(Stack, AddsAnAxis) {
  const Tensor a = constant({1, 2, 3}), b = constant({4, 5, 6});
  expect_values<std::int32_t>(rondo::stack({a, b}, 0), {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_values<std::int32_t>(rondo::stack({a, b}, 1), {3, 2}, {1, 4, 2, 5, 3, 6});
  expect_values<std::int32_t>(rondo::stack({a, b}, -1), {3, 2}, {1, 4, 2, 5, 3, 6});
  expect_values<std::int32_t>(rondo::stack({a}, 0), {1, 3}, {1, 2, 3});
  EXPECT_EQ(rondo::stack({zeros(f32({0, 2})), zeros(f32({0, 2}))}, 1).shape(), (Shape{0, 2, 2}));
}

TEST(Stack, Scalars) {
  expect_values<std::int32_t>(rondo::stack({1, 2, 3}, 0), {3}, {1, 2, 3});
  expect_values<float>(rondo::stack({1, 2.5f}, 0), {2}, {1, 2.5f});
  const Tensor x = full(f64(), 0.5);
  expect_values<double>(rondo::stack({1, x, 2.5f}, 0), {3}, {1, 0.5, 2.5});
  std::vector<Tensor> many;
  std::vector<float> want;
  for (int i = 0; i < 300; i++) {
    many.push_back(full(f32(), i));
    want.push_back(static_cast<float>(i));
  }
  expect_values(rondo::stack(many, 0), {300}, want);
}

TEST(Stack, Misuse) {
  const Tensor a = constant({1, 2, 3});
  expect_error(
      [&] {
        rondo::stack({a, constant({1, 2})}, 0);
      },
      {"stack", "part 1 is s32[2]", "part 0 is s32[3]"});
  expect_error([&] { rondo::stack({a, zeros(f32({3}))}, 0); }, {"stack", "part 1 is f32[3]"});
  expect_error([&] { rondo::stack({}, 0); }, {"stack", "empty"});
  expect_error([&] { rondo::stack({a, a}, 2); }, {"stack", "axis 2 is out of range", "-2 to 1"});
  expect_error([&] { rondo::stack({arange(1)[0], 1.5f}, 0); }, {"1.5", "s32"});
}

TEST(Concatenate, Text) {
  auto program = trace(
      [](const Tensor& a, const Tensor& b) {
        return concatenate(std::vector{a, b}, 1);
      },
      f32({2, 3}), f32({2, 1}));
  EXPECT_NE(to_hlo_text(program).find("f32[2,4] concatenate("), std::string::npos);
  EXPECT_NE(to_hlo_text(program).find("dimensions={1}"), std::string::npos);
}

}  // namespace
}  // namespace rondo::testing
