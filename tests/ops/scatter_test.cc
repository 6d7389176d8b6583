#include <functional>
#include <limits>

#include "ops/call_kernel.h"
#include "ops/window_cases.h"

namespace rondo::testing {
namespace {

using Combine = std::function<Tensor(const Tensor&, const Tensor&)>;

/// The definition: windows in the order of their index vectors, each completely or not at all.
template <class T>
void expect_scattered(const WindowCase& c, const Combine& combine,
                      const std::function<T(T, T)>& plain) {
  const Literal x = numbered<T>(c.operand);
  std::vector<T> updates, want(x.data<T>().begin(), x.data<T>().end());
  for (std::int64_t i = 0; i < c.windowed.elements(); i++)
    updates.push_back(static_cast<T>(3 * i - 7));
  std::vector<std::int64_t> batch_dims, window_dims;
  for (std::int64_t axis = 0; axis < c.windowed.rank(); axis++) {
    (contains(c.dims.offset_dims, axis) ? window_dims : batch_dims).push_back(c.windowed[axis]);
  }
  for_each_index(batch_dims, [&](const Index& batch) {
    for_each_index(window_dims, [&](const Index& offset) {
      Index index;
      auto next_batch = batch.begin();
      auto next_offset = offset.begin();
      for (std::int64_t axis = 0; axis < c.windowed.rank(); axis++) {
        index.push_back(contains(c.dims.offset_dims, axis) ? *next_offset++ : *next_batch++);
      }
      if (const auto at = scattered(c, index)) {
        T& element = want[static_cast<std::size_t>(*at)];
        element = plain(element, updates[static_cast<std::size_t>(position(index, c.windowed))]);
      }
    });
  });
  expect_values(scatter(x, constant(c.starts, c.indices), constant(updates, c.windowed),
                        c.scatter_dims(), combine),
                c.operand, want);
}

TEST(Scatter, AgreesWithItsDefinition) {
  Shapes shapes(20);
  for (int i = 0; i < 150; i++) {
    const WindowCase c = random_window_case(shapes);
    SCOPED_TRACE(i);
    expect_scattered<std::int32_t>(
        c, [](const Tensor&, const Tensor& u) { return u; },
        [](std::int32_t, std::int32_t u) { return u; });
    expect_scattered<double>(
        c, [](const Tensor&, const Tensor& u) { return u; }, [](double, double u) { return u; });
    expect_scattered<float>(
        c, [](const Tensor& a, const Tensor& u) { return a + u; },
        [](float a, float u) { return a + u; });
    expect_scattered<std::int64_t>(
        c, [](const Tensor& a, const Tensor& u) { return u * a; },
        [](std::int64_t a, std::int64_t u) {
          return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) *
                                           static_cast<std::uint64_t>(u));
        });
    expect_scattered<std::int16_t>(
        c, [](const Tensor& a, const Tensor& u) { return maximum(a, u); },
        [](std::int16_t a, std::int16_t u) { return std::max(a, u); });
    expect_scattered<std::int8_t>(
        c, [](const Tensor& a, const Tensor& u) { return minimum(a, u); },
        [](std::int8_t a, std::int8_t u) { return std::min(a, u); });
    // Tests the order of the updates: this combiner does not commute, and has no direct loop.
    expect_scattered<std::int32_t>(
        c, [](const Tensor& a, const Tensor& u) { return 2 * a - u; },
        [](std::int32_t a, std::int32_t u) {
          return static_cast<std::int32_t>(2u * static_cast<std::uint32_t>(a) -
                                           static_cast<std::uint32_t>(u));
        });
    if (HasFailure()) return;
  }
}

const ScatterDims kOfElements{.update_window_dims = {},
                              .inserted_window_dims = {0},
                              .scatter_dims_to_operand_dims = {0},
                              .index_vector_dim = 1};
const Combine kOverwrite = [](const Tensor&, const Tensor& update) { return update; };
const Combine kAdd = [](const Tensor& element, const Tensor& update) { return element + update; };

// The values of the next three are those of jax.lax.scatter_add, x.at[...].set and
// jax.lax.scatter_min (mode='drop') in jax 0.10.2.

TEST(Scatter, AWindowThatDoesNotFitIsDropped) {
  std::vector<float> updates;
  for (int i = 1; i <= 12; i++) updates.push_back(static_cast<float>(i));
  const ScatterDims dims{.update_window_dims = {0, 2},
                         .inserted_window_dims = {},
                         .scatter_dims_to_operand_dims = {0, 1},
                         .index_vector_dim = 1};
  expect_values<float>(scatter(zeros(f32({4, 3})), constant({{0, 0}, {3, 0}, {1, 1}}),
                               constant(updates, {2, 3, 2}), dims, kAdd),
                       {4, 3}, {1, 2, 0, 7, 13, 6, 0, 11, 12, 0, 0, 0});
}

