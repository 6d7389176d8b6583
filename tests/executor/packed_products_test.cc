// Matrices that loops multiply by and never change: copied before the loop in the layout of the
// product kernel, if there is such a kernel.
#include "base/cpu.h"
#include "executor/agreement.h"

namespace rondo::testing {
namespace {

using lower::Opcode;

/// Numbers of either sign, whose sums do not grow.
Literal packed_numbers(const TensorType& type, double scale) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < type.elements(); i++)
    values.push_back(scale * (static_cast<double>((i * 29) % 31) / 15 - 1));
  const Literal doubles = Literal::from(values, type.shape);
  return compile(trace([&](Tensor x) { return convert(x, type.dtype); }, doubles.type()),
                 {.optimize = false})
      .run({doubles})[0];
}

/// The order of copies and loops in a program, one letter each: `p` and `w`.
std::string order_of(const Function& function, const CompileOptions& options = {}) {
  const Lowered lowered(function, options);
  std::string order;
  for (const lower::Op& op : lowered.program().code) {
    if (op.code == Opcode::kCall && lowered.program().calls[op.bits].name == "pack") order += 'p';
    if (lowered.begins_loop(op)) order += 'w';
  }
  return order;
}

/// The result of order_of on machines with vector products, without `p` on others.
std::string expected(std::string order) {
  if (!cpu().avx512) order.erase(std::remove(order.begin(), order.end(), 'p'), order.end());
  return order;
}

Function recurrence(const TensorType& state, const TensorType& matrix, bool transposed) {
  return trace(
      [&](Tensor u, Tensor h, Tensor b) {
        return fori_loop(
            0, 5,
            [&](Tensor, Tensor h) {
              return matmul(h, transposed ? transpose(u, {1, 0}) : u) * 0.5 + b;
            },
            h);
      },
      matrix, state, state);
}

template <class T>
void expect_recurrence(std::int64_t rows, std::int64_t n, bool transposed) {
  SCOPED_TRACE(::testing::Message() << rows << " rows of " << n << ", transposed " << transposed);
  const DType dtype = sizeof(T) == 4 ? DType::kF32 : DType::kF64;
  const TensorType state{dtype, {rows, n}}, matrix{dtype, {n, n}};
  const Function function = recurrence(state, matrix, transposed);
  const std::vector<Literal> arguments{packed_numbers(matrix, 4.0 / static_cast<double>(n)),
                                       packed_numbers(state, 1), packed_numbers(state, 0.5)};
  EXPECT_EQ(order_of(function), expected("pw"));
  const Literal got = expect_agreement(function, arguments)[0];
  const auto at = [&](std::size_t argument, std::int64_t i, std::int64_t j) {
    return static_cast<double>(arguments[argument].data<T>()[static_cast<std::size_t>(i * n + j)]);
  };
  std::vector<double> h(static_cast<std::size_t>(n)), next(h);
  for (std::int64_t i = 0; i < rows; i++) {
    for (std::int64_t j = 0; j < n; j++) h[static_cast<std::size_t>(j)] = at(1, i, j);
    for (int trip = 0; trip < 5; trip++) {
      for (std::int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (std::int64_t k = 0; k < n; k++)
          sum += h[static_cast<std::size_t>(k)] * (transposed ? at(0, j, k) : at(0, k, j));
        next[static_cast<std::size_t>(j)] = sum * 0.5 + at(2, i, j);
      }
      std::swap(h, next);
    }
    for (std::int64_t j = 0; j < n; j++)
      ASSERT_NEAR(static_cast<double>(got.data<T>()[static_cast<std::size_t>(i * n + j)]),
                  h[static_cast<std::size_t>(j)], sizeof(T) == 4 ? 1e-4 : 1e-12)
          << i << ", " << j;
  }
}

TEST(PackedProducts, AMatrixIsCopiedOnceBeforeTheLoop) {
  for (const bool transposed : {false, true}) {
    expect_recurrence<float>(4, 70, transposed);
    expect_recurrence<float>(27, 40, transposed);
    expect_recurrence<float>(5, 300, transposed);  // sums in several parts
    expect_recurrence<double>(24, 33, transposed);
  }
}

