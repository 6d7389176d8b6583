#include "lower/contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "executor/agreement.h"
#include "lower/builder.h"
#include "lower/opcodes.h"
#include "lower/verify.h"

namespace rondo::lower {
namespace {

std::ptrdiff_t count(const Program& program, Opcode code) {
  return std::count_if(program.code.begin(), program.code.end(),
                       [&](const Op& op) { return op.code == code; });
}

/// A program that reads floats and keeps what it makes of them.
class Floats {
 public:
  explicit Floats(Type type) : type_(type) {}
  Value read() { return b.load(type_, next()); }
  void keep(Value value) { b.store(value, next()); }
  Value number(double value) { return b.number(type_, value); }
  Program contracted() {
    Program program = b.finish();
    contract(program);
    EXPECT_EQ(verify(program), "");
    return program;
  }
  Builder b;

 private:
  Address next() { return {base_, width(type_) * places_++, {}}; }

  Type type_;
  Value base_ = b.buffer({Storage::kArgument, 0, 0, 128});
  std::int64_t places_ = 0;
};

TEST(Contract, MakesOneOpOfAProductAndASumWhereNothingElseNeedsTheProduct) {
  Floats floats(Type::kF32);
  Builder& b = floats.b;
  const Value x = floats.read(), y = floats.read(), z = floats.read();
  const Value used_twice = b.multiply(y, z);
  floats.keep(b.add(b.multiply(x, y), z));
  floats.keep(b.add(used_twice, x));
  floats.keep(used_twice);
  const Program program = floats.contracted();
  EXPECT_EQ(count(program, Opcode::kFma), 1);
  EXPECT_EQ(count(program, Opcode::kMultiply), 1);
  EXPECT_EQ(count(program, Opcode::kAdd), 1);
}

TEST(Contract, MakesOneOpOfAProductAndADifference) {
  Floats floats(Type::kF64);
  Builder& b = floats.b;
  const Value x = floats.read(), y = floats.read(), z = floats.read();
  floats.keep(b.subtract(z, b.multiply(x, y)));
  floats.keep(b.subtract(b.multiply(x, z), y));
  // Of two products one is left.
  floats.keep(b.subtract(b.multiply(x, x), b.multiply(y, y)));
  // A product from which itself is subtracted is needed twice.
  const Value twice = b.multiply(z, z);
  floats.keep(b.subtract(twice, b.multiply(z, z)));
  const Program program = floats.contracted();
  EXPECT_EQ(count(program, Opcode::kFnma), 2);
  EXPECT_EQ(count(program, Opcode::kFms), 1);
  EXPECT_EQ(count(program, Opcode::kMultiply), 2);
  EXPECT_EQ(count(program, Opcode::kSubtract), 1);
}

TEST(Contract, MakesOneFactorOfConstantsInARow) {
  Floats floats(Type::kF32);
  Builder& b = floats.b;
  const Value x = floats.read();
  const auto c = [&](double number) { return floats.number(number); };
  const Value used_twice = b.multiply(x, c(3));
  floats.keep(b.divide(b.multiply(c(0.7), b.multiply(x, c(0.3))), c(1.1)));
  floats.keep(b.multiply(used_twice, c(5)));
  floats.keep(used_twice);
  floats.keep(b.divide(x, c(7)));  // a quotient alone stays exact
  const Program program = floats.contracted();
  EXPECT_EQ(count(program, Opcode::kMultiply), 3);
  EXPECT_EQ(count(program, Opcode::kDivide), 1);
}

TEST(Contract, LeavesFactorsWhoseProductLosesPrecision) {
  Floats floats(Type::kF32);
  Builder& b = floats.b;
  const Value x = floats.read();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto& [first, second] : {std::pair(1e-25, 1e-20), {1e25, 1e20}, {kInfinity, 2.0}})
    floats.keep(b.multiply(b.multiply(x, floats.number(first)), floats.number(second)));
  const Program program = floats.contracted();
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
