// Short rows and products of small matrices on the compiled executor: inlined, with the reference's
// bits.
#include "executor/agreement.h"

namespace rondo::testing {
namespace {

using lower::Opcode;
using Tensors = std::vector<Tensor>;

Literal factors_of(const TensorType& type) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < type.elements(); i++)
    values.push_back(static_cast<double>((i * 37) % 23) * 0.3125 - 3);
  const Literal doubles = Literal::from(values, type.shape);
  return compile(trace([&](const Tensors& x) { return convert(x[0], type.dtype); },
                       std::vector<TensorType>{doubles.type()}),
                 {.optimize = false})
      .run({doubles})[0];
}

template <class F>
void check_terms(F f, const std::vector<TensorType>& types) {
  std::vector<Literal> arguments;
  for (const TensorType& type : types) arguments.push_back(factors_of(type));
  expect_agreement(trace(f, types), arguments);
}

TEST(Terms, Products) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kS32,
                            DType::kU8, DType::kC64}) {
    for (const std::int64_t count : {1, 2, 3, 4, 7, 8, 9, 15, 16, 17}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(dtype)) + " " + std::to_string(count));
      const auto product = [](const Tensors& x) { return matmul(x[0], x[1]); };
      for (const std::int64_t n : {1, 3, 9}) {
        check_terms(product, {{dtype, {3, count}}, {dtype, {count, n}}});
        check_terms(product, {{dtype, {1, count}}, {dtype, {count, n}}});
      }
      check_terms(product, {{dtype, {5, count}}, {dtype, {count}}});
      check_terms(product, {{dtype, {count}}, {dtype, {count, 10}}});
      check_terms(product, {{dtype, {2, 3, count}}, {dtype, {2, count, 8}}});
    }
  }
}

TEST(Terms, AxesOfProducts) {
  const auto product = [](DotDims dims) {
    return [dims](const Tensors& x) { return dot_general(x[0] + 1, x[1], dims); };
  };
  const DType f = DType::kF32;
  check_terms(product({{}, {}, {0}, {0}}), {{f, {4, 3}}, {f, {4, 9}}});
  check_terms(product({{}, {}, {0}, {1}}), {{f, {4, 3}}, {f, {9, 4}}});
  check_terms(product({{}, {}, {1}, {1}}), {{f, {3, 20}}, {f, {9, 20}}});
  check_terms(product({{}, {}, {0, 2}, {2, 0}}), {{f, {2, 5, 3}}, {f, {3, 4, 2}}});
  check_terms(product({{}, {}, {2, 0}, {0, 2}}), {{f, {2, 5, 3}}, {f, {3, 4, 2}}});
  check_terms(product({{1}, {0}, {0}, {2}}), {{f, {4, 5, 3}}, {f, {5, 9, 4}}});
  check_terms(product({{}, {}, {}, {}}), {{f, {3}}, {f, {11}}});
  check_terms(product({{0, 1}, {1, 0}, {}, {}}), {{f, {3, 2}}, {f, {2, 3}}});
}

TEST(Terms, ShortRows) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16, DType::kS16, DType::kC64}) {
    for (const std::int64_t count : {1, 2, 3, 5, 8, 9}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(dtype)) + " " + std::to_string(count));
      for (const std::vector<std::int64_t>& axes :
           std::vector<std::vector<std::int64_t>>{{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}}) {
        check_terms([&](const Tensors& x) { return sum(x[0] * x[0], axes); },
                    {{dtype, {count, 3, 2}}});
        check_terms([&](const Tensors& x) { return sum(x[0], axes); }, {{dtype, {2, 1, count}}});
        check_terms([&](const Tensors& x) { return prod(x[0], axes); }, {{dtype, {2, count, 1}}});
        if (!is_complex(dtype))
          check_terms([&](const Tensors& x) { return max(x[0], axes); }, {{dtype, {2, 4, count}}});
      }
    }
  }
  check_terms([](const Tensors& x) { return any(x[0] > 0, {1}); }, {f32({5, 3})});
}

