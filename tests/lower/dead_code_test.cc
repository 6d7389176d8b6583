// Values, stores and loops that nothing needs.
#include "lower/passes/dead_code.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lower/builder.h"
#include "lower/verify.h"

namespace rondo::lower {
namespace {

std::ptrdiff_t ops_of(const Program& program, Opcode code) {
  return std::count_if(program.code.begin(), program.code.end(),
                       [code](const Op& op) { return op.code == code; });
}

/// Rows of x, doubled, are stored in an array; then an element of x is returned, or of the array.
Program doubled(Storage storage, bool is_read) {
  Builder b;
  const Value x = b.buffer({Storage::kArgument, 0, 0, 400});
  const Value array = b.buffer({storage, storage == Storage::kResult ? 1u : 0u, 0, 400});
  const Value out = b.buffer({Storage::kResult, 0, 0, 4});
  const std::uint32_t rows = b.begin_for(b.index(0), b.index(10), 1, {});
  const Value row = b.index_of_for(rows);
  const std::uint32_t lanes = b.begin_lanes(b.index(10));
  const Value lane = b.index_of_lanes(lanes);
  const Value element = b.load(Type::kF32, {x, 0, {{row, 40}, {lane, 4}}});
  b.store(b.add(element, element), {array, 0, {{row, 40}, {lane, 4}}});
  b.end_lanes();
  b.end_for({});
  b.store(b.load(Type::kF32, {is_read ? array : x, 8, {}}), {out, 0, {}});
  Program program = b.finish();
  program.arena_bytes = 400;
  remove_dead_code(program);
  EXPECT_EQ(verify(program), "");
  return program;
}

TEST(DeadCode, IsWhatStoresToMemoryThatNothingReads) {
  const Program program = doubled(Storage::kArena, false);
  EXPECT_EQ(ops_of(program, Opcode::kStore), 1);
  EXPECT_EQ(ops_of(program, Opcode::kLoad), 1);
  EXPECT_EQ(ops_of(program, Opcode::kFor) + ops_of(program, Opcode::kLanes), 0);
  EXPECT_TRUE(program.fors.empty() && program.lanes.empty());
}

TEST(DeadCode, IsNoStoreThatIsRead) {
  EXPECT_EQ(ops_of(doubled(Storage::kArena, true), Opcode::kStore), 2);
  EXPECT_EQ(ops_of(doubled(Storage::kResult, false), Opcode::kStore), 2);
}

}  // namespace
}  // namespace rondo::lower
