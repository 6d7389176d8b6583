// Comparisons that are decided by the ranges of their operands.
#include "lower/passes/comparisons.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "lower/builder.h"
#include "lower/opcodes.h"
#include "lower/verify.h"

namespace rondo::lower {
namespace {

/// Of a u8 and a float that are loaded: what a comparison of them is afterwards.
struct Left {
  std::optional<bool> constant;
  Opcode code;
};

Left left_of(const std::function<Value(Builder&, Value byte, Value number)>& make) {
  Builder b;
  const Value byte = b.load(Type::kU8, {b.buffer({Storage::kArgument, 0, 0, 1}), 0, {}});
  const Value number = b.load(Type::kF32, {b.buffer({Storage::kArgument, 1, 0, 4}), 0, {}});
  const Value made = make(b, b.convert(byte, Type::kS32), number);
  b.store(made, {b.buffer({Storage::kResult, 0, 0, 1}), 0, {}});
  Program program = b.finish();
  decide_comparisons(program);
  EXPECT_EQ(verify(program), "");
  const auto op = std::find_if(program.code.begin(), program.code.end(),
                               [&](const Op& other) { return other.result == made; });
  if (op->code != Opcode::kConstant) return {std::nullopt, op->code};
  return {op->bits != 0, op->code};
}

std::optional<bool> with_constant(Opcode compare, int constant) {
  return left_of([&](Builder& b, Value byte, Value) {
           return b.compare(compare, byte, b.number(Type::kS32, constant));
         })
      .constant;
}

TEST(Comparisons, ThatHoldForAllNumbersOfARangeAreConstants) {
  EXPECT_EQ(with_constant(Opcode::kLess, 256), true);
  EXPECT_EQ(with_constant(Opcode::kLess, 255), std::nullopt);
  EXPECT_EQ(with_constant(Opcode::kLess, 0), false);
  EXPECT_EQ(with_constant(Opcode::kLessEqual, 255), true);
  EXPECT_EQ(with_constant(Opcode::kLessEqual, 0), std::nullopt);
  EXPECT_EQ(with_constant(Opcode::kLessEqual, -1), false);
  EXPECT_EQ(with_constant(Opcode::kGreater, -1), true);
  EXPECT_EQ(with_constant(Opcode::kGreater, 0), std::nullopt);
  EXPECT_EQ(with_constant(Opcode::kGreater, 255), false);
  EXPECT_EQ(with_constant(Opcode::kGreaterEqual, 0), true);
  EXPECT_EQ(with_constant(Opcode::kGreaterEqual, 255), std::nullopt);
  EXPECT_EQ(with_constant(Opcode::kGreaterEqual, 256), false);
  EXPECT_EQ(with_constant(Opcode::kEqual, 300), false);
  EXPECT_EQ(with_constant(Opcode::kEqual, 30), std::nullopt);
  EXPECT_EQ(with_constant(Opcode::kNotEqual, 300), true);
}

TEST(Comparisons, OfAValueWithItselfLeaveWhetherItIsNaN) {
  const auto itself = [](Opcode compare, bool is_float) {
    return left_of([&](Builder& b, Value byte, Value number) {
      const Value value = is_float ? number : byte;
      return b.compare(compare, value, value);
    });
  };
  EXPECT_EQ(itself(Opcode::kGreaterEqual, false).constant, true);
  EXPECT_EQ(itself(Opcode::kNotEqual, false).constant, false);
  EXPECT_EQ(itself(Opcode::kLess, true).constant, false);
  EXPECT_EQ(itself(Opcode::kLessEqual, true).code, Opcode::kEqual);
  EXPECT_EQ(itself(Opcode::kGreaterEqual, true).code, Opcode::kEqual);
  EXPECT_EQ(itself(Opcode::kNotEqual, true).code, Opcode::kNotEqual);
}

}  // namespace
}  // namespace rondo::lower