TEST(Terms, StandInTheLoopsOfTheirConsumers) {
  const Function step = trace(
      [](Tensor a, Tensor h, Tensor xs) {
        return scan(
                   [&](Tensor h, Tensor x) {
                     const Tensor next = matmul(a, h) + x * sum(x);
                     return std::pair(next, next);
                   },
                   h, xs)
            .second;
      },
      f32({4, 4}), f32({4}), f32({9, 4}));
  EXPECT_FALSE(calls_kernels(step)) << Lowered(step);
  expect_agreement(step, {factors_of(f32({4, 4})), factors_of(f32({4})), factors_of(f32({9, 4}))});
}

// A row of an array is read in place, not copied first.
TEST(Terms, OfWhatIsUsedTwiceInEachTermAreOneLoop) {
  const auto distances = [](const Tensors& x) {
    const Tensor difference = expand_dims(x[0], 1) - expand_dims(x[1], 0);
    return sum(difference * difference, {2});
  };
  const std::vector<TensorType> types{f32({30, 2}), f32({8, 2})};
  const Lowered lowered(trace(distances, types));
  EXPECT_EQ(lowered.count(Opcode::kStore), 1) << lowered;
  check_terms(distances, types);
}

TEST(Terms, RowsAreReadInPlace) {
  const Function rows = trace(
      [](Tensor x) {
        return fori_loop(
            0, 7, [&](Tensor i, Tensor s) { return s + x[i] * 2; }, zeros(f32({5})));
      },
      f32({7, 5}));
  EXPECT_EQ(Lowered(rows).count(Opcode::kLanes), 1) << Lowered(rows);
  expect_agreement(rows, {factors_of(f32({7, 5}))});
}

// A loop reads a matrix that it multiplies by along whole vectors, from a copy made before the
// loop.
TEST(Terms, LoopsPackTheirMatrices) {
  for (const std::int64_t n : {3, 4, 12, 20, 67}) {
    for (const bool transposed : {false, true}) {
      const Function powers = trace(
          [&](Tensor a, Tensor x) {
            return fori_loop(
                0, 5,
                [&](Tensor, Tensor x) {
                  return matmul(transposed ? transpose(a, {1, 0}) : a, x) * 0.25 + x;
                },
                x);
          },
          f32({n, n}), f32({n}));
      const std::vector<Literal> arguments{factors_of(f32({n, n})), factors_of(f32({n}))};
      expect_agreement(powers, arguments);
      const Literal want = compile(powers, {.executor = Executor::kReference}).run(arguments)[0];
      for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
        const Lowered packed(powers, {.executor = executor});
        EXPECT_EQ(packed.kernel_calls(), 0) << packed;
        const Literal got = compile(powers, {.executor = executor}).run(arguments)[0];
        double largest = 1;
        for (const float v : want.data<float>()) largest = std::max(largest, std::abs(double(v)));
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); i++)
          EXPECT_NEAR(got.data<float>()[i], want.data<float>()[i], 1e-5 * largest);
      }
    }
  }
  // Nested loops, and products in both orders.
  const Function nested = trace(
      [](Tensor a, Tensor xs) {
        return scan(
                   [&](Tensor h, Tensor x) {
                     const Tensor next = fori_loop(
                         0, 3, [&](Tensor, Tensor h) { return matmul(h, a) + matmul(a, h) * 0.5; },
                         h + x);
                     return std::pair(next * 0.01, next);
                   },
                   zeros(f32({9})), xs)
            .second;
      },
      f32({9, 9}), f32({4, 9}));
  expect_agreement(nested, {factors_of(f32({9, 9})), factors_of(f32({4, 9}))});
}

