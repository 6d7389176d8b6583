// What one description of attributes writes in the three texts, and that each text reads back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/structure.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

struct Attributes {
  const char* op;
  Function program;
  const char* own;  // empty: it has none
  const char* hlo;
  const char* stablehlo;
};

std::vector<Attributes> all_kinds() {
  const auto of = [](auto function, const auto&... types) { return trace(function, types...); };
  return {
      {"an axis",
       of(
           [](Tensor a, Tensor b) {
             return concatenate({a, b}, 1);
           },
           f32({2, 3}), f32({2, 4})),
       "{axis=1}", "dimensions={1}", "dimension = 1 : i64"},
      {"an integer", of([] {
         return iota(s32({2, 3}), 1);
       }),
       "{type=s32[2,3], axis=1}", "iota_dimension=1", "iota_dimension = 1 : i64"},
      {"integers",
       of(
           [](Tensor x) {
             return transpose(x, {1, 0});
           },
           f32({2, 3})),
       "{permutation=[1,0]}", "dimensions={1, 0}", "permutation = array<i64: 1, 0>"},
      {"slices",
       of(
           [](Tensor x) {
             return slice(x, {1, 0}, {7, 3}, {2, 1});
           },
           f32({8, 3})),
       "{starts=[1,0], limits=[7,3], strides=[2,1]}", "slice={[1:7:2], [0:3]}",
       "start_indices = array<i64: 1, 0>, limit_indices = array<i64: 7, 3>, "
       "strides = array<i64: 2, 1>"},
      {"a padding with numbers in between",
       of(
           [](Tensor x) {
             return pad(x, 0, {1, 0}, {-1, 2}, {0, 3});
           },
           f32({4, 4})),
       "{low=[1,0], high=[-1,2], interior=[0,3]}", "padding=1_-1x0_2_3",
       "edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: -1, 2>, "
       "interior_padding = array<i64: 0, 3>"},
      {"a window",
       of(
           [](Tensor x) {
             return reduce_window(x, 0.0f,
                                  {.size = {2, 3},
                                   .stride = {1, 2},
                                   .padding = {{0, 1}, {0, 0}},
                                   .window_dilation = {2, 1}},
                                  [](Tensor a, Tensor b) { return a + b; });
           },
           f32({8, 8})),
       "{size=[2,3], stride=[1,2], padding=[0:1,0:0], base_dilation=[1,1], "
       "window_dilation=[2,1]}",
       "window={size=2x3 stride=1x2 pad=0_1x0_0 rhs_dilate=2x1}",
       "window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 2>, "
       "padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, "
       "window_dilations = array<i64: 2, 1>"},
      {"a convolution",
       of(
           [](Tensor x, Tensor k) {
             return convolution(x, k,
                                {.strides = {2}, .feature_groups = 2, .layout = "b0f_0io->b0f"});
           },
           f32({1, 9, 4}), f32({3, 2, 6})),
       "{strides=[2], padding=[0:0], lhs_dilation=[1], rhs_dilation=[1], feature_groups=2, "
       "batch_groups=1, lhs=[0,2,1], rhs=[1,2,0], out=[0,2,1]}",
       "window={size=3 stride=2}, dim_labels=b0f_0io->b0f, feature_group_count=2",
       "dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, "
       "window_strides = array<i64: 2>"},
      {"a product",
       of(
           [](Tensor a, Tensor b) {
             return dot_general(a, b,
                                {.lhs_batch = {0},
                                 .rhs_batch = {2},
                                 .lhs_contracting = {2},
                                 .rhs_contracting = {0}});
           },
           f32({2, 3, 4}), f32({4, 5, 2})),
       "{lhs_batch=[0], rhs_batch=[2], lhs_contracting=[2], rhs_contracting=[0]}",
       "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={2}, "
       "rhs_contracting_dims={0}",
       "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
       "rhs_batching_dimensions = [2], lhs_contracting_dimensions = [2], "
       "rhs_contracting_dimensions = [0]>"},
      {"a gather with batches",
       of(
           [](Tensor x, Tensor i) {
             return gather(x, i,
                           {.offset_dims = {1},
                            .collapsed_slice_dims = {},
                            .start_index_map = {1},
                            .index_vector_dim = 1,
                            .operand_batching_dims = {0},
                            .start_indices_batching_dims = {0}},
                           {1, 2});
           },
           f32({3, 4}), s32({3, 1})),
       "{dims={offset_dims=[1], collapsed_slice_dims=[], start_index_map=[1], "
       "index_vector_dim=1, operand_batching_dims=[0], start_indices_batching_dims=[0]}, "
       "slice_sizes=[1,2]}",
       "offset_dims={1}, collapsed_slice_dims={}, start_index_map={1}, index_vector_dim=1, "
       "operand_batching_dims={0}, start_indices_batching_dims={0}, slice_sizes={1, 2}",
       "dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], "
       "start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, "
       "slice_sizes = array<i64: 1, 2>"},
      {"words with a common spelling", of([](Tensor x) { return rfft(x); }, f32({8})),
       "{kind=RFFT, length=[8]}", "fft_type=RFFT, fft_length={8}",
       "fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 8>"},
      {"words with three spellings",
       of(
           [](Tensor state) {
             return rng_bit_generator(state, u32({4}), RngAlgorithm::kPhilox).second;
           },
           TensorType{DType::kU64, {2}}),
       "{type=u32[4], algorithm=philox}", "algorithm=rng_philox",
       "rng_algorithm = #stablehlo<rng_algorithm PHILOX>"},
      {"a word that is a flag of ours",
       of([](Tensor a, Tensor b) { return triangular_solve(a, b, {.transpose_a = true}); },
          f32({3, 3}), f32({3, 2})),
       "{left_side=true, lower=true, transpose_a=true}",
       "left_side=true, lower=true, unit_diagonal=false, transpose_a=TRANSPOSE",
       "left_side = true, lower = true, unit_diagonal = false, "
       "transpose_a = #stablehlo<transpose TRANSPOSE>"},
      {"two numbers of bits", of([](Tensor x) { return reduce_precision(x, 5, 10); }, f32()),
       "{exponent_bits=5, mantissa_bits=10}", "exponent_bits=5, mantissa_bits=10",
       "exponent_bits = 5 : i32, mantissa_bits = 10 : i32"},
      {"a fixed field", of([](Tensor x) { return cholesky(x); }, f32({3, 3})), "", "lower=true",
       "lower = true"},
  };
}

TEST(AttributesInTexts, AreWrittenAndReadByOneDescription) {
  for (const Attributes& attributes : all_kinds()) {
    SCOPED_TRACE(attributes.op);
    const Function& program = attributes.program;
    const std::string own = to_text(program, {.full = true});
    const std::string hlo = to_hlo_text(program, {.optimize = false});
    const std::string stablehlo = to_stablehlo_text(program, {.optimize = false});
    EXPECT_THAT(own, HasSubstr(attributes.own));
    EXPECT_THAT(hlo, HasSubstr(attributes.hlo));
    EXPECT_THAT(stablehlo, HasSubstr(attributes.stablehlo));
    EXPECT_TRUE(ir::structure_of(parse_text(own)) == ir::structure_of(program)) << own;
    EXPECT_THAT(to_hlo_text(parse_hlo_text(hlo), {.optimize = false}), HasSubstr(attributes.hlo));
    EXPECT_THAT(to_stablehlo_text(parse_stablehlo_text(stablehlo), {.optimize = false}),
                HasSubstr(attributes.stablehlo));
  }
}

}  // namespace
}  // namespace rondo