TEST(Scatter, TheLastOfSeveralWins) {
  expect_values<float>(scatter(zeros(f32({5})), constant({1, 1, 7, -9}),
                               constant({1.0f, 2.0f, 3.0f, 4.0f}), kOfElements, kOverwrite),
                       {5}, {0, 2, 0, 0, 0});
}

TEST(Scatter, Batching) {
  const ScatterDims dims{.update_window_dims = {},
                         .inserted_window_dims = {1},
                         .scatter_dims_to_operand_dims = {1},
                         .index_vector_dim = 2,
                         .input_batching_dims = {0},
                         .scatter_indices_batching_dims = {0}};
  expect_values<float>(
      scatter(full(f32({2, 3}), 4), constant(std::vector<int>{0, 2, 1, 1}, {2, 2, 1}),
              constant({{3.0f, 5.0f}, {-1.0f, 2.0f}}), dims,
              [](const Tensor& a, const Tensor& u) { return minimum(a, u); }),
      {2, 3}, {3, 4, 4, 4, -1, 4});
}

TEST(Scatter, IndicesPastTheEndAreDroppedInEveryDtype) {
  const Tensor x = zeros(s32({2})), updates = constant({1, 2});
  expect_values<std::int32_t>(
      scatter(x, constant<std::int8_t>({-1, 1}), updates, kOfElements, kAdd), {2}, {0, 2});
  expect_values<std::int32_t>(
      scatter(x, constant<std::uint32_t>({4294967295u, 0}), updates, kOfElements, kAdd), {2},
      {2, 0});
  expect_values<std::int32_t>(
      scatter(x, constant<std::uint64_t>({UINT64_MAX, 0}), updates, kOfElements, kAdd), {2},
      {2, 0});
  expect_values<std::int32_t>(
      scatter(x, constant<std::int64_t>({INT64_MIN, 1}), updates, kOfElements, kAdd), {2}, {0, 2});
}

TEST(Scatter, CombinersOfPredAndHalfAndComplex) {
  const Tensor index = constant({{0}, {0}});
  expect_values<bool>(scatter(zeros(pred({2})), index, constant({true, false}), kOfElements,
                              [](const Tensor& a, const Tensor& u) { return a | u; }),
                      {2}, {true, false});
  const Literal halves =
      scatter(full(bf16({1}), 256), index, full(bf16({2}), 1), kOfElements, kAdd).eval();
  EXPECT_EQ(static_cast<float>(halves.data<bfloat16>()[0]), 256.0f);  // each step rounds
  const std::complex<float> i(0, 1);
  expect_values<std::complex<float>>(
      scatter(full(c64({1}), 1), index, full(c64({2}), i), kOfElements,
              [](const Tensor& a, const Tensor& u) { return a * u; }),
      {1}, {{-1, 0}});
}

TEST(Scatter, NanGoesThroughMaximum) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_values<float>(
      scatter(zeros(f32({2})), constant({{0}, {0}, {1}}), constant({nan, 1.0f, 2.0f}), kOfElements,
              [](const Tensor& a, const Tensor& u) { return maximum(a, u); }),
      {2}, {nan, 2});
}

TEST(Scatter, CombinersOfConstantsAndOfTheElementAlone) {
  const Tensor x = constant({1.0f, 2.0f}), index = constant({{1}}), update = constant({5.0f});
  expect_values<float>(
      scatter(x, index, update, kOfElements, [](const Tensor&, const Tensor&) { return 7; }), {2},
      {1, 7});
  expect_values<float>(
      scatter(x, index, update, kOfElements, [](const Tensor& a, const Tensor&) { return a; }), {2},
      {1, 2});
  expect_values<float>(
      scatter(x, index, update, kOfElements, [](const Tensor& a, const Tensor&) { return a + a; }),
      {2}, {1, 4});
}

TEST(Scatter, TheKernelWritesInPlaceWhereNobodyElseLooks) {
  for (const Combine& combine : {kAdd, kOverwrite}) {
    const Tensor node =
        scatter(zeros(s32({3})), zeros(s32({1, 1})), zeros(s32({1})), kOfElements, combine);
    for (const bool shared : {true, false}) {
      std::vector<Literal> inputs{Literal::zeros(s32({3})),
                                  Literal::from<std::int32_t>({2}, {1, 1}),
                                  Literal::from<std::int32_t>({9}, {1})};
      const Literal other = shared ? inputs[0] : Literal();
      const std::byte* storage = inputs[0].bytes();
      const Literal result = call_kernel(node, inputs, 1);
      expect_values<std::int32_t>(result, {3}, {0, 0, 9});
      EXPECT_EQ(result.bytes() == storage, !shared);
      if (shared) expect_values<std::int32_t>(other, {3}, {0, 0, 0});
    }
  }
}

TEST(Scatter, TheOperandIsNotTouched) {
  const Tensor x = constant({1, 2, 3});
  const Literal before = x.eval();
  expect_values<std::int32_t>(scatter(x, constant({{2}}), constant({9}), kOfElements, kOverwrite),
                              {3}, {1, 2, 9});
  expect_values<std::int32_t>(before, {3}, {1, 2, 3});
}

