#include "lower/builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lower/arithmetic.h"
#include "lower/opcodes.h"

namespace rondo::lower {
namespace {

/// A value that is unknown to the builder.
Value unknown(Builder& builder, Type type) {
  const Value base = builder.buffer({Storage::kArgument, 0, 0, 64});
  return builder.load(type, {base, 0, {}});
}

TEST(Builder, FoldsConstants) {
  Builder b;
  const auto bits = [&](Value value) { return b.known(value).value(); };
  EXPECT_EQ(from_bits<float>(bits(b.add(b.number(Type::kF32, 1.5), b.number(Type::kF32, 2)))),
            3.5f);
  EXPECT_EQ(from_bits<std::int8_t>(bits(b.add(b.number(Type::kS8, 127), b.number(Type::kS8, 1)))),
            -128);
  EXPECT_EQ(
      from_bits<std::int32_t>(bits(b.divide(b.number(Type::kS32, 7), b.number(Type::kS32, 0)))),
      -1);
  EXPECT_EQ(bits(b.less(b.number(Type::kF64, 1), b.number(Type::kF64, 2))), 1u);
  const Value nan = b.constant(Type::kF32, to_bits(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_EQ(bits(b.convert(nan, Type::kS32)), 0u);
  EXPECT_EQ(bits(b.bitcast(b.number(Type::kF32, 1), Type::kU32)), 0x3f800000u);
  EXPECT_EQ(from_bits<float>(bits(
                b.fma(b.number(Type::kF32, 2), b.number(Type::kF32, 3), b.number(Type::kF32, 4)))),
            10.f);
}

TEST(Builder, GivesAnOpThatStandsAlready) {
  Builder b;
  const Value x = unknown(b, Type::kF32), y = unknown(b, Type::kF32);
  EXPECT_EQ(b.add(x, y), b.add(y, x));
  EXPECT_NE(b.subtract(x, y), b.subtract(y, x));
  EXPECT_NE(b.add(x, x), x);
  const Value i = unknown(b, Type::kS32);
  EXPECT_EQ(b.add(i, b.number(Type::kS32, 0)), i);
  // x + 0 is 0 for -0.
  EXPECT_NE(b.add(x, b.number(Type::kF32, 0)), x);
}

TEST(Builder, ForgetsWhatABranchMadeWhereItEnds) {
  Builder b;
  const Value x = unknown(b, Type::kF32), p = unknown(b, Type::kPred);
  const Value outside = b.multiply(x, x);
  b.begin_if(p);
  const Value then = b.add(x, x);
  EXPECT_EQ(b.multiply(x, x), outside);
  b.begin_else();
  const Value otherwise = b.add(x, x);
  EXPECT_NE(then, otherwise);
  const std::vector<Value> results = b.end_if({{then}}, {{otherwise}});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(b.type(results[0]), Type::kF32);
  EXPECT_NE(b.add(x, x), then);
}

TEST(Builder, PutsConstantIndicesIntoTheOffset) {
  Builder b;
  const Value base = b.buffer({Storage::kArgument, 0, 0, 64});
  const Value i = b.convert(unknown(b, Type::kS32), Type::kS64);
  b.load(Type::kF32, {base, 4, {{b.index(3), 8}, {i, 4}, {i, 0}}});
  const Address& address = b.program().addresses.back();
  EXPECT_EQ(address.offset, 28);
  ASSERT_EQ(address.terms.size(), 1u);
  EXPECT_EQ(address.terms[0].stride, 4);
}

TEST(Builder, MakesARotationOfShiftsInOppositeDirections) {
  for (const Type type : {Type::kS8, Type::kU16, Type::kS32, Type::kU32, Type::kS64, Type::kU64}) {
    const double bits = 8.0 * static_cast<double>(width(type));
    for (const Opcode joins : {Opcode::kOr, Opcode::kXor, Opcode::kAdd}) {
      for (const bool left_first : {false, true}) {
        Builder b;
        const Value x = unknown(b, type);
        const Value left = b.binary(Opcode::kShiftLeft, x, b.number(type, 3));
        const Value right = b.binary(Opcode::kShiftRightLogical, x, b.number(type, bits - 3));
        const Op op =
            *b.maker(left_first ? b.binary(joins, left, right) : b.binary(joins, right, left));
        EXPECT_EQ(op.code, Opcode::kRotateLeft);
        EXPECT_EQ(op.a, x);
        EXPECT_EQ(op.b, b.number(type, 3));
      }
    }
  }
}

TEST(Builder, KeepsShiftsThatAreNoRotation) {
  Builder b;
  const Value x = unknown(b, Type::kS32), y = unknown(b, Type::kS32);
  const auto shift = [&](Opcode code, Value of, double by) {
    return b.binary(code, of, b.number(Type::kS32, by));
  };
  const Value left = shift(Opcode::kShiftLeft, x, 3);
  const Value others[] = {
      shift(Opcode::kShiftRightLogical, x, 28), shift(Opcode::kShiftRightArithmetic, x, 29),
      shift(Opcode::kShiftRightLogical, y, 29), shift(Opcode::kShiftLeft, x, 29),
      b.binary(Opcode::kShiftRightLogical, x, y)};
  for (const Value other : others) EXPECT_EQ(b.maker(b.bit_or(left, other))->code, Opcode::kOr);
  // Bits in common do not add up.
  EXPECT_EQ(b.maker(b.subtract(left, others[0]))->code, Opcode::kSubtract);
}

TEST(Builder, RefusesOperandsOfTwoTypes) {
  Builder b;
  EXPECT_THROW(b.add(b.number(Type::kF32, 1), b.number(Type::kF64, 1)), InternalError);
}

TEST(Builder, KnowsWhatFollowsFromTheTestOfAWhile) {
  Builder b;
  const Value limit = unknown(b, Type::kS32), flag = unknown(b, Type::kPred);
  const Value init[] = {b.number(Type::kS32, 0), flag};
  const std::uint32_t loop = b.begin_while(init);
  const Value i = b.program().whiles[loop].carries[0].param,
              done = b.program().whiles[loop].carries[1].param;
  const Value differs = b.not_equal(i, limit), before = b.less(i, limit);
  const Value predicate = b.bit_and(b.bit_and(differs, b.logical_not(done)), before);
  b.test(predicate);
  const auto others = b.assume(predicate, true);
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0], std::pair(done, false));
  EXPECT_EQ(b.known(b.not_equal(i, limit)), 1u);
  EXPECT_EQ(b.known(b.equal(i, limit)), 0u);
  EXPECT_EQ(b.select(b.less(i, limit), i, limit), i);
  EXPECT_EQ(b.known(b.less(limit, i)), std::nullopt);
  const Value next[] = {b.add(i, b.number(Type::kS32, 1)), done};
  b.end_while(next);
  // None of this holds after the loop.
  EXPECT_EQ(b.known(b.equal(i, limit)), std::nullopt);
}

TEST(Builder, KnowsOnlyThatNotAllOfAConjunctionHold) {
  Builder b;
  const Value x = unknown(b, Type::kPred), y = unknown(b, Type::kPred);
  (void)b.begin_while({});
  const Value both = b.bit_and(b.logical_not(x), b.logical_not(y));
  b.test(both);
  EXPECT_TRUE(b.assume(both, false).empty());
  EXPECT_EQ(b.known(b.bit_and(b.logical_not(x), b.logical_not(y))), 0u);
  EXPECT_EQ(b.known(b.logical_not(x)), std::nullopt);
  b.end_while({});
}

}  // namespace
}  // namespace rondo::lower