TEST(Terms, ConstantsOfOneValue) {
  const auto ones = [](DType dtype) { return full({dtype, {5}}, 1.5); };
  const Function scaled = trace([&](Tensor x) { return x * ones(DType::kF32); }, f32({5}));
  EXPECT_EQ(Lowered(scaled).loads_from(lower::Storage::kConstant), 0) << Lowered(scaled);
  const Tensor several(Literal::from<float>({1, 2, 3, 4, 5}));
  const Function by_several = trace([&](Tensor x) { return x * several; }, f32({5}));
  EXPECT_EQ(Lowered(by_several).loads_from(lower::Storage::kConstant), 1) << Lowered(by_several);
  check_terms([&](const Tensors& x) { return x[0] * ones(DType::kF32) + sum(ones(DType::kF32)); },
              {f32({5})});
  check_terms(
      [&](const Tensors& x) { return x[0] + bitcast_convert(ones(DType::kF32), DType::kS32); },
      {s32({5})});
  check_terms([&](const Tensors& x) { return x[0] * ones(DType::kC64); }, {c64({5})});
  check_terms(
      [&](const Tensors& x) {
        return fori_loop(
            0, 3, [&](Tensor i, Tensor s) { return update(s, i, x[0][i]); }, ones(DType::kF32));
      },
      {f32({5})});
}

// A scalar that is broadcast over an array is read as a value in loops, even if the array's memory
// is reused.
TEST(Terms, SpreadScalars) {
  const auto both = [](auto f) {
    expect_agreement(trace(f, f32({6}), f32()), {factors_of(f32({6})), Literal::scalar(1.75f)});
  };
  both([](Tensor x, Tensor s) {
    return fori_loop(
        0, 4, [&](Tensor, Tensor y) { return y * s + x; }, x);
  });
  both([](Tensor x, Tensor s) {
    const Tensor spread = broadcast_to(s, {6});
    return fori_loop(
        0, 3, [&](Tensor i, Tensor y) { return update(y, i, x[i] * y[i + 1]); }, spread);
  });
  both([](Tensor x, Tensor s) {
    const Tensor spread = broadcast_to(s, {6});
    return update(spread, 2, x[0]) + x;
  });
  both([](Tensor x, Tensor s) {
    const Tensor spread = broadcast_to(s, {6});
    return cond(
        x[0] > 0, [&](Tensor y) { return update(y, 1, x[3]) * x; },
        [](Tensor y) { return update(y, 2, 5.0f); }, spread);
  });
  both([](Tensor x, Tensor s) {
    const Tensor d = expand_dims(x, 1) - expand_dims(x, 0) * s;
    return sum(exp(-(d * d)), {1});
  });
}

// What a sum reads more than once at the same index is computed in its loops, and stored in no
// memory.
TEST(Terms, ReductionsOfSharedValues) {
  const Function pairs = trace(
      [](Tensor x) {
        const Tensor d = expand_dims(x, 1) - expand_dims(x, 0);
        return sum(exp(-(d * d)), {1});
      },
      f32({300}));
  EXPECT_LT(compile(pairs, {.executor = Executor::kBytecode}).memory_plan().arena_bytes, 4096);
  expect_agreement(pairs, {factors_of(f32({300}))});
}

TEST(Terms, ReshapesOfUnitAxes) {
  check_terms(
      [](const Tensors& x) {
        return reshape(reshape(x[0] * 2, {1, 3, 1, 4}) + 1, {3, 4, 1});
      },
      {f32({3, 4})});
  check_terms(
      [](const Tensors& x) {
        return reshape(transpose(x[0], {1, 0}), {4, 1, 3}) * x[1];
      },
      {f32({3, 4}), f32({4, 1, 3})});
  check_terms([](const Tensors& x) { return reshape(x[0], {1, 0, 2}) + 1; }, {f32({0, 2})});
  check_terms([](const Tensors& x) { return reshape(x[0] + 1, {4, 3}) * 2; }, {f32({3, 4})});
}

}  // namespace
}  // namespace rondo::testing
