// slice(x, indices...) and update(x, {indices...}, v), compared with plain loops over the positions
// of Python's slices.
#include <numeric>
#include <optional>
#include <random>

#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

/// The positions of start:stop:step on an axis, as Python's documentation of slice.indices defines
/// them.
std::vector<std::int64_t> python_places(const Range& range, std::int64_t size) {
  const std::int64_t step = range.step;
  std::int64_t start = step > 0 ? 0 : size - 1, stop = step > 0 ? size : -1;
  if (range.start) {
    start = *range.start;
    if (start < 0) start += size;
    if (start < 0) start = step > 0 ? 0 : -1;
    if (start >= size) start = step > 0 ? size : size - 1;
  }
  if (range.stop) {
    stop = *range.stop;
    if (stop < 0) stop += size;
    if (stop < 0) stop = step > 0 ? 0 : -1;
    if (stop >= size) stop = step > 0 ? size : size - 1;
  }
  std::vector<std::int64_t> places;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step) places.push_back(i);
  return places;
}

/// The part of an array that indices select: its shape, and for each of its elements the position
/// in the array.
struct Named {
  std::vector<std::int64_t> dims;
  std::vector<std::size_t> places;
};

Named named(const std::vector<std::int64_t>& shape, const std::vector<SliceIndex>& indices) {
  using Kind = SliceIndex::Kind;
  std::size_t consumed = 0;
  for (const SliceIndex& index : indices)
    consumed += index.kind() != Kind::kAddedAxis && index.kind() != Kind::kWholeAxes;
  Named result;
  std::vector<std::vector<std::int64_t>> of_axes;
  const auto whole = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; i++) {
      of_axes.push_back(python_places({}, shape[of_axes.size()]));
      result.dims.push_back(static_cast<std::int64_t>(of_axes.back().size()));
    }
  };
  for (const SliceIndex& index : indices) {
    switch (index.kind()) {
      case Kind::kAddedAxis:
        result.dims.push_back(1);
        break;
      case Kind::kWholeAxes:
        whole(shape.size() - consumed);
        break;
      case Kind::kRange:
        of_axes.push_back(python_places(index.range(), shape[of_axes.size()]));
        result.dims.push_back(static_cast<std::int64_t>(of_axes.back().size()));
        break;
      case Kind::kNumber: {
        const std::int64_t size = shape[of_axes.size()];
        of_axes.push_back({index.number() < 0 ? index.number() + size : index.number()});
        break;
      }
      case Kind::kTensor: {
        const std::int64_t size = shape[of_axes.size()];
        const std::int64_t place = index.tensor().item<std::int32_t>();
        of_axes.push_back({place < 0 ? 0 : place >= size ? size - 1 : place});
        break;
      }
    }
  }
  whole(shape.size() - of_axes.size());
  result.places = {0};
  for (std::size_t axis = 0; axis < shape.size(); axis++) {
    std::vector<std::size_t> next;
    for (const std::size_t base : result.places) {
      for (const std::int64_t place : of_axes[axis])
        next.push_back(base * static_cast<std::size_t>(shape[axis]) +
                       static_cast<std::size_t>(place));
    }
    result.places = next;
  }
  return result;
}

std::vector<float> counted(std::int64_t n, float first) {
  std::vector<float> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), first);
  return values;
}

