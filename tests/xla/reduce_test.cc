// Reductions, prefix scans, sorting and products in real XLA.
#include <string>
#include <tuple>
#include <vector>

#include "xla/edge_values.h"

namespace rondo::testing {
namespace {

class XlaReduce : public XlaTest {};
class XlaOrder : public XlaTest {};
class XlaProduct : public XlaTest {};

/// Small whole numbers, whose sums and products are exact in every dtype.
Literal small(const TensorType& type) {
  const Tensor numbers =
      reshape((iota(s32({type.elements()}), 0) * 7 + 3) % 5, type.shape.vector());
  return convert(type.dtype == DType::kPred ? numbers % 2 : numbers, type.dtype).eval();
}

/// Arrays of shape [2,n] of the edge values of each dtype, in two orders.
std::vector<Literal> edge_rows(const std::vector<DType>& dtypes) {
  std::vector<Literal> rows;
  for (const DType dtype : dtypes) {
    const Tensor values(edge_values(dtype));
    rows.push_back(stack({values, reverse(values)}, 0).eval());
  }
  return rows;
}

template <class Op>
void check_each(const std::vector<Literal>& arguments, Op&& op, const Tolerance& tolerance = {}) {
  std::vector<TensorType> types;
  for (const Literal& argument : arguments) types.push_back(argument.type());
  const Function f = trace(
      [&](const std::vector<Tensor>& values) {
        std::vector<std::vector<Tensor>> results;
        for (const Tensor& value : values) results.push_back(op(value));
        return results;
      },
      types);
  expect_same_as_xla(f, arguments, tolerance);
}

std::vector<Literal> small_arrays(const std::vector<DType>& dtypes, const Shape& shape) {
  std::vector<Literal> arrays;
  for (const DType dtype : dtypes) arrays.push_back(small({dtype, shape}));
  return arrays;
}

TEST_F(XlaReduce, SumsAndProducts) {
  const std::vector<Literal> arrays = small_arrays(kPredOnly + kNumbers, {2, 3, 4});
  check_each(arrays, [](const Tensor& x) {
    return std::vector<Tensor>{sum(x),       sum(x, {1}),        sum(x, {0, -1}, true),
                               prod(x, {1}), prod(x, {0}, true), sum(x, {0, 1, 2}, true)};
  });
}

TEST_F(XlaReduce, MeansAnyAndAll) {
  check_each(small_arrays(kFloats + kComplexes, {2, 3, 4}), [](const Tensor& x) {
    return std::vector<Tensor>{mean(x), mean(x, {1}), mean(x, {0, 2}, true)};
  });
  check_each(small_arrays(kPredOnly + kNumbers, {3, 4}), [](const Tensor& x) {
    return std::vector<Tensor>{any(x), all(x), any(x, {0}), all(x, {1}, true)};
  });
}

TEST_F(XlaReduce, ExtremesOfEdgeValues) {
  check_each(edge_rows(kOrdered), [](const Tensor& x) {
    std::vector<Tensor> results{max(x),       min(x),       max(x, {0}),  min(x, {1}),
                                argmax(x, 0), argmin(x, 0), argmax(x, 1), argmin(x, -1)};
    return results;
  });
  check_each(small_arrays(kOrdered, {3, 7}), [](const Tensor& x) {
    return std::vector<Tensor>{max(x, {0}, true), argmax(x, 0), argmin(x, 0), argmax(x, 1),
                               argmin(x, 1)};
  });
}

TEST_F(XlaReduce, OfNoElements) {
  check_each(
      {Literal::zeros(f32({0, 3})), Literal::zeros(s8({0, 3})), Literal::zeros(c64({2, 0, 3}))},
      [](const Tensor& x) {
        return std::vector<Tensor>{sum(x),      prod(x, {0}), any(x),
                                   all(x, {1}), cumsum(x, 0), sum(x, {-1})};
      });
}

TEST_F(XlaReduce, LongSums) {
  // 2^17 terms of mixed sizes: both sides are exact to a few units in the last place of f32.
  const Tensor i = iota(f64({1 << 17}), 0);
  const Literal x = convert(sin(i) + 1.0 / (i + 1.0), DType::kF32).eval();
  check([](Tensor v) { return std::tuple(sum(v), mean(v), max(v)); }, x);
}

TEST_F(XlaReduce, WithACombinerOfOnesOwn) {
  check(
      [](Tensor x, Tensor y) {
        // The first greatest value and its companion.
        using Pair = std::tuple<Tensor, Tensor>;
        const auto best = reduce(Pair(x, y), Pair(-1e30f, 0), {1}, [](Pair a, Pair b) {
          const Tensor take = std::get<0>(b) > std::get<0>(a);
          return Pair(where(take, std::get<0>(b), std::get<0>(a)),
                      where(take, std::get<1>(b), std::get<1>(a)));
        });
        const Tensor bits = reduce(y, 0, {0}, [](Tensor a, Tensor b) { return a ^ b; });
        const Tensor least =
            reduce(x, Tensor(3.0f), {}, [](Tensor a, Tensor b) { return minimum(a, b); });
        return std::tuple(best, bits, least);
      },
      Literal::from<float>({3, 1, 2, 0.5f, 9, -1}, {2, 3}), counting(s32({2, 3})));
}

TEST_F(XlaReduce, RunningTotals) {
  for (const bool backward : {false, true}) {
    check_each(small_arrays(kPredOnly + kNumbers, {3, 7}), [&](const Tensor& x) {
      return std::vector<Tensor>{cumsum(x, 0, backward), cumsum(x, 1, backward),
                                 cumprod(x, 0, backward)};
    });
    check_each(edge_rows(kIntegers + kFloats), [&](const Tensor& x) {
      return std::vector<Tensor>{cummax(x, 1, backward), cummin(x, 1, backward),
                                 cummax(x, 0, backward)};
    });
  }
}

TEST_F(XlaOrder, SortsEdgeValues) {
  check_each(edge_rows(kOrdered), [](const Tensor& x) {
    return std::vector<Tensor>{sort(x), sort(x, 0), argsort(x), argsort(x, 0)};
  });
  check_each(edge_rows(kComplexes), [](const Tensor& x) {
    return std::vector<Tensor>{sort(x), argsort(x)};
  });
  check_each(small_arrays(kOrdered, {4, 5}), [](const Tensor& x) {
    return std::vector<Tensor>{argsort(x), argsort(x, 0)};
  });
}

TEST_F(XlaOrder, SortsByAnything) {
  check(
      [](Tensor key, Tensor value) {
        using Pair = std::tuple<Tensor, Tensor>;
        const auto down = sort_by(Pair(key, value), 0,
                                  [](Pair a, Pair b) { return std::get<0>(a) > std::get<0>(b); });
        const auto both = sort_by(Pair(key, value), -1, [](Pair a, Pair b) {
          return (std::get<0>(a) < std::get<0>(b)) |
                 ((std::get<0>(a) == std::get<0>(b)) & (std::get<1>(a) > std::get<1>(b)));
        });
        return std::tuple(down, both,
                          sort_by(key, 0, [](Tensor a, Tensor b) { return a % 3 < b % 3; }));
      },
      row<std::int32_t>({5, 1, 4, 1, 5, 9, 2, 6, 5, 3}),
      row<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(XlaOrder, OfNothingAndOfOneElement) {
  check([](Tensor x, Tensor y) { return std::tuple(sort(x), argsort(x), sort(y, 0), argsort(y)); },
        Literal::zeros(f32({3, 0})), Literal::zeros(s32({1, 1})));
}

TEST_F(XlaProduct, InEveryDtype) {
  std::vector<Literal> arguments;
  std::vector<TensorType> types;
  for (const DType dtype : kNumbers) {
    for (const Shape& shape : {Shape{2, 3}, Shape{3, 4}}) {
      arguments.push_back(small({dtype, shape}));
      types.push_back(arguments.back().type());
    }
  }
  const Function f = trace(
      [](const std::vector<Tensor>& v) {
        std::vector<Tensor> results;
        for (std::size_t i = 0; i < v.size(); i += 2) {
          results.push_back(matmul(v[i], v[i + 1]));
          results.push_back(dot(v[i][0], v[i][1]));
        }
        return results;
      },
      types);
  expect_same_as_xla(f, arguments);
}

TEST_F(XlaProduct, OfAllShapes) {
  const Literal v = small(f32({4})), m = small(f32({3, 4})), b = small(f32({2, 4, 3})),
                c = small(f32({5, 1, 3, 4})), s = small(f32({}));
  const auto product = [](Tensor x, Tensor y) { return matmul(x, y); };
  check(product, v, v);
  check(product, m, v);
  check(product, v, b);
  check(product, m, b);
  check(product, b, m);
  check(product, c, b);
  const auto numpy_dot = [](Tensor x, Tensor y) { return dot(x, y); };
  check(numpy_dot, v, v);
  check(numpy_dot, m, v);
  check(numpy_dot, s, m);
  check(numpy_dot, m, b);
  check(numpy_dot, c, b);
}

TEST_F(XlaProduct, General) {
  const Literal a = small(s32({2, 3, 4, 5})), b = small(s32({5, 2, 4, 6}));
  check(
      [](Tensor x, Tensor y) {
        DotDims batched;
        batched.lhs_batch = {0};
        batched.rhs_batch = {1};
        batched.lhs_contracting = {3, 2};
        batched.rhs_contracting = {0, 2};
        DotDims outer;
        outer.lhs_contracting = {-1};
        outer.rhs_contracting = {0};
        return std::tuple(dot_general(x, y, batched), dot_general(x, y, outer),
                          dot_general(x[0][0], y[0][0], {}));
      },
      a, b);
}

TEST_F(XlaProduct, OverNoElements) {
  check([](Tensor x, Tensor y) { return std::tuple(matmul(x, y), matmul(y, x)); },
        Literal::zeros(f32({2, 0})), Literal::zeros(f32({0, 3 - 1})));
}

TEST_F(XlaProduct, HalvesAreAccumulatedInF32) {
  std::vector<Literal> arguments;
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    arguments.push_back(convert(sin(iota(f32({3, 200}), 1)), dtype).eval());
  }
  check([](Tensor x,
           Tensor y) { return std::tuple(matmul(x, transpose(x)), matmul(y, transpose(y))); },
        arguments[0], arguments[1]);
}

class XlaBatchNorm : public XlaTest {};

TEST_F(XlaBatchNorm, OfTrainingInferenceAndGradients) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Literal x =
        convert(sin(iota(f32({5, 3, 4}), 0) * 7 + iota(f32({5, 3, 4}), 2)), dtype).eval();
    const Literal scale = convert(constant({1.5f, -0.5f, 2.0f}), dtype).eval();
    expect_same_as_xla(
        trace(
            [](Tensor a, Tensor s) {
              const auto [y, mean, variance] = batch_norm_training(a, s, s * s, 1e-3f, 1);
              const auto back = batch_norm_grad(a, s, mean, variance, cos(a), 1e-3f, 1);
              const Tensor z = batch_norm_inference(a, s, s, mean, s * s, 1e-5f, 1);
              return std::tuple(y, mean, variance, back.x, back.scale, back.offset, z);
            },
            x, scale),
        {x, scale}, {.rtol = 1e-4, .atol = 1e-5});
  }
}

}  // namespace
}  // namespace rondo::testing
