#include <algorithm>
#include <limits>

#include "ops/moved.h"

namespace rondo::testing {
namespace {

TEST(Row, OfAnInt) {
  Shapes shapes(40);
  for (int i = 0; i < 40; i++) {
    const Shape from = shapes.shape(1 + i % 4);
    if (from[0] == 0) continue;
    const Shape to(from.dims().subspan(1));
    const std::int64_t row = shapes.number(0, from[0] - 1);
    for (std::int64_t index : {row, row - from[0]}) {
      expect_moved([&](const Tensor& x) { return x[index]; }, from, to,
                   [&](const Index& at) { return row * to.elements() + position(at, to); });
    }
    for (std::int64_t index : {row, row - 100, row + 100}) {
      const std::int64_t clamped = std::clamp<std::int64_t>(index, 0, from[0] - 1);
      expect_moved([&](const Tensor& x) { return x[full(s32(), index)]; }, from, to,
                   [&](const Index& at) { return clamped * to.elements() + position(at, to); });
    }
  }
}

TEST(Row, OfUnsignedIndices) {
  const Tensor x = arange(5);
  EXPECT_EQ(x[std::size_t{3}].item<std::int32_t>(), 3);
  EXPECT_EQ(x[full(u32(), 4294967295u)].item<std::int32_t>(), 4);
  EXPECT_EQ(x[full(u64(), UINT64_MAX)].item<std::int32_t>(), 4);
}

TEST(Row, Misuse) {
  const Tensor x = zeros(f32({3, 2}));
  expect_error([&] { x[3]; }, {"[]", "index 3 of f32[3,2]", "-3 to 2", "rows_test.cc"});
  expect_error([&] { x[-4]; }, {"index -4 of f32[3,2]"});
  expect_error([&] { x[UINT64_MAX]; }, {"index 18446744073709551615"});
  expect_error([&] { x[1.0]; }, {"[]", "f64", "integer"});
  expect_error([&] { x[zeros(f32())]; }, {"[]", "f32[]", "integer scalar"});
  expect_error([&] { x[arange(2)]; }, {"[]", "s32[2]", "take"});
  expect_error([&] { zeros(f32())[0]; }, {"[]", "f32[] is a scalar"});
  expect_error([&] { zeros(f32({0, 2}))[0]; }, {"no rows"});
  expect_error([&] { zeros(f32({0, 2}))[full(s32(), 0)]; }, {"f32[0,2] has no rows"});
  expect_error([&] { Tensor()[0]; }, {"empty Tensor"});
}

TEST(Update, ReplacesARow) {
  Shapes shapes(41);
  for (int i = 0; i < 60; i++) {
    const Shape shape = shapes.shape(1 + i % 4);
    if (shape[0] == 0) continue;
    const std::vector<std::int64_t> row_dims(shape.begin() + 1, shape.end());
    const std::int64_t row = shapes.number(0, shape[0] - 1);
    auto changed = [&](const Index& at) { return at[0] == row ? kFiller : position(at, shape); };
    expect_moved(
        [&](const Tensor& x) {
          return update(x, row, zeros({x.dtype(), Shape(row_dims)}));
        },
        shape, shape, changed);
    expect_moved([&](const Tensor& x) { return update(x, row - shape[0], 0); }, shape, shape,
                 changed);
    expect_moved([&](const Tensor& x) { return update(x, full(s32(), row), 0); }, shape, shape,
                 changed);
  }
}

TEST(Update, ClampsTensorsAndCountsIntsFromTheEnd) {
  const Tensor x = arange(3);
  expect_values<std::int32_t>(update(x, full(s32(), 9), 7), {3}, {0, 1, 7});
  expect_values<std::int32_t>(update(x, full(s32(), -1), 7), {3}, {7, 1, 2});
  expect_values<std::int32_t>(update(x, full(u32(), 4294967295u), 7), {3}, {0, 1, 7});
  expect_values<std::int32_t>(update(x, -1, 7), {3}, {0, 1, 7});
}

TEST(Update, TheRowBroadcasts) {
  const Tensor x = zeros(f32({2, 2, 3}));
  expect_values<float>(update(x, 0, constant({1.0f, 2.0f, 3.0f})), {2, 2, 3},
                       {1, 2, 3, 1, 2, 3, 0, 0, 0, 0, 0, 0});
  expect_values<float>(update(x, 1, constant({{1.0f}, {2.0f}})), {2, 2, 3},
                       {0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2});
  expect_values<float>(update(x, 1, full(f32(), 4)), {2, 2, 3},
                       {0, 0, 0, 0, 0, 0, 4, 4, 4, 4, 4, 4});
}

TEST(Update, Misuse) {
  const Tensor x = zeros(f32({3, 2}));
  expect_error([&] { update(x, 3, 0); },
               {"update", "index 3 of f32[3,2]", "-3 to 2", "rows_test.cc"});
  expect_error([&] { update(x, -4, 0); }, {"update", "index -4"});
  expect_error([&] { update(x, 0, arange(2)); }, {"update", "s32[2]", "f32[3,2]", "convert"});
  expect_error([&] { update(x, 0, zeros(f32({3}))); },
               {"update", "f32[3]", "f32[2]", "row of f32[3,2]"});
  expect_error([&] { update(x, 0, zeros(f32({1, 2}))); }, {"update", "f32[1,2]"});
  expect_error([&] { update(x, arange(2), 0); }, {"update", "s32[2]", "integer scalar"});
  expect_error([&] { update(x, 0.5, 0); }, {"update", "f64"});
  expect_error([&] { update(zeros(s32({2})), 0, 1.5); }, {"1.5", "s32"});
  expect_error([&] { update(zeros(f32()), 0, 0); }, {"update", "scalar"});
  expect_error([&] { update(zeros(f32({0})), full(s32(), 0), 0); }, {"update", "no rows"});
}

TEST(Update, ALoopHoldsOneArray) {
  const std::int64_t n = 20000;
  auto program = trace(
      [&](const Tensor& seed) {
        return fori_loop(
            0, n,
            [](const Tensor& i, const Tensor& x) {
              return update(x, i, x[i] + convert(i, DType::kF32));
            },
            broadcast_to(seed, {n}));
      },
      f32());
  const Executable executable = compile(program);
  const Literal out = executable.run({Literal::scalar(0.5f)})[0];
  std::vector<float> want;
  for (std::int64_t i = 0; i < n; i++) want.push_back(static_cast<float>(i) + 0.5f);
  expect_values(out, {n}, want);
  EXPECT_LT(executable.stats().peak_bytes, 3 * n * 4 / 2);
}

TEST(Take, ReadsAlongAnAxis) {
  Shapes shapes(42);
  for (int i = 0; i < 100; i++) {
    const Shape from = shapes.shape(1 + i % 4);
    const std::int64_t axis = shapes.number(0, from.rank() - 1);
    if (from[axis] == 0) continue;
    const Shape places = shapes.shape(i % 3);
    std::vector<std::int64_t> indices;
    for (std::int64_t k = 0; k < places.elements(); k++) indices.push_back(shapes.number(-3, 6));
    std::vector<std::int64_t> to(from.begin(), from.begin() + axis);
    to.insert(to.end(), places.begin(), places.end());
    to.insert(to.end(), from.begin() + axis + 1, from.end());
    expect_moved(
        [&](const Tensor& x) {
          return take(x, constant(indices, places), i % 2 == 0 ? axis : axis - from.rank());
        },
        from, to,
        [&](const Index& index) {
          Index source(index.begin(), index.begin() + axis);
          const Index place(index.begin() + axis, index.begin() + axis + places.rank());
          const std::int64_t asked = indices[static_cast<std::size_t>(position(place, places))];
          source.push_back(std::clamp<std::int64_t>(asked, 0, from[axis] - 1));
          source.insert(source.end(), index.begin() + axis + places.rank(), index.end());
          return position(source, from);
        });
  }
}

TEST(Take, Clamps) {
  // The values of jnp.take(mode='clip') in jax 0.10.2.
  const Tensor x = reshape(arange(24), {4, 6});
  expect_values<std::int32_t>(take(x, constant({{0, 9}, {-5, 2}}), 1), {4, 2, 2},
                              {0, 5, 0, 2, 6, 11, 6, 8, 12, 17, 12, 14, 18, 23, 18, 20});
  EXPECT_EQ(take(arange(5), -1).item<std::int32_t>(), 0);
  EXPECT_EQ(take(arange(5), 99, 0).item<std::int32_t>(), 4);
}

TEST(Take, NothingFromNothing) {
  EXPECT_EQ(take(zeros(f32({2, 0, 3})), zeros(s32({0})), 1).eval().type(), f32({2, 0, 3}));
  EXPECT_EQ(take(zeros(f32({2, 5})), zeros(s32({4, 0})), 1).eval().type(), f32({2, 4, 0}));
  expect_error(
      [] {
        take(zeros(f32({2, 0})), arange(1), 1);
      },
      {"take", "axis 1 of f32[2,0] has no elements"});
}

TEST(Take, Misuse) {
  const Tensor x = zeros(f32({3, 2}));
  expect_error([&] { take(x, arange(2), 2); },
               {"take", "axis 2 is out of range", "-2 to 1", "rows_test.cc"});
  expect_error([&] { take(x, zeros(f32({2})), 0); }, {"take", "f32[2]", "integers"});
  expect_error([&] { take(zeros(f32()), arange(2), 0); }, {"take", "scalar"});
}

}  // namespace
}  // namespace rondo::testing
