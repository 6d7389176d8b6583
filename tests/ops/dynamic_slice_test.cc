#include <algorithm>
#include <limits>

#include "ir/node.h"
#include "ops/call_kernel.h"
#include "ops/moved.h"
#include "support/definition.h"

namespace rondo::testing {
namespace {

struct DynamicCase {
  Shape array, part;
  std::vector<std::int64_t> starts;   // as requested
  std::vector<std::int64_t> clamped;  // as used

  template <class T>
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> result;
    for (std::int64_t start : starts) result.push_back(full({dtype_of<T>, {}}, start));
    return result;
  }
};

DynamicCase random_slice(Shapes& shapes, std::int64_t rank) {
  DynamicCase c;
  c.array = shapes.shape(rank);
  std::vector<std::int64_t> sizes;
  for (std::int64_t size : c.array) {
    sizes.push_back(
        shapes.number(0, 4) == 0 ? size : shapes.number(std::min<std::int64_t>(size, 1), size));
    c.starts.push_back(shapes.number(-2, 5));
    c.clamped.push_back(std::clamp<std::int64_t>(c.starts.back(), 0, size - sizes.back()));
  }
  c.part = Shape(sizes);
  return c;
}

TEST(DynamicSlice, TakesThePartAtTheClampedStarts) {
  Shapes shapes(30);
  for (int i = 0; i < 150; i++) {
    const DynamicCase c = random_slice(shapes, i % 5);
    const auto starts = i % 2 == 0 ? c.tensors<std::int32_t>() : c.tensors<std::int8_t>();
    expect_moved([&](const Tensor& x) { return dynamic_slice(x, starts, c.part.vector()); },
                 c.array, c.part,
                 [&](const Index& index) {
                   Index source = index;
                   for (std::size_t axis = 0; axis < source.size(); axis++)
                     source[axis] += c.clamped[axis];
                   return position(source, c.array);
                 });
  }
}

TEST(DynamicUpdateSlice, PutsThePartAtTheClampedStarts) {
  Shapes shapes(31);
  for (int i = 0; i < 150; i++) {
    const DynamicCase c = random_slice(shapes, i % 5);
    const auto starts = i % 2 == 0 ? c.tensors<std::int64_t>() : c.tensors<std::int16_t>();
    // The update consists of fillers: what it covers is 0.
    expect_moved(
        [&](const Tensor& x) {
          return dynamic_update_slice(x, zeros({x.dtype(), c.part}), starts);
        },
        c.array, c.array,
        [&](const Index& index) {
          bool inside = true;
          for (std::size_t axis = 0; axis < index.size(); axis++) {
            inside = inside && index[axis] >= c.clamped[axis] &&
                     index[axis] < c.clamped[axis] + c.part[axis];
          }
          return inside ? kFiller : position(index, c.array);
        });
    // An update of numbers in an array of zeros: they keep their order.
    expect_moved(
        [&](const Tensor& update) {
          return dynamic_update_slice(zeros({update.dtype(), c.array}), update, starts);
        },
        c.part, c.array,
        [&](const Index& index) {
          Index source = index;
          for (std::size_t axis = 0; axis < index.size(); axis++) {
            source[axis] -= c.clamped[axis];
            if (source[axis] < 0 || source[axis] >= c.part[axis]) return kFiller;
          }
          return position(source, c.part);
        });
  }
}

TEST(DynamicSlice, StartsOfEveryIntegerDtype) {
  const Tensor x = constant({10, 20, 30});
  auto at = [&](const Tensor& start) { return dynamic_slice(x, {start}, {1}); };
  expect_values<std::int32_t>(at(constant<std::int8_t>({-128})[0]), {1}, {10});
  expect_values<std::int32_t>(at(constant<std::int16_t>({1})[0]), {1}, {20});
  expect_values<std::int32_t>(at(constant<std::int32_t>({INT32_MIN})[0]), {1}, {10});
  expect_values<std::int32_t>(at(constant<std::int64_t>({INT64_MAX})[0]), {1}, {30});
  expect_values<std::int32_t>(at(constant<std::uint8_t>({255})[0]), {1}, {30});
  expect_values<std::int32_t>(at(constant<std::uint16_t>({65535})[0]), {1}, {30});
  // Unsigned starts are read as unsigned.
  expect_values<std::int32_t>(at(constant<std::uint32_t>({4294967295u})[0]), {1}, {30});
  expect_values<std::int32_t>(at(constant<std::uint64_t>({UINT64_MAX})[0]), {1}, {30});
}

TEST(DynamicSlice, StartsMayBeIntegers) {
  const Tensor x = reshape(arange(12), {3, 4}), i = constant({1})[0];
  expect_values<std::int32_t>(dynamic_slice(x, {1, 2}, {1, 2}), {1, 2}, {6, 7});
  expect_values<std::int32_t>(dynamic_slice(x, {i, 2}, {1, 2}), {1, 2}, {6, 7});
  expect_values<std::int32_t>(dynamic_slice(x, {i, -5}, {1, 2}), {1, 2}, {4, 5});
  expect_values<std::int32_t>(dynamic_slice(x, {i, INT64_MAX}, {1, 2}), {1, 2}, {6, 7});
  expect_values<std::int32_t>(dynamic_slice(x, {i, UINT64_MAX}, {1, 2}), {1, 2}, {6, 7});
}

TEST(DynamicSlice, TheStartsOfTheProgramHaveOneDtype) {
  const Tensor x = zeros(f32({1000, 1000}));
  auto expect_dtype = [&](DType dtype, const Tensor& first, const Tensor& second) {
    const Tensor sliced = dynamic_slice(x, {first, second}, {1, 1});
    const Tensor defined = definition_of(sliced);
    const ir::Node* node = defined.node();
    ASSERT_EQ(node->operands.size(), 3u);
    EXPECT_EQ(node->operand_type(1).dtype, dtype);
    EXPECT_EQ(node->operand_type(2).dtype, dtype);
  };
  expect_dtype(DType::kS32, 0, 5);
  expect_dtype(DType::kS64, full(s64(), 3), 5);
  expect_dtype(DType::kU8, full(u8(), 3), 200);    // the integer fits
  expect_dtype(DType::kS64, full(s8(), 3), 200);   // it does not
  expect_dtype(DType::kS8, full(s8(), 3), -5000);  // it is 0 when clamped
  expect_dtype(DType::kS64, full(s8(), 3), full(s16(), 3));
}

TEST(DynamicSlice, StartsOfDifferentDtypes) {
  const Tensor x = reshape(arange(2000), {2, 1000});
  const Tensor one = full(s8(), 1), far = full(u64(), UINT64_MAX), small = full(u8(), 200);
  expect_values<std::int32_t>(dynamic_slice(x, {one, far}, {1, 1}), {1, 1}, {1999});
  expect_values<std::int32_t>(dynamic_slice(x, {one, small}, {1, 1}), {1, 1}, {1200});
  expect_values<std::int32_t>(dynamic_slice(x, {one, 900}, {1, 1}), {1, 1},
                              {1900});  // 900 does not fit s8
}

TEST(DynamicSlice, OfTheWholeIsTheOperand) {
  const Tensor x = zeros(f32({2, 3})), i = full(s32(), 1), s = full(f32(), 2);
  EXPECT_TRUE(dynamic_slice(x, {i, i}, {2, 3}).same_as(x));
  EXPECT_TRUE(dynamic_slice(s, {}, {}).same_as(s));
  const Tensor y = ones(f32({2, 3}));
  EXPECT_TRUE(dynamic_update_slice(x, y, {i, i}).same_as(y));
  EXPECT_EQ(dynamic_update_slice(s, 5, {}).item<float>(), 5);
}

TEST(DynamicUpdateSlice, ScalarsTakeTheDtype) {
  expect_error([] { dynamic_update_slice(zeros(f32({2})), 1, {0}); },
               {"dynamic_update_slice", "f32[2] has 1 axes, the part has 0"});
}

TEST(DynamicUpdateSlice, TheOperandIsNotTouched) {
  const Tensor x = arange(4);
  const Literal before = x.eval();
  expect_values<std::int32_t>(dynamic_update_slice(x, constant({9}), {1}), {4}, {0, 9, 2, 3});
  expect_values<std::int32_t>(before, {4}, {0, 1, 2, 3});
}

TEST(DynamicUpdateSlice, AnArrayMayBeItsOwnUpdate) {
  auto program = trace(
      [](const Tensor& a) {
        const Tensor x = a + 0;
        return dynamic_update_slice(concatenate(std::vector{x, x}, 0), x, {1});
      },
      s32({2}));
  expect_values<std::int32_t>(compile(program).run({Literal::from<std::int32_t>({1, 2}, {2})})[0],
                              {4}, {1, 1, 2, 2});
}

TEST(DynamicUpdateSlice, TheKernelWritesInPlaceWhereNobodyElseLooks) {
  const Tensor node = dynamic_update_slice(arange(4), constant({9}), {constant({1})[0]});
  for (const bool last_use : {true, false}) {
    for (const bool shared : {true, false}) {
      std::vector<Literal> inputs{Literal::from<std::int32_t>({0, 1, 2, 3}, {4}),
                                  Literal::from<std::int32_t>({9}, {1}), Literal::scalar(1)};
      const Literal other = shared ? inputs[0] : Literal();
      const std::byte* storage = inputs[0].bytes();
      const Literal result = call_kernel(node, inputs, last_use ? 1 : 0);
      expect_values<std::int32_t>(result, {4}, {0, 9, 2, 3});
      EXPECT_EQ(result.bytes() == storage, last_use && !shared);
      if (shared) expect_values<std::int32_t>(other, {4}, {0, 1, 2, 3});
      if (!last_use) expect_values<std::int32_t>(inputs[0], {4}, {0, 1, 2, 3});
    }
  }
}

TEST(DynamicUpdateSlice, ALoopHoldsOneArray) {
  const std::int64_t n = 2000, width = 1000;
  auto program = trace(
      [&](const Tensor& seed) {
        return fori_loop(
            0, n,
            [&](const Tensor& i, const Tensor& x) {
              return dynamic_update_slice(
                  x, broadcast_to(convert(i, DType::kF32) + seed, {1, width}), {i, 0});
            },
            zeros(f32({n, width})));
      },
      f32());
  for (const bool optimize : {true, false}) {
    const Executable executable = compile(program, {.optimize = optimize});
    const Literal out = executable.run({Literal::scalar(0.5f)})[0];
    EXPECT_EQ(out.data<float>()[0], 0.5f);
    EXPECT_EQ(out.data<float>()[1234 * 1000 + 999], 1234.5f);
    EXPECT_EQ(out.data<float>()[1999 * 1000], 1999.5f);
    EXPECT_LT(executable.stats().peak_bytes,
              3 * n * width * 4 / 2);  // a copy would make it twice the array
  }
}

TEST(DynamicSlice, Misuse) {
  const Tensor x = zeros(f32({4, 5})), i = full(s32(), 0);
  expect_error(
      [&] {
        dynamic_slice(x, {i}, {1, 1});
      },
      {"dynamic_slice", "f32[4,5] has 2 axes", "1 are given", "dynamic_slice_test.cc"});
  expect_error([&] { dynamic_slice(x, {i, i}, {1}); }, {"f32[4,5] has 2 axes, the part has 1"});
  expect_error(
      [&] {
        dynamic_slice(x, {i, i}, {5, 1});
      },
      {"the part is 5 long along axis 0, where f32[4,5] has 4"});
  expect_error([&] { dynamic_slice(x, {i, i}, {1, -1}); }, {"the part is -1 long along axis 1"});
  expect_error(
      [&] {
        dynamic_slice(x, {i, 0.5f}, {1, 1});
      },
      {"start 1 is f32[]", "integer scalars"});
  expect_error([&] { dynamic_slice(x, {i, true}, {1, 1}); }, {"start 1 is pred[]"});
  expect_error([&] { dynamic_slice(x, {i, zeros(s32({1}))}, {1, 1}); }, {"start 1 is s32[1]"});
  expect_error([&] { dynamic_slice(x, {i, Tensor()}, {1, 1}); }, {"dynamic_slice", "empty Tensor"});
  expect_error(
      [&] {
        dynamic_update_slice(x, zeros(s32({1, 1})), {i, i});
      },
      {"dynamic_update_slice", "s32[1,1]", "f32[4,5]", "convert", "kF32"});
  expect_error(
      [&] {
        dynamic_update_slice(x, zeros(f32({1, 6})), {i, i});
      },
      {"the part is 6 long along axis 1, where f32[4,5] has 5"});
  expect_error([&] { dynamic_update_slice(x, zeros(f32({1})), {i, i}); }, {"the part has 1"});
  expect_error(
      [&] {
        dynamic_update_slice(x, zeros(f32({1, 1})), {i});
      },
      {"needs a start for each; 1 are given"});
}

TEST(DynamicSlice, Text) {
  auto program = trace(
      [](const Tensor& x, const Tensor& i) {
        return dynamic_update_slice(x, dynamic_slice(x, {i, 1}, {2, 3}), {0, i});
      },
      f32({4, 5}), s32());
  const std::string hlo = to_hlo_text(program);
  EXPECT_NE(hlo.find("dynamic_slice_sizes={2, 3}"), std::string::npos) << hlo;
  EXPECT_NE(hlo.find("f32[4,5] dynamic-update-slice("), std::string::npos) << hlo;
}

}  // namespace
}  // namespace rondo::testing