TEST(PackedProducts, EveryLoopCopiesForItself) {
  const TensorType square = f32({40, 40});
  const Function nested = trace(
      [](Tensor u, Tensor w, Tensor xs) {
        return scan(
                   [&](Tensor h, Tensor x) {
                     const Tensor next = fori_loop(
                         0, 3, [&](Tensor, Tensor h) { return matmul(h, u) * 0.5; },
                         matmul(h, w) + x);
                     return std::pair(next, next);
                   },
                   zeros(f32({40, 40})), xs)
            .second;
      },
      square, square, f32({4, 40, 40}));
  expect_agreement(nested, {packed_numbers(square, 0.1), packed_numbers(square, 0.2),
                            packed_numbers(f32({4, 40, 40}), 1)});
  EXPECT_EQ(order_of(nested), expected("pwpw"));
}

TEST(PackedProducts, ConstantsAndBatchesOfMatrices) {
  const Tensor constant_matrix(packed_numbers(f32({40, 40}), 0.1));
  const Function of_constant = trace(
      [&](Tensor h) {
        return fori_loop(
            0, 4, [&](Tensor, Tensor h) { return matmul(h, constant_matrix) + h; }, h);
      },
      f32({20, 40}));
  EXPECT_EQ(order_of(of_constant), expected("pw"));
  expect_agreement(of_constant, {packed_numbers(f32({20, 40}), 1)});
  const Function batches = trace(
      [](Tensor u, Tensor h) {
        return fori_loop(
            0, 4, [&](Tensor, Tensor h) { return matmul(h, u) * 0.25; }, h);
      },
      f32({3, 40, 40}), f32({3, 12, 40}));
  EXPECT_EQ(order_of(batches), expected("pw"));
  expect_agreement(batches,
                   {packed_numbers(f32({3, 40, 40}), 0.2), packed_numbers(f32({3, 12, 40}), 1)});
}

TEST(PackedProducts, WhatTheLoopChangesOrOnlyMultipliesIsNotCopied) {
  const TensorType square = f32({40, 40});
  const Function changes = trace(
      [](Tensor u) {
        return fori_loop(
            0, 4, [](Tensor, Tensor u) { return matmul(u, u) * 0.2; }, u);
      },
      square);
  EXPECT_EQ(order_of(changes), "w");
  expect_agreement(changes, {packed_numbers(square, 0.3)});
  // The left side is read in place.
  const Function left = trace(
      [](Tensor u, Tensor h) {
        return fori_loop(
            0, 4, [&](Tensor, Tensor h) { return matmul(u, h) * 0.2; }, h);
      },
      square, square);
  EXPECT_EQ(order_of(left), "w");
  expect_agreement(left, {packed_numbers(square, 0.3), packed_numbers(square, 1)});
  // No trip at all.
  const Function none = trace(
      [](Tensor u, Tensor h, Tensor n) {
        return fori_loop(
            0, n, [&](Tensor, Tensor h) { return matmul(h, u); }, h);
      },
      square, square, s32({}));
  const Literal h = packed_numbers(square, 1);
  EXPECT_TRUE(
      expect_agreement(none, {packed_numbers(square, 0.3), h, Literal::scalar(0)})[0].identical(h));
}

TEST(PackedProducts, CopiesAreLeftOutWhereMemoryIsLimited) {
  const TensorType square = f32({64, 64});
  const Function function = recurrence(square, square, false);
  const std::vector<Literal> arguments{packed_numbers(square, 0.1), packed_numbers(square, 1),
                                       packed_numbers(square, 1)};
  const Executable free = compile(function, {.executor = Executor::kBytecode});
  const std::int64_t bytes = free.memory_plan().arena_bytes;
  const CompileOptions limited{.executor = Executor::kBytecode,
                               .memory_limit = free.memory_plan().result_bytes + bytes - 1};
  if (expected("p").empty()) {  // without AVX-512 there are no copies that could be left out
    EXPECT_THROW(compile(function, limited), ExecutionError);
    return;
  }
  EXPECT_EQ(order_of(function, limited), "w");
  EXPECT_TRUE(compile(function, limited).run(arguments)[0].identical(free.run(arguments)[0]));
  EXPECT_GE(bytes - compile(function, limited).memory_plan().arena_bytes, 64 * 64 * 4);
}

}  // namespace
}  // namespace rondo::testing
