// Each op that has a kernel elsewhere, as C, which has none: against the reference, exactly or
// within the rounding that another order of sums takes. The expansions run in the reference too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

#include "base/for_dtype.h"
#include "executor/for_loops.h"
#include "passes/optimize.h"
#include "rondo/rondo.h"
#include "support/compare.h"
#include "support/elementwise_records.h"
#include "support/run_c.h"

namespace rondo::testing {
namespace {

using Tensors = std::vector<Tensor>;

/// Numbers from -4 to 4 in steps of 1 / 8, integers from -9 to 9, unsigned ones to 18, preds.
Literal numbers(const TensorType& type, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  Literal made = Literal::zeros(type);
  for_dtype(type.dtype, [&]<class T>() {
    T* out = reinterpret_cast<T*>(made.mutable_bytes());
    for (std::int64_t i = 0; i < type.elements(); i++) {
      const auto part = [&] { return static_cast<float>(below(65) - 32) / 8; };
      if constexpr (is_complex(dtype_of<T>))
        out[i] = T(static_cast<typename T::value_type>(part()),
                   static_cast<typename T::value_type>(part()));
      else if constexpr (std::is_same_v<T, bool>)
        out[i] = below(2) == 1;
      else if constexpr (std::is_integral_v<T>)
        out[i] = static_cast<T>(below(19) - (std::is_signed_v<T> ? 9 : 0));
      else
        out[i] = static_cast<T>(part());
    }
  });
  return made;
}

/// Numbers for operands of these types.
std::vector<Literal> numbers(const std::vector<TensorType>& types, std::uint64_t seed = 1) {
  std::vector<Literal> made;
  for (const TensorType& type : types) made.push_back(numbers(type, seed++));
  return made;
}

class OpInC : public InC {
 protected:
  using Code = std::function<Tensors(const Tensors&)>;
  static void expect(const std::vector<Literal>& arguments, const Code& code,
                     const Tolerance& tolerance = kExactly) {
    Tensors types;
    for (const Literal& argument : arguments) types.push_back(zeros(argument.type()));
    const Function function = trace([&](const Tensors& x) { return code(x); }, types);
    const auto reference = [&](const Function& f) {
      const CompileOptions options{
          .optimize = false, .contract = false, .executor = Executor::kReference};
      return compile(f, options).run(arguments);
    };
    const std::vector<Literal> want = reference(function), got = run_c(function, arguments);
    const std::vector<Literal> expanded =
        reference(executor::for_loops_alone(passes::optimize(function)));
    for (std::size_t i = 0; i < want.size(); i++) {
      EXPECT_EQ(difference(got[i], want[i], tolerance), "") << "result " << i << function.str();
      EXPECT_EQ(difference(expanded[i], want[i], tolerance), "") << "expanded result " << i;
    }
  }
};

constexpr Tolerance kRounded{.ulps = 64};

TEST_F(OpInC, ArraysWithoutElementsAndOfOne) {
  expect(numbers({f32({3}), f32({0}), f32({2, 0}), f32({0, 3}), u32({1}), u32({1})}),
         [](const Tensors& x) {
           const Tensor none = zeros(s32({0, 1}));
           const ScatterDims places{.inserted_window_dims = {0},
                                    .scatter_dims_to_operand_dims = {0},
                                    .index_vector_dim = 1};
           const auto add = [](const Tensor& a, const Tensor& b) { return a + b; };
           return Tensors{scatter(x[0], none, x[1], places, add),
                          matmul(x[2], x[3]),
                          cumsum(x[1], 0),
                          take(x[4], x[5]),
                          sort(x[1], 0),
                          take(x[4], constant({5, 0, -1}))};
         });
}

TEST_F(OpInC, PowersOfIntegers) {
  expect(numbers({s32({6, 7}), s32({6, 7}), u8({20}), u8({20}), s64({20}), s64({20}), u64({9}),
                  u64({9}), s16({12}), s16({12})}),
         [](const Tensors& x) {
           return Tensors{pow(x[0], x[1]),
                          pow(x[2], x[3]),
                          pow(x[4], x[5]),
                          pow(x[6], x[7]),
                          pow(x[8], x[9]),
                          pow(x[0], 3),
                          pow(where(x[0] > 0, 1, Tensor(full(s32({6, 7}), -1))), x[1])};
         });
}

TEST_F(OpInC, SortsOfAnyLengthAndComparator) {
  Literal floats = numbers(f32({100}), 5);
  auto* numbers_of = reinterpret_cast<float*>(floats.mutable_bytes());
  numbers_of[7] = numbers_of[31] = std::numeric_limits<float>::quiet_NaN();
  numbers_of[8] = -0.0f;
  numbers_of[9] = 0.0f;
  std::vector<Literal> arguments =
      numbers({s32({100}), s32({3, 40, 2}), f64({3, 33}), c64({50}), pred({30}), u8({21, 4})});
  arguments.push_back(floats);
  expect(arguments, [](const Tensors& x) {
    Tensors results{sort(x[0]),    sort(x[1], 1), argsort(x[1], 1), sort(x[2], 0), sort(x[2]),
                    argsort(x[3]), sort(x[3]),    sort(x[4]),       sort(x[5], 0), sort(x[6]),
                    argsort(x[6]), -sort(-x[6]),  argsort(x[0])};
    const auto [values, places] = top_k(x[2], 30);
    results.push_back(values);
    results.push_back(places);
    // By the last digit, then descending; equal pairs keep their order.
    const Tensors both = sort_by(Tensors{x[0], iota(s32({100}), 0), x[6]}, 0,
                                 [](const Tensors& a, const Tensors& b) {
                                   const Tensor digit = a[0] % 3, other = b[0] % 3;
                                   return (digit < other) | ((digit == other) & (a[0] > b[0]));
                                 });
    results.insert(results.end(), both.begin(), both.end());
    return results;
  });
}

TEST_F(OpInC, ProductsOfAnyArrays) {
  expect(
      numbers(
          {f32({70, 80}), f32({80, 50}), s32({70, 80}), s32({80, 50}), u8({40, 30}), u8({30, 40})}),
      [](const Tensors& x) {
        return Tensors{matmul(x[0], x[1]), matmul(x[2], x[3]), matmul(x[4], x[5]),
                       matmul(x[0], slice(x[1], range(), 3))};
      },
      kRounded);
  expect(numbers({c64({20, 30}), c64({30, 20}), bf16({33, 65}), bf16({65, 35}), f16({3, 40}),
                  f16({40})}),
         [](const Tensors& x) {
           return Tensors{matmul(x[0], x[1]), matmul(x[2], x[3]), matmul(x[4], x[5])};
         },
         {.ulps = 256});
}

TEST_F(OpInC, RunningTotals) {
  expect(numbers({s32({100}), s32({4, 50}), f32({40}), u8({3, 30, 2}), f32({30, 3})}),
         [](const Tensors& x) {
           return Tensors{cumsum(x[0], 0),       cumprod(x[0], 0),     cummax(x[1], 1),
                          cummin(x[1], 1, true), cummax(x[2], 0),      cumsum(x[3], 1, true),
                          cumsum(x[1], 0, true), cummax(x[4], 0, true)};
         });
  expect(
      numbers({f32({100}), f64({50, 3}), bf16({30}), c64({30}), f32({5, 40})}),
      [](const Tensors& x) {
        return Tensors{cumsum(x[0], 0), cumsum(x[1], 0),      cumsum(x[2], 0),
                       cumsum(x[3], 0), cumprod(x[3] / 4, 0), cumsum(x[4], 1, true)};
      },
      kRounded);
}

TEST_F(OpInC, ReductionsByAnyCombiner) {
  expect(numbers({s32({5, 7}), f32({5, 7}), s32({40}), s32({})}), [](const Tensors& x) {
    // The greatest product with its float, of several arrays.
    const auto larger = [](const Tensors& a, const Tensors& b) {
      const Tensor keeps = a[0] >= b[0];
      return Tensors{where(keeps, a[0], b[0]), where(keeps, a[1], b[1])};
    };
    const auto powers = [](const Tensor& a, const Tensor& b) { return a * 3 + pow(b, 3); };
    Tensors results = reduce(Tensors{x[0], x[1]}, Tensors{Tensor(-100), Tensor(0.0f)}, {0}, larger);
    const Tensors all =
        reduce(Tensors{x[0], x[1]}, Tensors{Tensor(-100), Tensor(0.0f)}, {0, 1}, larger);
    results.insert(results.end(), all.begin(), all.end());
    results.push_back(reduce(x[2], x[3], {0}, powers));
    results.push_back(reduce(x[0], x[3], {1}, powers));
    results.push_back(argmax(x[1], 1));
    results.push_back(argmin(x[2], 0));
    return results;
  });
  expect(
      numbers({c64({6, 9}), c128({6, 9})}),
      [](const Tensors& x) {
        return Tensors{sum(x[0]), sum(x[0], {1}), sum(x[1], {0}), prod(x[0] / 4, {1}), mean(x[1])};
      },
      kRounded);
}

TEST_F(OpInC, ScattersByAnyCombiner) {
  std::vector<Literal> arguments =
      numbers({s32({6, 5}), s32({4, 2}), s32({4, 2, 3}), s32({1}), s32({5, 1}), s32({5}), f32({8}),
               s32({9}), s32({9, 1}), s32({9})});
  expect(arguments, [](const Tensors& x) {
    const ScatterDims windows{.update_window_dims = {1, 2},
                              .scatter_dims_to_operand_dims = {0, 1},
                              .index_vector_dim = 1};
    const ScatterDims elements{
        .inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1};
    const auto power = [](const Tensor& a, const Tensor& b) { return a * 2 + pow(b, 2); };
    const auto add = [](const Tensor& a, const Tensor& b) { return a + b; };
    return Tensors{
        scatter(x[0], x[1], x[2], windows, power), scatter(x[3], x[4], x[5], elements, add),
        scatter(x[7], x[8], x[9], elements, power), scatter(x[0], x[1], x[2], windows, add)};
  });
}

/// Symmetric matrices with a dominant diagonal.
Tensor definite(const Tensor& x) {
  const Tensor half =
      matmul(x, is_complex(x.dtype()) ? conj(transpose(x, {0, 2, 1})) : transpose(x, {0, 2, 1}));
  return half + 2.0f * eye(x.dim(1), x);
}

TEST_F(OpInC, TriangularSystems) {
  for (const DType dtype : {DType::kF64, DType::kC64}) {
    expect(numbers({{dtype, {2, 11, 11}}, {dtype, {2, 11, 3}}, {dtype, {2, 3, 11}}}),
           [](const Tensors& x) {
             const Tensor a = x[0] / 8 + 3.0 * eye(11, x[0]);
             Tensors results;
             for (int bits = 0; bits < 16; bits++) {
               const TriangularSolveOptions options{.left_side = (bits & 1) != 0,
                                                    .lower = (bits & 2) != 0,
                                                    .unit_diagonal = (bits & 4) != 0,
                                                    .transpose_a = (bits & 8) != 0};
               results.push_back(triangular_solve(a, x[options.left_side ? 1 : 2], options));
             }
             return results;
           },
           {.rtol = 1e-4, .atol = 1e-4});
  }
}

TEST_F(OpInC, Factorisations) {
  expect(numbers({f64({2, 10, 10}), f64({10, 12}), f64({12, 10}), c128({1, 9, 9})}),
         [](const Tensors& x) {
           const Lu wide = lu(x[1]), tall = lu(x[2]), each = lu(x[0]);
           const Qr thin = qr(x[2]), flat = qr(x[1]), in_batch = qr(x[0]);
           const Qr of_complex = qr(x[3]);
           return Tensors{cholesky(definite(x[0])),
                          cholesky(definite(x[3])),
                          cholesky(-definite(x[0])),
                          wide.lu,
                          wide.pivots,
                          wide.permutation,
                          tall.lu,
                          tall.permutation,
                          each.lu,
                          each.permutation,
                          thin.q,
                          thin.r,
                          flat.q,
                          flat.r,
                          in_batch.q,
                          of_complex.q,
                          of_complex.r,
                          solve(x[0], x[0]),
                          det(x[0])};
         },
         {.rtol = 1e-9, .atol = 1e-9});
}

TEST_F(OpInC, EigenvaluesAndSingularValues) {
  // Vectors have either sign, so products are compared.
  expect(numbers({f64({2, 6, 6}), f64({9, 5}), f64({4, 10})}),
         [](const Tensors& x) {
           const Tensor symmetric = x[0] + transpose(x[0], {0, 2, 1});
           const Eigh of = eigh(symmetric);
           const Svd tall = svd(x[1]), wide = svd(x[2]);
           const Tensor scaled = of.vectors * expand_dims(of.values, 1);
           return Tensors{of.values, matmul(scaled, transpose(of.vectors, {0, 2, 1})),
                          tall.s,    matmul(tall.u * tall.s, tall.vt),
                          wide.s,    matmul(wide.u * wide.s, wide.vt)};
         },
         {.rtol = 1e-9, .atol = 1e-9});
}

TEST_F(OpInC, FourierTransforms) {
  expect(numbers({c64({3, 16}), f32({2, 16}), c64({2, 9}), c128({12}), f64({7}), c64({4, 6}),
                  f64({32}), c64({1})}),
         [](const Tensors& x) {
           return Tensors{fft(x[0]),  ifft(x[0]), rfft(x[1]),  irfft(x[2]),    fft(x[3]),
                          ifft(x[3]), rfft(x[4]), fft2(x[5]),  ifft2(x[5]),    irfft(x[2], 15),
                          rfft(x[6]), fft(x[7]),  irfft(x[3]), fft(x[0], {0}), irfft(rfft(x[6]))};
         },
         {.rtol = 1e-5, .atol = 1e-4});
}

TEST_F(OpInC, Convolutions) {
  const auto code = [](const Tensors& x) {
    return Tensors{
        convolution(x[0], x[1], {.layout = "b01f_01io->b01f"}),
        convolution(x[0], x[1],
                    {.strides = {2, 1},
                     .padding = {{1, 2}, {-1, 3}},
                     .lhs_dilation = {2, 3},
                     .rhs_dilation = {1, 2},
                     .layout = "b01f_01io->b01f"}),
        convolution(
            x[0], x[2],
            {.padding = {{1, 1}, {1, 1}}, .feature_groups = 2, .layout = "b01f_01io->bf01"}),
        convolution(x[3], x[4], {.batch_groups = 2, .layout = "bf0_oi0->b0f"}),
        convolution(x[5], x[6], {.layout = "bf_io->bf"})};
  };
  const auto types = [](DType t) {
    return std::vector<TensorType>{{t, {2, 7, 6, 4}}, {t, {3, 2, 4, 5}}, {t, {3, 3, 2, 6}},
                                   {t, {4, 3, 9}},    {t, {6, 3, 2}},    {t, {3, 4}},
                                   {t, {4, 2}}};
  };
  expect(numbers(types(DType::kS32)), code);
  expect(numbers(types(DType::kF32)), code, kRounded);
  expect(numbers(types(DType::kC64)), code, {.ulps = 256});
}

TEST_F(OpInC, Windows) {
  expect(numbers({s32({8, 9}), f32({8, 9}), s32({3, 4}), s32({})}), [](const Tensors& x) {
    const auto combine = [](const Tensor& a, const Tensor& b) { return a * 3 + pow(b, 2); };
    const auto largest = [](const Tensor& a, const Tensor& b) { return maximum(a, b); };
    const WindowDims window{.size = {2, 3},
                            .stride = {2, 2},
                            .padding = {{0, 0}, {1, 1}},
                            .base_dilation = {1, 1},
                            .window_dilation = {2, 1}};
    const WindowDims plain{.size = {2, 3}, .stride = {3, 2}};
    return Tensors{
        reduce_window(x[0], x[3], window, combine),
        reduce_window(x[1], Tensor(-9.0f), window, largest),
        reduce_window(x[1], Tensor(-9.0f), {.size = {8, 5}}, largest),
        select_and_scatter(
            x[0], x[2], x[3], plain, [](const Tensor& a, const Tensor& b) { return a >= b; },
            [](const Tensor& a, const Tensor& b) { return a + b; }),
        select_and_scatter(
            x[0], x[2], x[3], plain,
            [](const Tensor& a, const Tensor& b) { return a * a >= b * b; }, combine)};
  });
}

TEST_F(OpInC, RandomBits) {
  const auto state = [](std::vector<std::uint64_t> words) {
    return Literal::from(words, {static_cast<std::int64_t>(words.size())});
  };
  const std::uint64_t most = ~std::uint64_t{0};
  expect({state({7, most - 2}), state({9, most - 1, 4}), state({5, 6})}, [](const Tensors& x) {
    Tensors results;
    const auto draw = [&](const Tensor& from, const TensorType& type, RngAlgorithm algorithm) {
      const auto [next, bits] = rng_bit_generator(from, type, algorithm);
      results.push_back(next);
      results.push_back(bits);
    };
    for (const TensorType& type : {u32({3, 5}), u64({7}), u8({3, 4, 2}), u16({}), u32({5, 3})}) {
      draw(x[0], type, RngAlgorithm::kThreeFry);
      draw(x[1], type, RngAlgorithm::kPhilox);
      draw(x[2], type, RngAlgorithm::kPhilox);
    }
    const Tensor key = random::key(Tensor(3));
    results.push_back(random::bits(key, u32({11})));
    results.push_back(random::bits(random::fold_in(key, 5), u64({4})));
    results.push_back(random::uniform(random::split(key)[0], f32({7})));
    results.push_back(random::permutation(key, 50));
    results.push_back(random::randint(key, s32({8}), 0, 10));
    return results;
  });
}

TEST_F(OpInC, BatchNorms) {
  expect(
      numbers({f32({4, 6, 3}), f32({3}), f32({3}), f32({3}), f32({4, 6, 3})}),
      [](const Tensors& x) {
        const Tensor variance = x[3] * x[3] + 1;
        const BatchNorm trained = batch_norm_training(x[0], x[1], x[2], 1e-3f, 2);
        return Tensors{trained.y, trained.mean, trained.variance,
                       batch_norm_inference(x[0], x[1], x[2], x[3], variance, 1e-3f, 2)};
      },
      kRounded);
}

TEST_F(OpInC, ElementwiseOpsOfComplexNumbers) {
  for (const DType dtype : {DType::kC64, DType::kC128}) {
    for (int arity = 1; arity <= 3; arity++) {
      std::vector<const ir::OpDef*> ops = elementwise_ops(arity);
      std::erase_if(ops, [&](const ir::OpDef* op) { return !takes(*op, dtype); });
      if (ops.empty()) continue;
      expect(numbers(std::vector<TensorType>(static_cast<std::size_t>(arity), {dtype, {60}})),
             [&](const Tensors& x) {
               Tensors results;
               for (const ir::OpDef* op : ops) results.push_back(apply_op(*op, x));
               return results;
             },
             {.rtol = dtype == DType::kC64 ? 1e-4 : 1e-10, .atol = 1e-5, .loose_complex = true});
    }
  }
}

/// What is said of a program that cannot be C.
std::string refusal(const std::function<Tensor(const Tensor&)>& code) {
  try {
    static_cast<void>(to_c_source(trace(code, zeros(f32({3})))));
  } catch (const TraceError& error) {
    return error.what();
  }
  return "";
}

TEST(OpsNotInC, AreNamedWithTheirPlaceAndARemedy) {
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  const std::string of_tap = refusal([](const Tensor& x) { return tap(x, "y"); });
  EXPECT_THAT(of_tap, AllOf(HasSubstr("to_c_source: tap(f32[3]) has no form in C"),
                            HasSubstr("ops_test.cc"), HasSubstr("Leave it out")));
  const std::string of_print = refusal([](const Tensor& x) { return print(x, "{}"); });
  EXPECT_THAT(of_print, AllOf(HasSubstr("print"), HasSubstr("Leave it out")));
  const std::string of_call =
      refusal([](const Tensor& x) { return custom_call("cube", {x}, {x.type()})[0]; });
  EXPECT_THAT(of_call, AllOf(HasSubstr("custom_call"), HasSubstr("ops_test.cc"),
                             HasSubstr("Write the value in other ops")));
}

}  // namespace
}  // namespace rondo::testing
