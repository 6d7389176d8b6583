// Constants, ops that move elements, and slices, in real XLA.
#include <string>
#include <tuple>
#include <vector>

#include "ops/window_cases.h"
#include "support/expect.h"
#include "xla/edge_values.h"

namespace rondo::testing {
namespace {

class XlaShape : public XlaTest {};
class XlaParts : public XlaTest {};

/// `op` of an array of each dtype, in one program.
template <class Op>
void check_all_dtypes(const Shape& shape, Op&& op) {
  std::vector<Literal> arguments;
  std::vector<TensorType> types;
  for (const DType dtype : kAllDTypes) {
    arguments.push_back(counting({dtype, shape}));
    types.push_back(arguments.back().type());
  }
  const Function f = trace(
      [&](const std::vector<Tensor>& values) {
        std::vector<Tensor> results;
        for (const Tensor& value : values) results.push_back(op(value));
        return results;
      },
      types);
  expect_same_as_xla(f, arguments, kExactly);
}

TEST_F(XlaShape, ConstantsKeepEveryBit) {
  for (const DType dtype : kAllDTypes) {
    SCOPED_TRACE(dtype_name(dtype));
    const Literal values = edge_values(dtype);
    expect_same_as_xla(trace([&] {
                         return std::tuple(Tensor(values), reshape(values, {1, -1, 1}));
                       }),
                       {}, kExactly);
    // One by one, as scalars.
    expect_same_as_xla(trace([&] {
                         std::vector<Tensor> scalars;
                         for (std::int64_t i = 0; i < values.elements(); i++) {
                           scalars.push_back(Tensor(Tensor(values)[i].eval()));
                         }
                         return scalars;
                       }),
                       {}, kExactly);
  }
}

TEST_F(XlaShape, ConstantsOfDenormalAndComplexNonFiniteNumbers) {
  const float inf = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  using C = std::complex<float>;
  expect_same_as_xla(trace([&] {
                       return std::tuple(
                           Tensor(row<float>({1e-45f, -1e-45f, 1e-40f, 0x1.fffffcp-127f, 0.1f,
                                              16777217.f, 3.4028235e38f})),
                           Tensor(row<double>({5e-324, -2.2e-310, 0.1, 1e300,
                                               1.7976931348623157e308, 9007199254740993.0})),
                           Tensor(row<C>({{inf, 1},
                                          {-inf, inf},
                                          {1, -inf},
                                          {-0.0f, 0},
                                          {0, -0.0f},
                                          {nan, nan},
                                          {nan, 1},
                                          {2, nan}})));
                     }),
                     {}, kExactly);
}

TEST_F(XlaShape, LargeConstantsStandWhole) {
  std::vector<double> values;
  for (int i = 0; i < 3000; i++) values.push_back(std::sin(i) * std::pow(10.0, i % 40 - 20));
  expect_same_as_xla(trace([&] { return constant(values, {30, 100}); }), {}, kExactly);
}

TEST_F(XlaShape, EmptyConstants) {
  expect_same_as_xla(trace([&] {
                       return std::tuple(Tensor(Literal::zeros(f32({0}))),
                                         Tensor(Literal::zeros(c64({2, 0}))),
                                         Tensor(Literal::zeros(pred({0, 3}))));
                     }),
                     {});
}

TEST_F(XlaShape, Creation) {
  for (const DType dtype : kAllDTypes) {
    SCOPED_TRACE(dtype_name(dtype));
    const TensorType type{dtype, {3, 300}};
    check([&] {
      std::vector<Tensor> made{zeros(type), ones(type), full(type, 1)};
      if (dtype != DType::kPred)
        made.insert(made.end(), {iota(type, 0), iota(type, 1), eye(3, dtype), arange(20, dtype)});
      return made;
    });
  }
}

TEST_F(XlaShape, ReshapeAndAxes) {
  check_all_dtypes({2, 3, 4}, [](const Tensor& x) { return reshape(x, {4, -1}); });
  check_all_dtypes({1, 1}, [](const Tensor& x) { return reshape(x, std::vector<std::int64_t>{}); });
  check_all_dtypes({}, [](const Tensor& x) { return reshape(x, {1, 1, 1}); });
  check_all_dtypes({2, 1, 3, 1}, [](const Tensor& x) { return squeeze(x); });
  check_all_dtypes({2, 3}, [](const Tensor& x) { return expand_dims(x, 1); });
  check_all_dtypes({0, 3}, [](const Tensor& x) { return reshape(x, {3, 0, 2}); });
}

TEST_F(XlaShape, Broadcasts) {
  check_all_dtypes({3, 1}, [](const Tensor& x) { return broadcast_to(x, {2, 3, 4}); });
  check_all_dtypes({}, [](const Tensor& x) { return broadcast_to(x, {2, 3}); });
  check_all_dtypes({2, 3}, [](const Tensor& x) { return broadcast_in_dim(x, {3, 2, 2}, {1, 0}); });
  check_all_dtypes({1, 3}, [](const Tensor& x) { return broadcast_in_dim(x, {4, 5, 3}, {0, 2}); });
}

TEST_F(XlaShape, TransposeAndReverse) {
  check_all_dtypes({2, 3, 4}, [](const Tensor& x) { return transpose(x); });
  check_all_dtypes({2, 3, 4}, [](const Tensor& x) { return transpose(x, {1, 2, 0}); });
  check_all_dtypes({2, 3, 4}, [](const Tensor& x) { return reverse(x); });
  check_all_dtypes({2, 3, 4}, [](const Tensor& x) { return reverse(x, {1, -1}); });
}

TEST_F(XlaShape, ConcatenateAndStack) {
  check_all_dtypes({2, 3}, [](const Tensor& x) {
    return concatenate({x, x, slice(x, {0, 0}, {2, 0}), reverse(x)}, 1);
  });
  check_all_dtypes({2, 3}, [](const Tensor& x) { return concatenate({x}, 0); });
  check_all_dtypes({2, 3}, [](const Tensor& x) { return stack({x, reverse(x)}, 1); });
}

TEST_F(XlaShape, PadInAllDirections) {
  check_all_dtypes({4}, [](const Tensor& x) { return pad(x, x[3], {-1}, {-1}, {1}); });
  check_all_dtypes({2, 3}, [](const Tensor& x) { return pad(x, x[0][1], {1, 0}, {2, 3}, {0, 2}); });
  check_all_dtypes({2, 3}, [](const Tensor& x) { return pad(x, x[0][1], {-2, 0}, {0, -2}); });
  check_all_dtypes({0}, [](const Tensor& x) { return pad(x, full({x.dtype(), {}}, 1), {2}, {1}); });
  check(
      [](Tensor x) { return pad(x, 0, std::vector<std::int64_t>{}, std::vector<std::int64_t>{}); },
      Literal::scalar(5));
}

TEST_F(XlaParts, Slice) {
  check_all_dtypes({5, 6}, [](const Tensor& x) { return slice(x, {1, 0}, {4, 6}, {2, 4}); });
  check_all_dtypes({5, 6}, [](const Tensor& x) { return slice(x, {5, 2}, {5, 3}); });
  check([](Tensor x) { return slice(x, {}, {}); }, Literal::scalar(5));
}

TEST_F(XlaParts, RowsByNumberAndByTensor) {
  check_all_dtypes({3, 2}, [](const Tensor& x) { return x[-1]; });
  check_all_dtypes({3, 2}, [](const Tensor& x) { return update(x, 1, x[0]); });
  for (const int i : {-5, 0, 2, 9}) {
    check(
        [](Tensor x, Tensor index) {
          return std::tuple(x[index], update(x, index, 7), update(x, index, x[0] * 2));
        },
        counting(f32({3, 2})), Literal::scalar(i));
  }
}

TEST_F(XlaParts, DynamicSlicesWithIndicesOfEveryDtype) {
  for (const DType dtype : kIntegers) {
    SCOPED_TRACE(dtype_name(dtype));
    for (const std::int64_t i :
         {std::int64_t{-1}, std::int64_t{0}, std::int64_t{2}, std::int64_t{1000000007}}) {
      SCOPED_TRACE(i);
      check(
          [](Tensor x, Tensor at) {
            return std::tuple(dynamic_slice(x, {at, at}, {2, 1}),
                              dynamic_update_slice(x, ones(s32({2, 2})), {at, at}),
                              dynamic_slice(x, {at, zeros(at.type())}, {0, 3}));
          },
          counting(s32({4, 3})), convert(Tensor(i), dtype).eval());
    }
  }
  check_all_dtypes({4, 3}, [](const Tensor& x) {
    return dynamic_slice(x, {Tensor(1), Tensor(9)}, {2, 2});
  });
  check_all_dtypes({4, 3}, [](const Tensor& x) {
    return dynamic_update_slice(x, slice(x, {0, 0}, {1, 2}), {Tensor(3), Tensor(-4)});
  });
}

TEST_F(XlaParts, DynamicSlicesOfScalars) {
  check(
      [](Tensor x) {
        return std::tuple(dynamic_slice(x, {}, {}), dynamic_update_slice(x, x + 1, {}));
      },
      Literal::scalar(5));
}

TEST_F(XlaParts, TakeAlongEveryAxis) {
  for (const DType dtype : kIntegers) {
    SCOPED_TRACE(dtype_name(dtype));
    check([](Tensor x,
             Tensor i) { return std::tuple(take(x, i, 0), take(x, i, 1), take(x, i[0], -1)); },
          counting(f32({3, 4})),
          convert(Tensor(row<std::int64_t>({0, 2, 5, -1, 3})), dtype).eval());
  }
  check_all_dtypes({3, 4}, [](const Tensor& x) { return take(x, constant({{2, 0}, {1, 1}}), 1); });
}

TEST_F(XlaParts, GeneralGather) {
  // Windows of 2x2 at starts that are partly out of range; rows by index; diagonals with a batching
  // axis.
  check(
      [](Tensor x, Tensor starts, Tensor rows) {
        return std::tuple(gather(x, starts,
                                 {.offset_dims = {1, 2},
                                  .collapsed_slice_dims = {},
                                  .start_index_map = {0, 1},
                                  .index_vector_dim = 1},
                                 {2, 2}),
                          gather(x, starts,
                                 {.offset_dims = {1},
                                  .collapsed_slice_dims = {0},
                                  .start_index_map = {1, 0},
                                  .index_vector_dim = 1},
                                 {1, 3}),
                          gather(x, rows,
                                 {.offset_dims = {0},
                                  .collapsed_slice_dims = {1},
                                  .start_index_map = {1},
                                  .index_vector_dim = 2},
                                 {4, 1}),
                          gather(x, rows[0],
                                 {.offset_dims = {},
                                  .collapsed_slice_dims = {1},
                                  .start_index_map = {1},
                                  .index_vector_dim = 1,
                                  .operand_batching_dims = {0},
                                  .start_indices_batching_dims = {0}},
                                 {1, 1}));
      },
      counting(f32({4, 5})), Literal::from<std::int32_t>({0, 0, 3, 4, -2, 1, 1, 9}, {4, 2}),
      Literal::from<std::int32_t>({0, 4, 2, -1, 7, 1, 3, 2}, {2, 4}));
}

TEST_F(XlaParts, GeneralScatter) {
  const ScatterDims elements{.update_window_dims = {},
                             .inserted_window_dims = {0, 1},
                             .scatter_dims_to_operand_dims = {0, 1},
                             .index_vector_dim = 1};
  const ScatterDims windows{.update_window_dims = {1, 2},
                            .inserted_window_dims = {},
                            .scatter_dims_to_operand_dims = {0, 1},
                            .index_vector_dim = 1};
  const Literal x = counting(f32({4, 5})),
                starts = Literal::from<std::int32_t>({0, 0, 3, 4, -2, 1, 0, 0, 1, 9, 2, 3}, {6, 2});
  check(
      [&](Tensor a, Tensor at, Tensor updates, Tensor blocks) {
        return std::tuple(
            scatter(a, at, updates, elements, [](Tensor o, Tensor u) { return o + u; }),
            scatter(a, at, updates, elements, [](Tensor, Tensor u) { return u; }),
            scatter(a, at, updates, elements, [](Tensor o, Tensor u) { return maximum(o, u); }),
            scatter(a, at, updates, elements, [](Tensor o, Tensor u) { return o * 2 + u; }),
            scatter(a, at, blocks, windows, [](Tensor o, Tensor u) { return minimum(o, u) - 1; }));
      },
      x, starts, counting(f32({6})), counting(f32({6, 2, 2})));
  check_all_dtypes({4, 5}, [&](const Tensor& a) {
    return scatter(a, Tensor(starts), reshape(slice(a, {0, 0}, {2, 3}), {6}), elements,
                   [](Tensor, Tensor u) { return u; });
  });
}

// Index vectors without components: all updates go to position 0. Only XLA drops them, also inside
// loops.
TEST_F(XlaParts, ScattersByIndexVectorsOfNoComponents) {
  const ScatterDims whole{.update_window_dims = {1, 2},
                          .inserted_window_dims = {},
                          .scatter_dims_to_operand_dims = {},
                          .index_vector_dim = 1};
  const auto f = [&](Tensor x, Tensor at, Tensor blocks) {
    const auto added = [&](Tensor array) {
      return scatter(array, at, blocks, whole, [](Tensor o, Tensor u) { return o + u; });
    };
    return std::tuple(added(x), fori_loop(
                                    0, 3, [&](Tensor, Tensor s) { return added(s); }, x));
  };
  const Literal x = counting(s32({2, 3})), at = Literal::zeros(s32({4, 0})),
                blocks = counting(s32({4, 1, 2}));
  const std::vector<Literal> ours = compile(trace(f, x, at, blocks)).run({x, at, blocks});
  expect_values<std::int32_t>(ours[0], {2, 3}, {0 + 12, 1 + 16, 2, 3, 4, 5});
  expect_values<std::int32_t>(ours[1], {2, 3}, {0 + 36, 1 + 48, 2, 3, 4, 5});
  check(f, x, at, blocks);
}

TEST_F(XlaParts, RandomGathersAndScatters) {
  Shapes shapes(7);
  for (int i = 0; i < 60; i++) {
    const WindowCase c = random_window_case(shapes);
    SCOPED_TRACE("case " + std::to_string(i));
    const Literal starts = Literal::from(c.starts, c.indices);
    check([&](Tensor x, Tensor at) { return gather(x, at, c.dims, c.sizes); },
          counting({DType::kS32, c.operand}), starts);
    check(
        [&](Tensor x, Tensor at, Tensor updates) {
          return std::tuple(
              scatter(x, at, updates, c.scatter_dims(), [](Tensor o, Tensor u) { return o + u; }),
              scatter(x, at, updates, c.scatter_dims(), [](Tensor, Tensor u) { return u; }));
        },
        counting({DType::kS32, c.operand}), starts, counting({DType::kS32, c.windowed}));
  }
}

TEST_F(XlaShape, ShardsMeanNothingOnOneDevice) {
  const Mesh mesh({{"data", 4}, {"model", 2}});
  const auto f = [&](Tensor x, Tensor w) {
    x = shard(x, mesh, {"data", std::nullopt});
    const Tensor y = fori_loop(
        0, 3,
        [&](Tensor, Tensor c) {
          return shard(c * 2, mesh, {kUnconstrained, "model"});
        },
        x);
    return std::tuple(shard(y + w, mesh, {{"model", "data"}, std::nullopt}), w);
  };
  const Literal x = counting({DType::kF32, {8, 4}});
  expect_same_as_xla(trace(f, x.type(), x.type()), {x, x}, kExactly);
  expect_same_as_xla(trace([&](Tensor y) { return shard(y, mesh, {}); }, f32()),
                     {Literal::scalar(2.5f)}, kExactly);
}

}  // namespace
}  // namespace rondo::testing
