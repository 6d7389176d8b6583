#include <optional>

#include "ops/moved.h"

namespace rondo::testing {
namespace {

TEST(Pad, LowHighAndInteriorOfAnySign) {
  Shapes shapes(7);
  for (int i = 0; i < 200; i++) {
    const Shape from = shapes.shape(1 + i % 4);
    std::vector<std::int64_t> low, high, interior, dims;
    for (std::int64_t size : from) {
      low.push_back(shapes.number(-3, 3));
      high.push_back(shapes.number(-3, 3));
      interior.push_back(shapes.number(0, 2));
      dims.push_back(low.back() + high.back() + size +
                     std::max<std::int64_t>(size - 1, 0) * interior.back());
      if (dims.back() < 0) {
        high.back() -= dims.back();
        dims.back() = 0;
      }
    }
    expect_moved(
        [&](const Tensor& x) {
          return pad(x, zeros({x.dtype(), {}}), low, high, interior);
        },
        from, dims,
        [&](const Index& index) {
          Index source;
          for (std::size_t axis = 0; axis < index.size(); axis++) {
            const std::int64_t from_low = index[axis] - low[axis], step = interior[axis] + 1;
            if (from_low < 0 || from_low % step != 0 || from_low / step >= from[axis])
              return kFiller;
            source.push_back(from_low / step);
          }
          return position(source, from);
        });
  }
}

TEST(Pad, CutsAfterTheInteriorPadding) {
  // Like XLA: [0 1 2 3] with -1_-1_1.
  expect_values<std::int32_t>(pad(arange(4), 9, {-1}, {-1}, {1}), {5}, {9, 1, 9, 2, 9});
}

TEST(Pad, TheValueTakesTheDtype) {
  expect_values<float>(pad(constant({1.5f}), 2, {1}, {2}), {4}, {2, 1.5f, 2, 2});
  expect_values<double>(pad(full(f64({1}), 1), 0.1, {0}, {1}), {2}, {1, 0.1});
  expect_values<float>(pad(zeros(f32({0})), 3, {1}, {1}), {2}, {3, 3});
}

TEST(Pad, OfAScalarIsTheScalar) {
  const Tensor x = full(f32(), 4);
  EXPECT_TRUE(pad(x, 0, {}, {}).same_as(x));
}

TEST(Pad, Misuse) {
  const Tensor x = zeros(f32({2, 3}));
  expect_error(
      [&] {
        pad(x, 0, {1}, {1, 1});
      },
      {"pad", "f32[2,3] has 2 axes", "1 low", "2 high", "pad_test.cc"});
  expect_error([&] { pad(x, constant({0.0f}), {0, 0}, {0, 0}); }, {"pad", "f32[1]", "scalar"});
  expect_error([&] { pad(x, zeros(s32()), {0, 0}, {0, 0}); }, {"pad", "f32[2,3]", "s32[]"});
  expect_error([&] { pad(x, 0, {0, -2}, {0, -2}); }, {"axis 1 of f32[2,3]", "-1 elements"});
  expect_error([&] { pad(x, 0, {0, 0}, {0, 0}, {0, -1}); }, {"interior padding of axis 1 is -1"});
  expect_error([&] { pad(x, 0, {INT64_MAX, 0}, {INT64_MAX, 0}); }, {"axis 0", "too large"});
  expect_error([&] { pad(x, 0, {0, 0}, {0, 0}, {INT64_MAX, 0}); }, {"axis 0", "too large"});
}

TEST(Pad, Text) {
  auto program = trace(
      [](const Tensor& x) {
        return pad(x, 1, {-1, 0}, {2, 0}, {0, 3});
      },
      f32({2, 3}));
  EXPECT_NE(to_hlo_text(program).find("padding=-1_2x0_0_3"), std::string::npos)
      << to_hlo_text(program);
}

}  // namespace
}  // namespace rondo::testing
