#include <limits>

#include "ops/window_cases.h"

namespace rondo::testing {
namespace {

TEST(Gather, AgreesWithItsDefinition) {
  Shapes shapes(10);
  for (int i = 0; i < 200; i++) {
    const WindowCase c = random_window_case(shapes);
    SCOPED_TRACE(i);
    expect_moved(
        [&](const Tensor& x) { return gather(x, constant(c.starts, c.indices), c.dims, c.sizes); },
        c.operand, c.windowed, [&](const Index& index) { return gathered(c, index); });
    if (HasFailure()) return;
  }
}

// The values of the next two are those of jax.lax.gather(mode='clip') in jax 0.10.2.

TEST(Gather, WindowsWithAReversedIndexMap) {
  const Tensor x = reshape(arange(24, DType::kF32), {4, 6});
  const Tensor indices = constant({{5, -1}, {1, 2}, {3, 9}});
  expect_values<float>(gather(x, indices,
                              {.offset_dims = {0, 2},
                               .collapsed_slice_dims = {},
                               .start_index_map = {1, 0},
                               .index_vector_dim = 1},
                              {2, 3}),
                       {2, 3, 3},
                       {3, 4, 5, 13, 14, 15, 15, 16, 17, 9, 10, 11, 19, 20, 21, 21, 22, 23});
}

TEST(Gather, Batching) {
  const Tensor y = reshape(arange(24, DType::kF32), {2, 3, 4});
  const Tensor indices = constant(std::vector<int>{0, 3, 7, 1}, {2, 2, 1});
  expect_values<float>(gather(y, indices,
                              {.offset_dims = {2},
                               .collapsed_slice_dims = {2},
                               .start_index_map = {2},
                               .index_vector_dim = 2,
                               .operand_batching_dims = {0},
                               .start_indices_batching_dims = {0}},
                              {1, 3, 1}),
                       {2, 2, 3}, {0, 4, 8, 3, 7, 11, 15, 19, 23, 13, 17, 21});
}

const GatherDims kElements{
    .offset_dims = {}, .collapsed_slice_dims = {0}, .start_index_map = {0}, .index_vector_dim = 1};

TEST(Gather, IndicesOfEveryIntegerDtype) {
  const Tensor x = constant({10, 20, 30});
  expect_values<std::int32_t>(gather(x, constant<std::int8_t>({-128, 1, 127}), kElements, {1}), {3},
                              {10, 20, 30});
  expect_values<std::int32_t>(gather(x, constant<std::int16_t>({-1, 1, 99}), kElements, {1}), {3},
                              {10, 20, 30});
  expect_values<std::int32_t>(
      gather(x, constant<std::int64_t>({INT64_MIN, 1, INT64_MAX}), kElements, {1}), {3},
      {10, 20, 30});
  expect_values<std::int32_t>(gather(x, constant<std::uint8_t>({0, 1, 255}), kElements, {1}), {3},
                              {10, 20, 30});
  expect_values<std::int32_t>(gather(x, constant<std::uint16_t>({0, 1, 65535}), kElements, {1}),
                              {3}, {10, 20, 30});
  expect_values<std::int32_t>(
      gather(x, constant<std::uint32_t>({0, 1, 4294967295u}), kElements, {1}), {3}, {10, 20, 30});
  expect_values<std::int32_t>(
      gather(x, constant<std::uint64_t>({0, 1, UINT64_MAX}), kElements, {1}), {3}, {10, 20, 30});
}

TEST(Gather, SlicesThatVanishAlongAnEmptyAxisAreZeros) {
  // XLA accepts a slice size of 0 along a collapsed axis.
  expect_values<float>(gather(zeros(f32({0, 2})), constant({{3}, {4}}),
                              {.offset_dims = {1},
                               .collapsed_slice_dims = {0},
                               .start_index_map = {0},
                               .index_vector_dim = 1},
                              {0, 2}),
                       {2, 2}, {0, 0, 0, 0});
  expect_values<float>(gather(full(f32({2}), 5), constant({{3}, {-4}}), kElements, {0}), {2},
                       {5, 5});
}

TEST(Gather, Misuse) {
  const Tensor x = zeros(f32({4, 5})), indices = zeros(s32({3, 1}));
  const GatherDims rows{.offset_dims = {1},
                        .collapsed_slice_dims = {0},
                        .start_index_map = {0},
                        .index_vector_dim = 1};
  EXPECT_EQ(gather(x, indices, rows, {1, 5}).shape(), (Shape{3, 5}));
  auto fails = [&](const GatherDims& dims, const std::vector<std::int64_t>& sizes,
                   const std::vector<std::string>& parts) {
    expect_error([&] { gather(x, indices, dims, sizes); }, parts);
  };
  auto with = [&](auto change) {
    GatherDims dims = rows;
    change(dims);
    return dims;
  };
  fails(rows, {1, 6},
        {"gather", "the slices are 6 long along axis 1, where f32[4,5] has 5", "gather_test.cc"});
  fails(rows, {1}, {"slice_sizes has 1 sizes", "f32[4,5]"});
  fails(rows, {2, 5}, {"slices have 2 elements along axis 0"});
  fails(rows, {-1, 5}, {"the slices are -1 long"});
  fails(with([](GatherDims& d) { d.index_vector_dim = 3; }), {1, 5},
        {"index_vector_dim is 3", "s32[3,1]", "0 to 2"});
  fails(with([](GatherDims& d) { d.offset_dims = {2}; }), {1, 5},
        {"offset_dims names axis 2", "2 axes"});
  fails(with([](GatherDims& d) {
          d.offset_dims = {1, 1};
        }),
        {1, 5}, {"offset_dims names axis 1 twice"});
  fails(with([](GatherDims& d) {
          d.offset_dims = {1, 0};
        }),
        {1, 5}, {"offset_dims [1,0] must grow"});
  fails(with([](GatherDims& d) { d.collapsed_slice_dims = {2}; }), {1, 5},
        {"collapsed_slice_dims names axis 2"});
  fails(with([](GatherDims& d) { d.collapsed_slice_dims = {}; }), {1, 5},
        {"name 1 axes together", "f32[4,5] has 2"});
  fails(with([](GatherDims& d) {
          d.start_index_map = {0, 1};
        }),
        {1, 5}, {"start_index_map names 2 axes", "1 numbers along axis 1"});
  fails(with([](GatherDims& d) { d.start_index_map = {-1}; }), {1, 5},
        {"start_index_map names axis -1"});
  fails(with([](GatherDims& d) { d.operand_batching_dims = {0}; }), {1, 5},
        {"axis 0 is in collapsed_slice_dims and in operand_batching_dims"});
  fails(with([](GatherDims& d) {
          d.collapsed_slice_dims = {};
          d.operand_batching_dims = {0};
        }),
        {1, 5}, {"axis 0 is in start_index_map and in operand_batching_dims"});
  auto batched = [&](std::vector<std::int64_t> along) {
    return with([&](GatherDims& d) {
      d.collapsed_slice_dims = {};
      d.operand_batching_dims = {0};
      d.start_index_map = {1};
      d.start_indices_batching_dims = std::move(along);
    });
  };
  fails(batched({}), {1, 5},
        {"operand_batching_dims names 1 axes", "start_indices_batching_dims names 0"});
  fails(batched({1}), {1, 5},
        {"start_indices_batching_dims names axis 1, which is the index_vector_dim"});
  fails(batched({0}), {1, 5},
        {"axis 0 of the operand f32[4,5]", "axis 0 of the indices s32[3,1]", "differ in size"});
  expect_error(
      [&] {
        gather(x, zeros(f32({3, 1})), rows, {1, 5});
      },
      {"gather", "f32[3,1]", "integers"});
}

TEST(Gather, Text) {
  auto program = trace(
      [](const Tensor& x, const Tensor& indices) {
        return gather(x, indices,
                      {.offset_dims = {2},
                       .collapsed_slice_dims = {2},
                       .start_index_map = {2},
                       .index_vector_dim = 2,
                       .operand_batching_dims = {0},
                       .start_indices_batching_dims = {0}},
                      {1, 3, 1});
      },
      f32({2, 3, 4}), s32({2, 2, 1}));
  const std::string hlo = to_hlo_text(program), stablehlo = to_stablehlo_text(program),
                    ir = to_text(program);
  EXPECT_NE(hlo.find("offset_dims={2}, collapsed_slice_dims={2}, start_index_map={2}, "
                     "index_vector_dim=2, operand_batching_dims={0}, "
                     "start_indices_batching_dims={0}, slice_sizes={1, 3, 1}"),
            std::string::npos)
      << hlo;
  EXPECT_NE(stablehlo.find(
                "#stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [2], "
                "operand_batching_dims = [0], "
                "start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 2>"),
            std::string::npos)
      << stablehlo;
  EXPECT_NE(stablehlo.find("slice_sizes = array<i64: 1, 3, 1>"), std::string::npos) << stablehlo;
  EXPECT_NE(ir.find("offset_dims=[2]"), std::string::npos) << ir;
}

}  // namespace
}  // namespace rondo::testing
