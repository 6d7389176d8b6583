// Selects that the next trip waits for are noted, others are not.
#include "lower/passes/awaited_selects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "lower/builder.h"
#include "lower/verify.h"

namespace rondo::lower {
namespace {

constexpr std::int64_t kTripsThatWait = 100;

/// A loop with the index i, two carried integers x and y, and memory to read and to write.
struct WaitingLoop {
  Builder b;
  Value table, memory, i, x, y;

  Value number(std::int32_t n) { return b.number(Type::kS32, n); }
  /// The element of the table at a place that is in it.
  Value look_up(Value place) {
    return b.load(Type::kS32, {table, 0, {{b.clamped_index(b.convert(place, Type::kS64), 9), 4}}});
  }
};
using HandedOn = std::function<std::vector<Value>(WaitingLoop&)>;

/// The program of a loop that hands on what `next` gives.
Program program_that_waits(const HandedOn& next) {
  WaitingLoop l;
  l.table = l.b.buffer({Storage::kArgument, 0, 0, 40});
  l.memory = l.b.buffer({Storage::kResult, 0, 0, 40});
  const std::vector<Value> init{l.number(0), l.number(0)};
  const std::uint32_t loop = l.b.begin_for(l.b.index(0), l.b.index(kTripsThatWait), 1, init);
  l.i = l.b.index_of_for(loop);
  l.x = l.b.carry_of_for(loop, 0).param, l.y = l.b.carry_of_for(loop, 1).param;
  const std::vector<Value> handed = next(l);
  l.b.end_for(handed);
  l.b.store(l.b.carry_of_for(loop, 0).result, {l.memory, 0, {}});
  l.b.store(l.b.carry_of_for(loop, 1).result, {l.memory, 4, {}});
  Program program = l.b.finish();
  mark_awaited_selects(program);
  EXPECT_EQ(verify(program), "");
  return program;
}

std::ptrdiff_t selects_of(const Program& program, std::uint64_t bits) {
  return std::ranges::count_if(
      program.code, [&](const Op& op) { return op.code == Opcode::kSelect && op.bits == bits; });
}
void expect_selects(const HandedOn& next, std::ptrdiff_t awaited, std::ptrdiff_t others) {
  const Program program = program_that_waits(next);
  EXPECT_EQ(selects_of(program, kAwaited), awaited);
  EXPECT_EQ(selects_of(program, 0), others);
}

/// Whether the next trip looks up another element depends on the one that this trip looks up.
TEST(AwaitedSelects, PredicatesOfWhatIsLookedUp) {
  expect_selects(
      [](WaitingLoop& l) {
        const Value found = l.b.equal(l.look_up(l.x), l.number(3));
        return std::vector{l.b.select(found, l.b.add(l.x, l.number(1)), l.number(0)), l.y};
      },
      1, 0);
}

/// A count of what is found: the search does not wait for it.
TEST(AwaitedSelects, NotWhereOnlyACountFollows) {
  expect_selects(
      [](WaitingLoop& l) {
        const Value found = l.b.equal(l.look_up(l.i), l.number(3));
        return std::vector{l.b.select(found, l.b.add(l.x, l.number(1)), l.x), l.y};
      },
      0, 1);
  // Even where the predicate is waited for by another carry.
  expect_selects(
      [](WaitingLoop& l) {
        const Value found = l.b.equal(l.look_up(l.x), l.number(3));
        return std::vector{l.b.select(found, l.b.add(l.x, l.number(1)), l.number(0)),
                           l.b.select(found, l.b.add(l.y, l.number(1)), l.y)};
      },
      1, 1);
}

/// The predicate is one comparison later than what is selected.
TEST(AwaitedSelects, NotExtremes) {
  expect_selects(
      [](WaitingLoop& l) {
        const Value other = l.look_up(l.i);
        return std::vector{l.b.select(l.b.less(l.x, other), other, l.x), l.y};
      },
      0, 1);
}

/// What is selected is as late as the predicate.
TEST(AwaitedSelects, NotWhereTheSidesAreLate) {
  expect_selects(
      [](WaitingLoop& l) {
        const Value found = l.look_up(l.x);
        return std::vector{l.b.select(l.b.less(found, l.number(5)), l.b.add(found, l.number(1)),
                                      l.b.subtract(found, l.number(1))),
                           l.y};
      },
      0, 1);
}

/// The next trip loads what this one stores.
TEST(AwaitedSelects, ThroughMemory) {
  const auto step = [](WaitingLoop& l, Value from) {
    const Value x = l.b.load(Type::kS32, {from, 8, {}});
    const Value far = l.b.multiply(l.b.multiply(x, x), x);
    const Value chosen =
        l.b.select(l.b.less(far, l.number(1000)), l.b.add(x, l.number(1)), l.number(0));
    l.b.store(chosen, {l.memory, 8, {}});
    return std::vector{l.x, l.y};
  };
  expect_selects([&](WaitingLoop& l) { return step(l, l.memory); }, 1, 0);
  expect_selects([&](WaitingLoop& l) { return step(l, l.table); }, 0, 1);
}

/// A search inside each trip, which goes on where the one before has ended.
TEST(AwaitedSelects, AroundAnInnerLoop) {
  expect_selects(
      [](WaitingLoop& l) {
        const std::uint32_t loop = l.b.begin_while(std::vector{l.x});
        const Value at = l.b.carry_of_while(loop, 0).param;
        l.b.test(l.b.greater(l.look_up(at), l.number(2)));
        l.b.end_while(std::vector{l.b.subtract(at, l.number(1))});
        const Value end = l.b.carry_of_while(loop, 0).result;
        const Value found = l.b.equal(l.look_up(end), l.number(1));
        return std::vector{l.b.select(found, l.b.add(end, l.number(1)), l.number(9)), l.y};
      },
      1, 0);
}

TEST(AwaitedSelects, NotInLanes) {
  expect_selects(
      [](WaitingLoop& l) {
        const std::uint32_t lanes = l.b.begin_lanes(l.b.index(10));
        const Value lane = l.b.index_of_lanes(lanes);
        const Value x = l.b.load(Type::kS32, {l.memory, 0, {{lane, 4}}});
        const Value far = l.b.multiply(l.b.multiply(x, x), x);
        l.b.store(l.b.select(l.b.less(far, l.number(1000)), l.b.add(x, l.number(1)), l.number(0)),
                  {l.memory, 0, {{lane, 4}}});
        l.b.end_lanes();
        return std::vector{l.x, l.y};
      },
      0, 1);
}

}  // namespace
}  // namespace rondo::lower