TEST(Scatter, AnArrayMayBeItsOwnUpdateAndIndices) {
  auto program = trace(
      [](const Tensor& a) {
        const Tensor x = a + 0;
        return scatter(x, x, x,
                       {.update_window_dims = {},
                        .inserted_window_dims = {0},
                        .scatter_dims_to_operand_dims = {0},
                        .index_vector_dim = 1},
                       [](const Tensor& e, const Tensor& u) { return e + u; });
      },
      s32({3}));
  for (bool optimize : {true, false}) {
    expect_values<std::int32_t>(compile(program, {.optimize = optimize})
                                    .run({Literal::from<std::int32_t>({1, 1, 0}, {3})})[0],
                                {3}, {1, 3, 0});
  }
}

TEST(Scatter, Misuse) {
  const Tensor x = zeros(f32({4, 5})), indices = zeros(s32({3, 1})), updates = zeros(f32({3, 5}));
  const ScatterDims rows{.update_window_dims = {1},
                         .inserted_window_dims = {0},
                         .scatter_dims_to_operand_dims = {0},
                         .index_vector_dim = 1};
  EXPECT_EQ(scatter(x, indices, updates, rows, kAdd).shape(), (Shape{4, 5}));
  auto fails = [&](const Tensor& changed, const ScatterDims& dims,
                   const std::vector<std::string>& parts) {
    expect_error([&] { scatter(x, indices, changed, dims, kAdd); }, parts);
  };
  auto with = [&](auto change) {
    ScatterDims dims = rows;
    change(dims);
    return dims;
  };
  fails(zeros(s32({3, 5})), rows,
        {"scatter", "s32[3,5]", "f32[4,5]", "convert", "kF32", "scatter_test.cc"});
  fails(zeros(f32({2, 5})), rows, {"f32[2,5] count windows by [2]", "s32[3,1] by [3]"});
  fails(zeros(f32({3, 6})), rows, {"the windows are 6 long along axis 1, where f32[4,5] has 5"});
  fails(zeros(f32({3})), rows, {"update_window_dims names axis 1", "1 axes"});
  fails(zeros(f32({3, 5, 1})), rows, {"count windows by [3,1]"});
  fails(updates, with([](ScatterDims& d) { d.inserted_window_dims = {}; }),
        {"name 1 axes together", "f32[4,5] has 2"});
  fails(updates, with([](ScatterDims& d) { d.inserted_window_dims = {7}; }),
        {"inserted_window_dims names axis 7"});
  fails(updates, with([](ScatterDims& d) { d.scatter_dims_to_operand_dims = {}; }),
        {"scatter_dims_to_operand_dims names 0 axes"});
  fails(updates, with([](ScatterDims& d) { d.index_vector_dim = -1; }), {"index_vector_dim is -1"});
  fails(updates, with([](ScatterDims& d) { d.input_batching_dims = {1}; }),
        {"name 3 axes together"});
  expect_error(
      [&] {
        scatter(x, zeros(f32({3, 1})), updates, rows, kAdd);
      },
      {"scatter", "f32[3,1]", "integers"});
  expect_error(
      [&] {
        scatter(x, indices, updates, rows, [](const Tensor& a, const Tensor& b) { return a < b; });
      },
      {"scatter", "the combiner takes (f32[], f32[]) and returns (pred[])", "f32[4,5]"});
  expect_error(
      [&] {
        scatter(x, indices, updates, rows,
                [](const Tensor&, const Tensor&) { return zeros(f32({2})); });
      },
      {"scatter", "returns (f32[2]); for elements of (f32[4,5])"});
  expect_error(
      [&] {
        scatter(x, indices, updates, rows, [](const Tensor&, const Tensor&) { return Tensor(); });
      },
      {"scatter", "empty Tensor"});
}

TEST(Scatter, Text) {
  auto program = trace(
      [](const Tensor& x, const Tensor& indices, const Tensor& updates) {
        return scatter(x, indices, updates,
                       {.update_window_dims = {1},
                        .inserted_window_dims = {0},
                        .scatter_dims_to_operand_dims = {0},
                        .index_vector_dim = 1},
                       [](const Tensor& a, const Tensor& b) { return a + b; });
      },
      f32({4, 5}), s32({3, 1}), f32({3, 5}));
  const std::string hlo = to_hlo_text(program), stablehlo = to_stablehlo_text(program);
  EXPECT_NE(hlo.find("update_window_dims={1}, inserted_window_dims={0}, "
                     "scatter_dims_to_operand_dims={0}, index_vector_dim=1"),
            std::string::npos)
      << hlo;
  EXPECT_NE(hlo.find("to_apply="), std::string::npos) << hlo;
  EXPECT_NE(stablehlo.find("#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = "
                           "[0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"),
            std::string::npos)
      << stablehlo;
}

}  // namespace
}  // namespace rondo::testing