class RandomIndices {
 public:
  explicit RandomIndices(unsigned seed) : random_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> dims(static_cast<std::size_t>(between(1, 4)));
    for (std::int64_t& size : dims) size = between(0, 12) == 0 ? 0 : between(1, 6);
    return dims;
  }
  std::vector<SliceIndex> indices(const std::vector<std::int64_t>& shape, bool tensors) {
    std::vector<SliceIndex> all;
    bool ellipsis = false;
    std::size_t axis = 0;
    const std::size_t used = static_cast<std::size_t>(between(0, std::ssize(shape)));
    const std::size_t before = static_cast<std::size_t>(between(0, static_cast<int>(used)));
    while (axis < used || all.empty()) {
      const std::int64_t kind = between(0, 9);
      if (kind == 0) {
        all.push_back(kNewAxis);
      } else if (!ellipsis && axis == before && (kind == 1 || axis == used)) {
        // The axes after an ellipsis are the last ones.
        all.push_back(kEllipsis);
        ellipsis = true;
        skipped_ = shape.size() - used;
      } else if (axis < used) {
        all.push_back(on_axis(shape[axis + (ellipsis ? skipped_ : 0)], kind, tensors));
        axis++;
      }
    }
    return all;
  }

 private:
  SliceIndex on_axis(std::int64_t size, std::int64_t kind, bool tensors) {
    if (size > 0 && kind < 4) return between(-size, size - 1);
    if (size > 0 && kind < 6 && tensors)
      return Tensor(static_cast<std::int32_t>(between(-2, size + 2)));
    Range range;
    if (between(0, 2)) range.start = between(-size - 2, size + 2);
    if (between(0, 2)) range.stop = between(-size - 2, size + 2);
    range.step = between(0, 1) ? 1 : between(1, 3) * (between(0, 1) ? 1 : -1);
    return range;
  }

  std::mt19937 random_;
  std::size_t skipped_ = 0;
};

TEST(Slices, OfRandomIndicesAreWhatLoopsGive) {
  RandomIndices random(7);
  int empty = 0;
  for (int round = 0; round < 300; round++) {
    const std::vector<std::int64_t> shape = random.shape();
    const Tensor x = constant(counted(Shape(shape).elements(), 1), shape);
    const std::vector<SliceIndex> indices = random.indices(shape, round % 2 == 0);
    const Named want = named(shape, indices);
    std::vector<float> elements;
    for (const std::size_t place : want.places) elements.push_back(static_cast<float>(place) + 1);
    expect_values(slice(x, std::span<const SliceIndex>(indices)), want.dims, elements);

    const std::int64_t count = Shape(want.dims).elements();
    empty += count == 0;
    const Tensor value = constant(counted(count, -static_cast<float>(count)), want.dims);
    std::vector<float> updated = counted(Shape(shape).elements(), 1), filled = updated;
    for (std::size_t i = 0; i < want.places.size(); i++) {
      updated[want.places[i]] = static_cast<float>(i) - static_cast<float>(count);
      filled[want.places[i]] = 0.5f;
    }
    expect_values(update(x, std::span<const SliceIndex>(indices), value), shape, updated);
    expect_values(update(x, std::span<const SliceIndex>(indices), 0.5), shape, filled);
    if (HasFailure()) {
      FAIL() << "round " << round << ", " << x.type().str() << ", part " << Shape(want.dims).str();
    }
  }
  EXPECT_LT(empty, 150);
}

