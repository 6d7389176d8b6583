// Loop-invariant index arithmetic.
#include "lower/passes/hoist_indices.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lower/builder.h"
#include "lower/verify.h"

namespace rondo::lower {
namespace {

std::ptrdiff_t position(const Program& program, Opcode code, std::size_t from = 0) {
  const auto begin = program.code.begin() + static_cast<std::ptrdiff_t>(from);
  const auto found =
      std::find_if(begin, program.code.end(), [&](const Op& op) { return op.code == code; });
  return found == program.code.end() ? -1 : found - program.code.begin();
}

// for i: for j: out[clamp(i)] = j, in a branch or not.
TEST(HoistIndices, TakesThemToTheLoopThatChangesTheirOperands) {
  for (const bool in_branch : {false, true}) {
    Builder b;
    const Value out = b.buffer({Storage::kResult, 0, 0, 80});
    const Value zero = b.index(0), ten = b.index(10);
    const Value i = b.program().fors[b.begin_for(zero, ten, 1, {})].index;
    const Value j = b.program().fors[b.begin_for(zero, ten, 1, {})].index;
    if (in_branch) b.begin_if(b.less(j, i));
    const Value start = b.clamped_index(b.multiply(i, b.index(3)), 9);
    b.store(j, {out, 0, {{start, 8}}});
    if (in_branch) {
      b.begin_else();
      b.end_if({}, {});
    }
    b.end_for({});
    b.end_for({});
    Program program = b.finish();
    hoist_indices(program);
    EXPECT_EQ(verify(program), "");
    const std::ptrdiff_t outer = position(program, Opcode::kFor);
    const std::ptrdiff_t inner =
        position(program, Opcode::kFor, static_cast<std::size_t>(outer) + 1);
    EXPECT_GT(position(program, Opcode::kMin), outer);
    EXPECT_LT(position(program, Opcode::kMin), inner);
  }
}

TEST(HoistIndices, KeepsWhatTripsChange) {
  Builder b;
  const Value in = b.buffer({Storage::kArgument, 0, 0, 4});
  const Value out = b.buffer({Storage::kResult, 0, 0, 80});
  const Value fixed = b.load(Type::kS32, {in, 0, {}});
  const Value i = b.program().fors[b.begin_for(b.index(0), b.index(10), 1, {})].index;
  const Value start = b.clamped_index(b.convert(fixed, Type::kS64), 9);
  const Value moving = b.clamped_index(b.subtract(i, start), 9);
  b.store(i, {out, 0, {{moving, 8}}});
  b.end_for({});
  Program program = b.finish();
  hoist_indices(program);
  EXPECT_EQ(verify(program), "");
  const std::ptrdiff_t loop = position(program, Opcode::kFor);
  EXPECT_LT(position(program, Opcode::kConvert), loop);
  EXPECT_LT(position(program, Opcode::kMin), loop);
  EXPECT_GT(position(program, Opcode::kSubtract), loop);
  EXPECT_GT(position(program, Opcode::kMin, static_cast<std::size_t>(loop)), loop);
}

}  // namespace
}  // namespace rondo::lower
