#include "lower/builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lower/arithmetic.h"
#include "lower/opcodes.h"

namespace rondo::lower {
namespace {

/// A value that the builder knows nothing of.
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

TEST(Builder, RefusesOperandsOfTwoTypes) {
  Builder b;
  EXPECT_THROW(b.add(b.number(Type::kF32, 1), b.number(Type::kF64, 1)), InternalError);
}

}  // namespace
}  // namespace rondo::lower
