#include "lower/contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "executor/agreement.h"
#include "lower/builder.h"
#include "lower/verify.h"

namespace rondo::lower {
namespace {

std::ptrdiff_t count(const Program& program, Opcode code) {
  return std::count_if(program.code.begin(), program.code.end(),
                       [&](const Op& op) { return op.code == code; });
}

TEST(Contract, MakesOneOpOfAProductAndASumWhereNothingElseNeedsTheProduct) {
  Builder b;
  const Value base = b.buffer({Storage::kArgument, 0, 0, 64});
  const Value x = b.load(Type::kF32, {base, 0, {}}), y = b.load(Type::kF32, {base, 4, {}}),
              z = b.load(Type::kF32, {base, 8, {}});
  const Value used_twice = b.multiply(y, z);
  b.store(b.add(b.multiply(x, y), z), {base, 12, {}});
  b.store(b.add(used_twice, x), {base, 16, {}});
  b.store(used_twice, {base, 20, {}});
  Program program = b.finish();
  contract(program);
  EXPECT_EQ(count(program, Opcode::kFma), 1);
  EXPECT_EQ(count(program, Opcode::kMultiply), 1);
  EXPECT_EQ(count(program, Opcode::kAdd), 1);
}

TEST(Contract, MakesOneOpOfAProductAndADifference) {
  Builder b;
  const Value base = b.buffer({Storage::kArgument, 0, 0, 64});
  const Value x = b.load(Type::kF64, {base, 0, {}}), y = b.load(Type::kF64, {base, 8, {}}),
              z = b.load(Type::kF64, {base, 16, {}});
  b.store(b.subtract(z, b.multiply(x, y)), {base, 24, {}});
  b.store(b.subtract(b.multiply(x, z), y), {base, 32, {}});
  // Of two products one is left.
  b.store(b.subtract(b.multiply(x, x), b.multiply(y, y)), {base, 40, {}});
  // A product from which itself is subtracted is needed twice.
  const Value twice = b.multiply(z, z);
  b.store(b.subtract(twice, b.multiply(z, z)), {base, 48, {}});
  Program program = b.finish();
  contract(program);
  EXPECT_EQ(count(program, Opcode::kFnma), 2);
  EXPECT_EQ(count(program, Opcode::kFms), 1);
  EXPECT_EQ(count(program, Opcode::kMultiply), 2);
  EXPECT_EQ(count(program, Opcode::kSubtract), 1);
}

TEST(Contract, MakesOneFactorOfConstantsInARow) {
  Builder b;
  const Value base = b.buffer({Storage::kArgument, 0, 0, 64});
  const Value x = b.load(Type::kF32, {base, 0, {}});
  const auto c = [&](double number) { return b.number(Type::kF32, number); };
  const Value used_twice = b.multiply(x, c(3));
  b.store(b.divide(b.multiply(c(0.7), b.multiply(x, c(0.3))), c(1.1)), {base, 4, {}});
  b.store(b.multiply(used_twice, c(5)), {base, 8, {}});
  b.store(used_twice, {base, 12, {}});
  b.store(b.divide(x, c(7)), {base, 16, {}});  // a quotient alone stays exact
  Program program = b.finish();
  contract(program);
  EXPECT_EQ(count(program, Opcode::kMultiply), 3);
  EXPECT_EQ(count(program, Opcode::kDivide), 1);
  EXPECT_EQ(verify(program), "");
}

TEST(Contract, LeavesFactorsWhoseProductLosesPrecision) {
  Builder b;
  const Value base = b.buffer({Storage::kArgument, 0, 0, 64});
  const Value x = b.load(Type::kF32, {base, 0, {}});
  const auto c = [&](double number) { return b.number(Type::kF32, number); };
  b.store(b.multiply(b.multiply(x, c(1e-25)), c(1e-20)), {base, 4, {}});
  b.store(b.multiply(b.multiply(x, c(1e25)), c(1e20)), {base, 8, {}});
  b.store(b.multiply(b.multiply(x, c(std::numeric_limits<double>::infinity())), c(2)),
          {base, 12, {}});
  Program program = b.finish();
  contract(program);
  EXPECT_EQ(count(program, Opcode::kMultiply), 6);
}

/// Of a chain of constants: one for the factor, and one for the product.
TEST(Contract, RoundsNoMoreOftenThanTheOpsThatItJoins) {
  const auto f = [](Tensor x, Tensor y) {
    return std::pair(x * 0.6309f * 4184.f / 1.7f / 0.3f, y - x * 1.1f / 0.7f);
  };
  const Function traced = trace(f, f32({64}), f32({64}));
  std::vector<float> x(64), y(64);
  for (std::size_t i = 0; i < 64; i++) {
    x[i] = 0.37f + static_cast<float>(i) * 1.618f;
    y[i] = static_cast<float>(i * i % 17);
  }
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const std::vector<Literal> results = compile(traced, {.executor = executor})
                                             .run({Literal::from(x, {64}), Literal::from(y, {64})});
    for (std::size_t i = 0; i < 64; i++) {
      const double exact = static_cast<double>(x[i]) * 0.6309f * 4184.f / 1.7f / 0.3f;
      EXPECT_NEAR(results[0].data<float>()[i], exact, exact * 2 * 0x1p-24) << i;
      const double taken = static_cast<double>(x[i]) * 1.1f / 0.7f, left = y[i] - taken;
      EXPECT_NEAR(results[1].data<float>()[i], left, (taken + std::abs(left)) * 0x1p-24) << i;
    }
  }
}

TEST(Contract, LeavesIntegersAlone) {
  Builder b;
  const Value base = b.buffer({Storage::kArgument, 0, 0, 64});
  const Value x = b.load(Type::kS32, {base, 0, {}});
  const Value y = b.load(Type::kS32, {base, 4, {}});
  b.store(b.add(b.multiply(x, y), y), {base, 8, {}});
  Program program = b.finish();
  contract(program);
  EXPECT_EQ(count(program, Opcode::kFma), 0);
}

TEST(Contract, IsChosenByAnOption) {
  const Function f =
      trace([](Tensor x, Tensor y, Tensor z) { return x * y + z; }, f32(), f32(), f32());
  const float x = 1 + 0x1p-12f;
  const auto run = [&](bool contracts) {
    return compile(f, {.contract = contracts, .executor = Executor::kBytecode})
        .run({Literal::scalar(x), Literal::scalar(x), Literal::scalar(-1.f)})[0]
        .item<float>();
  };
  EXPECT_EQ(run(false), 0x1p-11f);
  EXPECT_EQ(run(true), 0x1p-11f + 0x1p-24f);
}

TEST(Contract, OfDifferencesRoundsOnceOnBothExecutors) {
  const Function from =
      trace([](Tensor x, Tensor y, Tensor z) { return z - x * y; }, f32(), f32(), f32());
  const Function less =
      trace([](Tensor x, Tensor y, Tensor z) { return x * y - z; }, f32(), f32(), f32());
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, for whose last term a float has no room.
  const float x = 1 + 0x1p-12f;
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const auto run = [&](const Function& f) {
      return compile(f, {.executor = executor})
          .run({Literal::scalar(x), Literal::scalar(x), Literal::scalar(1.f)})[0]
          .item<float>();
    };
    EXPECT_EQ(run(from), -(0x1p-11f + 0x1p-24f));
    EXPECT_EQ(run(less), 0x1p-11f + 0x1p-24f);
  }
}

}  // namespace
}  // namespace rondo::lower