TEST(Slices, AsTheyAreWritten) {
  const Tensor x = constant({{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}});
  const Tensor one = full(s32(), 1);
  const auto ints = [](const Tensor& got, const Shape& shape, std::vector<std::int32_t> want) {
    expect_values(got, shape, want);
  };
  ints(slice(x, range(1)), {2, 4}, {4, 5, 6, 7, 8, 9, 10, 11});
  ints(slice(x, range(), 2), {3}, {2, 6, 10});
  ints(slice(x, -1, range({}, {}, -1)), {4}, {11, 10, 9, 8});
  ints(slice(x, one, range(1, -1)), {2}, {5, 6});
  ints(slice(x, one, one), {}, {5});
  ints(slice(x, Tensor(-1), 0), {}, {0});  // a tensor is clamped
  ints(slice(x, kEllipsis, 0), {3}, {0, 4, 8});
  ints(slice(x, kNewAxis, 2, kNewAxis, range(0, 2)), {1, 1, 2}, {8, 9});
  ints(slice(x, std::size_t{1}, std::int64_t{3}), {}, {7});
  ints(slice(x, {1, 0}, {3, 4}, {1, 3}), {2, 2}, {4, 7, 8, 11});  // as before
  ints(slice(x, std::vector<std::int64_t>{1, 1}, std::vector<std::int64_t>{2, 2}), {1, 1}, {5});
  ints(update(x, {range(1, -1), 0}, 9), {3, 4}, {0, 1, 2, 3, 9, 5, 6, 7, 8, 9, 10, 11});
  ints(update(x, {one, range({}, {}, -2)}, constant({-1, -2})), {3, 4},
       {0, 1, 2, 3, 4, -2, 6, -1, 8, 9, 10, 11});
  ints(update(x, range(1), 0), {3, 4}, {0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0});
  ints(update(x, {one}, constant({1, 2, 3, 4})), {3, 4}, {0, 1, 2, 3, 1, 2, 3, 4, 8, 9, 10, 11});
  ints(update(x, {}, 7), {3, 4}, std::vector<std::int32_t>(12, 7));
  ints(update(Tensor(3), {kEllipsis}, 7), {}, {7});
  ints(update(x, {kNewAxis, range(0, 1), range(0, 2)}, constant({{5, 6}})), {3, 4},
       {5, 6, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  ints(slice(x, range(-kFar - 1, kFar, kFar), 0), {1}, {0});
  ints(slice(x, range(kFar, -kFar, -kFar - 1), 0), {1}, {8});
}

TEST(Slices, AreOneOpOfThePrimitives) {
  const auto ops_of = [](auto f) { return trace(f, f32({8, 9}), s32()).stats().ops; };
  using Ops = std::map<std::string, std::int64_t>;
  const auto count = [](const Ops& ops, const char* name) {
    const auto found = ops.find(name);
    return found == ops.end() ? 0 : found->second;
  };
  const auto part = ops_of([](Tensor x, Tensor) { return slice(x, range(1), range(0, -1, 2)); });
  EXPECT_EQ(part, (Ops{{"slice", 1}}));
  const auto row = ops_of([](Tensor x, Tensor) { return slice(x, 2, range(1)); });
  EXPECT_EQ(count(row, "slice") + count(row, "reshape"), 2);
  EXPECT_EQ(count(row, "dynamic_slice"), 0);
  const auto moving = ops_of([](Tensor x, Tensor i) { return slice(x, i, range(1)); });
  EXPECT_EQ(count(moving, "dynamic_slice"), 1);
  EXPECT_EQ(count(moving, "slice"), 0);
  const auto put = ops_of([](Tensor x, Tensor) { return update(x, {range(1, -1), 0}, 0); });
  EXPECT_EQ(count(put, "dynamic_update_slice"), 1);
  EXPECT_EQ(count(put, "dynamic_slice") + count(put, "slice") + count(put, "select") +
                count(put, "scatter"),
            0);
  const auto all = ops_of([](Tensor x, Tensor) { return slice(x, range(), kEllipsis); });
  EXPECT_EQ(all, Ops{});
}

TEST(Slices, HaveDerivatives) {
  const Tensor x =
      constant(std::vector<std::vector<double>>{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 1, 2, 3}});
  const Tensor v = constant({0.5, -2.0});
  const Tensor one = full(s32(), 1);
  check_grads(
      [&](Tensor a, Tensor b) {
        const Tensor squares = a * a;
        return std::tuple(
            slice(squares, range({}, {}, -2), range(1, -1)), slice(squares, one, range(0, {}, 3)),
            update(squares, {1, range({}, {}, -2)}, b * b),
            update(squares, {range(0, 2), one}, sin(b)), update(squares, {range(0, {}, 2), 0}, b));
      },
      std::tuple(x, v));
  // The gradient of a part is 1 at its positions.
  std::vector<double> want(12, 0.0);
  for (const std::size_t place : named({3, 4}, {range(1), range({}, {}, -3)}).places)
    want[place] = 1;
  expect_values(grad([](Tensor a) { return sum(slice(a, range(1), range({}, {}, -3))); })(x),
                {3, 4}, want);
}

TEST(Slices, OfLanes) {
  const std::vector<std::int64_t> shape{3, 4, 5};
  const Tensor x = constant(counted(60, 0), shape);
  const Tensor i = constant({0, 2, 9}), v = constant(counted(6, -6), Shape{3, 2});
  const auto part = [](Tensor a, Tensor at) { return slice(a, at, range({}, {}, -2)); };
  const auto changed = [](Tensor a, Tensor at, Tensor b) {
    return update(a, {at, range(0, 3, 2)}, b);
  };
  const Tensor parts = vmap(part)(x, i), all = vmap(changed)(x, i, v);
  for (int lane = 0; lane < 3; lane++) {
    const std::size_t row = lane == 0 ? 0 : lane == 1 ? 2 : 3;  // 9 is clamped
    std::vector<float> want_part, want = counted(20, static_cast<float>(20 * lane));
    for (const std::size_t j : {4u, 2u, 0u}) want_part.push_back(want[row * 5 + j]);
    want[row * 5] = static_cast<float>(2 * lane - 6);
    want[row * 5 + 2] = static_cast<float>(2 * lane - 5);
    expect_values(parts[lane], {3}, want_part);
    expect_values(all[lane], {4, 5}, want);
  }
}

TEST(Slices, ALoopUpdatesThemInPlace) {
  const std::int64_t n = 300, width = 400;
  for (const std::int64_t step : {1, -1, 3}) {
    const auto program = trace(
        [&](const Tensor& seed) {
          return fori_loop(
              0, n,
              [&](const Tensor& i, const Tensor& x) {
                const Tensor row = slice(x, i, range(1, -1, step));
                return update(x, {i, range(1, -1, step)}, row + convert(i, DType::kF32) + seed);
              },
              zeros(f32({n, width})));
        },
        f32());
    std::vector<float> want(static_cast<std::size_t>(n * width), 0.0f);
    for (std::int64_t i = 0; i < n; i++) {
      for (const std::int64_t j : python_places(range(1, -1, step), width))
        want[static_cast<std::size_t>(i * width + j)] = static_cast<float>(i) + 0.5f;
    }
    for (const bool optimize : {true, false}) {
      const Executable executable = compile(program, {.optimize = optimize});
      expect_values(executable.run({Literal::scalar(0.5f)})[0], {n, width}, want);
      EXPECT_LT(executable.stats().peak_bytes, 3 * n * width * 4 / 2);  // a copy would make it two
    }
  }
}

TEST(Slices, Misuse) {
  const Tensor x = zeros(f32({2, 3})), i = full(s32(), 0);
  expect_error([&] { slice(x, 2); }, {"slice: index 2 of axis 0 of f32[2,3]", "-2 to 1"});
  expect_error([&] { slice(x, i, -4); }, {"slice: index -4 of axis 1", "slices_test.cc"});
  expect_error([&] { update(x, {0, 3}, 0); }, {"update: index 3 of axis 1"});
  expect_error([&] { slice(x, 0, 0, 0); }, {"3 indices for f32[2,3], which has 2 axes"});
  expect_error([&] { slice(x, kEllipsis, kEllipsis); }, {"two ellipses"});
  expect_error([&] { slice(x, range(0, 2, 0)); }, {"step of a range is 0"});
  expect_error([&] { slice(x, arange(2)); }, {"index of axis 0 is s32[2]", "rondo::take"});
  expect_error([&] { slice(x, Tensor(0.5f)); }, {"index of axis 0 is f32[]"});
  expect_error([&] { slice(x, Tensor()); }, {"an empty tensor"});
  expect_error([&] { slice(zeros(f32({0})), i); }, {"axis 0 of f32[0] has no elements"});
  expect_error([&] { slice(zeros(f32({0})), 0); }, {"has no elements"});
  expect_error(
      [&] {
        update(x, {range(), 0}, zeros(f32({3})));
      },
      {"the value is f32[3]", "f32[2], the part of f32[2,3]"});
  expect_error(
      [&] {
        update(x, {0, range()}, i);
      },
      {"the value is s32[]", "rondo::convert(value, rondo::DType::kF32)"});
  expect_error([&] { update(full(s32({2}), 0), {range()}, 0.5); }, {"inexact scalar: 0.5"});
}

}  // namespace
}  // namespace rondo
