// Values that a trip stores and the next one loads become carries.
#include "lower/passes/forward_stores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lower/builder.h"
#include "lower/verify.h"

namespace rondo::lower {
namespace {

constexpr std::int64_t kElementsOfLine = 100;

/// Each trip adds the element before to one of the place that `store_to` and `load_from` choose.
Program adds_before(bool exchanges) {
  Builder b;
  const std::int64_t bytes = 4 * kElementsOfLine;
  const Value x = b.buffer({Storage::kResult, 0, 0, bytes});
  const Value y = b.buffer({Storage::kResult, 1, 0, bytes});
  const std::vector<Value> init = exchanges ? std::vector{x, y} : std::vector<Value>();
  const std::uint32_t loop = b.begin_for(b.index(0), b.index(kElementsOfLine - 1), 1, init);
  const Value i = b.program().fors[loop].index;
  const Value line = exchanges ? b.program().fors[loop].carries[0].param : x;
  const Value before = b.load(Type::kF32, {line, 0, {{i, 4}}});
  const Value at = b.load(Type::kF32, {line, 4, {{i, 4}}});
  b.store(b.add(before, at), {line, 4, {{i, 4}}});
  const std::vector<Carry> carries = b.program().fors[loop].carries;
  b.end_for(exchanges ? std::vector{carries[1].param, carries[0].param} : std::vector<Value>());
  return b.finish();
}

std::ptrdiff_t loads(const Program& program) {
  return std::ranges::count(program.code, Opcode::kLoad, &Op::code);
}

TEST(ForwardStores, CarryWhatTheTripBeforeHasStored) {
  Program program = adds_before(false);
  forward_stores(program);
  EXPECT_EQ(verify(program), "");
  ASSERT_EQ(program.fors[0].carries.size(), 1u);
  EXPECT_EQ(loads(program), 2);  // one of them before the loop
  EXPECT_LT(std::ranges::find(program.code, Opcode::kLoad, &Op::code),
            std::ranges::find(program.code, Opcode::kFor, &Op::code));
}

/// The place that a trip stores to is not the one that the next trip loads from.
TEST(ForwardStores, LeaveLoopsThatExchangeTheirPlaces) {
  Program program = adds_before(true);
  forward_stores(program);
  EXPECT_EQ(verify(program), "");
  EXPECT_EQ(program.fors[0].carries.size(), 2u);
  EXPECT_EQ(loads(program), 2);
}

}  // namespace
}  // namespace rondo::lower
