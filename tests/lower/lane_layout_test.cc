// Places in which each lane has a row: they are laid out so that lanes are side by side.
#include "lower/passes/lane_layout.h"

#include <gtest/gtest.h>

#include <functional>

#include "lower/builder.h"
#include "lower/verify.h"

namespace rondo::lower {
namespace {

constexpr std::int64_t kTrips = 3, kRowLanes = 16, kElements = 5;
constexpr std::int64_t kBytes = kTrips * kRowLanes * kElements * 8;

/// Stores to [trips][lanes][elements] by lane what it loads from an argument of that shape, and
/// back to a result. `between` uses the place otherwise.
Program copies(const std::function<void(Builder&, Value place)>& between) {
  Builder b;
  const Value in = b.buffer({Storage::kArgument, 0, 0, kBytes});
  const Value out = b.buffer({Storage::kResult, 0, 0, kBytes});
  const Value place = b.buffer({Storage::kArena, 0, 0, kBytes});
  const auto copy = [&](Value from, Value to) {
    const Value trip = b.program().fors[b.begin_for(b.index(0), b.index(kTrips), 1, {})].index;
    const Value lane = b.program().lanes[b.begin_lanes(b.index(kRowLanes))].index;
    for (std::int64_t i = 0; i < kElements; i++) {
      const auto at = [&](Value base) {
        return Address{base, i * 8, {{trip, kRowLanes * kElements * 8}, {lane, kElements * 8}}};
      };
      b.store(b.load(Type::kF64, at(from)), at(to));
    }
    b.end_lanes();
    b.end_for({});
  };
  copy(in, place);
  between(b, place);
  copy(place, out);
  Program program = b.finish();
  program.arena_bytes = kBytes + 64;
  return program;
}

/// The accesses of the place: how many have lanes side by side, of how many.
struct Counts {
  int together = 0, all = 0;
};
Counts accesses_of_place(const Program& program) {
  Counts counts;
  Value place = kNone;
  for (const Op& op : program.code) {
    if (op.code == Opcode::kBase && program.buffers[op.bits].storage == Storage::kArena &&
        program.buffers[op.bits].offset == 0)
      place = op.result;
    if (op.code != Opcode::kLoad && op.code != Opcode::kStore) continue;
    const Address& address = program.addresses[op.bits];
    if (address.base != place || address.terms.size() != 2) continue;
    counts.all++;
    EXPECT_EQ(address.terms[0].stride, kRowLanes * kElements * 8);
    if (address.terms[1].stride != 8) continue;
    counts.together++;
    EXPECT_EQ(address.offset % (kRowLanes * 8), 0);
    EXPECT_LT(address.offset, kRowLanes * kElements * 8);
  }
  return counts;
}

void expect_rearranged(bool expected, const std::function<void(Builder&, Value place)>& between) {
  Program program = copies(between);
  ASSERT_EQ(verify(program), "");
  lay_out_by_lane(program);
  EXPECT_EQ(verify(program), "");
  const Counts counts = accesses_of_place(program);
  EXPECT_EQ(counts.all, 2 * kElements);
  EXPECT_EQ(counts.together, expected ? counts.all : 0);
}

TEST(LaneLayout, PutsLanesSideBySide) {
  expect_rearranged(true, [](Builder&, Value) {});
}

TEST(LaneLayout, FollowsOtherIndices) {
  // An element by trip, lane and element, in loops without lanes.
  Program program = copies([](Builder& b, Value place) {
    const Value trip = b.program().fors[b.begin_for(b.index(0), b.index(kTrips), 1, {})].index;
    const Value row =
        b.program().fors[b.begin_for(b.index(0), b.index(kRowLanes - 1), 1, {})].index;
    const Value i = b.program().fors[b.begin_for(b.index(0), b.index(kElements - 2), 1, {})].index;
    b.store(b.number(Type::kF64, 1),
            {place,
             (1 * kElements + 2) * 8,
             {{trip, kRowLanes * kElements * 8}, {row, kElements * 8}, {i, 8}}});
    for (int k = 0; k < 3; k++) b.end_for({});
  });
  lay_out_by_lane(program);
  EXPECT_EQ(verify(program), "");
  const Counts counts = accesses_of_place(program);
  EXPECT_EQ(counts.together, 2 * kElements);
  for (const Address& address : program.addresses) {
    if (address.terms.size() != 3) continue;
    EXPECT_EQ(address.offset, (1 + 2 * kRowLanes) * 8);
    EXPECT_EQ(address.terms[0].stride, kRowLanes * kElements * 8);
    EXPECT_EQ(address.terms[1].stride, 8);
    EXPECT_EQ(address.terms[2].stride, kRowLanes * 8);
  }
}

TEST(LaneLayout, KeepsWhatIsUsedOtherwise) {
  // As bytes side by side.
  expect_rearranged(false, [](Builder& b, Value place) { b.view({place, 0, {}}, 64); });
  // Past the end of a row.
  expect_rearranged(false, [](Builder& b, Value place) {
    const Value i = b.program().fors[b.begin_for(b.index(0), b.index(kElements), 1, {})].index;
    b.store(b.number(Type::kF64, 1), {place, 8, {{i, 8}}});
    b.end_for({});
  });
  // By numbers of another width.
  expect_rearranged(false, [](Builder& b, Value place) {
    b.store(b.number(Type::kF32, 1), {place, 4, {}});
  });
  // By an index of unknown size.
  expect_rearranged(false, [](Builder& b, Value place) {
    b.store(b.number(Type::kF64, 1), {place, 0, {{b.load(Type::kS64, {place, 0, {}}), 8}}});
  });
}

TEST(LaneLayout, KeepsWhatLoopsOverElementsUseAsOften) {
  for (const int times : {1, 2}) {
    expect_rearranged(times < 2, [times](Builder& b, Value place) {
      for (int k = 0; k < times; k++) {
        const Value trip = b.program().fors[b.begin_for(b.index(0), b.index(kTrips), 1, {})].index;
        const Value row =
            b.program().fors[b.begin_for(b.index(0), b.index(kRowLanes), 1, {})].index;
        const Value i = b.program().lanes[b.begin_lanes(b.index(kElements))].index;
        b.store(b.number(Type::kF64, 1),
                {place, 0, {{trip, kRowLanes * kElements * 8}, {row, kElements * 8}, {i, 8}}});
        b.end_lanes();
        b.end_for({});
        b.end_for({});
      }
    });
  }
}

TEST(LaneLayout, KeepsMemoryThatIsSharedMeanwhile) {
  // Between the two loops another place is in its memory, or behind it.
  expect_rearranged(false, [](Builder& b, Value) {
    const Value other = b.buffer({Storage::kArena, 0, 64, 64});
    b.store(b.number(Type::kF64, 1), {other, 0, {}});
  });
  expect_rearranged(true, [](Builder& b, Value) {
    const Value other = b.buffer({Storage::kArena, 0, kBytes, 64});
    b.store(b.number(Type::kF64, 1), {other, 0, {}});
  });
}

TEST(LaneLayout, LetsAConstantFillAPlace) {
  expect_rearranged(true, [](Builder& b, Value place) {
    const Value i = b.program().lanes[b.begin_lanes(b.index(kBytes / 8))].index;
    b.store(b.number(Type::kF64, 1), {place, 0, {{i, 8}}});
    b.end_lanes();
  });
}

}  // namespace
}  // namespace rondo::lower
