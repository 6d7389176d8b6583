// Clamps of indices that are always in range.
#include "lower/passes/clamps.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lower/builder.h"
#include "lower/verify.h"

namespace rondo::lower {
namespace {

/// i of s32 from `first` by `step` while it is below `limit`; `trip` computes the stored value from
/// it. What remains without the clamps.
template <class Trip>
Program counting(int first, int step, int limit, Trip&& trip) {
  Builder b;
  const Value out = b.buffer({Storage::kResult, 0, 0, 8});
  const Value init = b.number(Type::kS32, first);
  const std::uint32_t loop = b.begin_while({&init, 1});
  const Value i = b.program().whiles[loop].carries[0].param;
  b.test(b.less(i, b.number(Type::kS32, limit)));
  trip(b, i, out);
  const Value next = b.add(i, b.number(Type::kS32, step));
  b.end_while({&next, 1});
  Program program = b.finish();
  remove_clamps(program);
  EXPECT_EQ(verify(program), "");
  return program;
}

/// `make` computes an s64 from the counter, which is clamped to [0, 9] and stored. How many minima
/// and maxima remain?
template <class Make>
std::int64_t clamps_left(int first, int step, int limit, Make&& make) {
  const Program program = counting(first, step, limit, [&](Builder& b, Value i, Value out) {
    const Value index = b.convert(make(b, i), Type::kS64);
    b.store(b.min(b.max(index, b.index(0)), b.index(9)), {out, 0, {}});
  });
  return std::count_if(program.code.begin(), program.code.end(), [](const Op& op) {
    return op.code == Opcode::kMin || op.code == Opcode::kMax;
  });
}

Value itself(Builder&, Value i) { return i; }

TEST(Clamps, OfACounterThatStaysInsideAreNone) {
  EXPECT_EQ(clamps_left(0, 1, 10, itself), 0);
  EXPECT_EQ(clamps_left(3, 2, 10, itself), 0);
}

TEST(Clamps, StayWhereACounterMayPassThem) {
  EXPECT_EQ(clamps_left(0, 1, 11, itself), 1);
  EXPECT_EQ(clamps_left(-1, 1, 10, itself), 1);
  EXPECT_EQ(clamps_left(-1, 1, 11, itself), 2);
  EXPECT_EQ(clamps_left(5, -1, 10, itself), 1);
  // The sum wraps, and the loop continues below its start.
  EXPECT_EQ(clamps_left(0, 1 << 30, INT32_MAX, itself), 2);
}

TEST(Clamps, FollowArithmetic) {
  const auto number = [](Builder& b, int value) { return b.number(Type::kS32, value); };
  const auto plus = [&](int by) {
    return [=](Builder& b, Value i) { return b.add(i, number(b, by)); };
  };
  EXPECT_EQ(clamps_left(0, 1, 9, plus(1)), 0);
  EXPECT_EQ(clamps_left(0, 1, 10, plus(1)), 1);
  EXPECT_EQ(clamps_left(1, 1, 10, plus(-1)), 0);
  const auto modulo = [&](Builder& b, Value i) {
    return b.remainder(b.add(i, number(b, 397)), number(b, 10));
  };
  EXPECT_EQ(clamps_left(0, 1, 1000, modulo), 0);
  EXPECT_EQ(clamps_left(-1000, 1, 1000, modulo), 1);
  const auto bits = [&](Builder& b, Value i) { return b.bit_and(i, number(b, 7)); };
  EXPECT_EQ(clamps_left(-1000, 1, 1000, bits), 0);
  const auto joined = [&](Builder& b, Value i) {
    return b.bit_xor(b.bit_or(i, number(b, 4)), number(b, 1));
  };
  EXPECT_EQ(clamps_left(0, 1, 8, joined), 0);
  EXPECT_EQ(clamps_left(0, 1, 9, joined), 1);
  EXPECT_EQ(clamps_left(-1, 1, 8, joined), 2);
  const auto half = [&](Builder& b, Value i) { return b.divide(i, number(b, 3)); };
  EXPECT_EQ(clamps_left(0, 1, 30, half), 0);
  EXPECT_EQ(clamps_left(0, 1, 31, half), 1);
  const auto times = [&](Builder& b, Value i) { return b.multiply(i, number(b, 3)); };
  EXPECT_EQ(clamps_left(0, 1, 4, times), 0);
  EXPECT_EQ(clamps_left(0, 1, 5, times), 1);
}

// Before the test the counter may have reached the limit.
TEST(Clamps, StayInTheConditionOfALoop) {
  Builder b;
  const Value out = b.buffer({Storage::kResult, 0, 0, 8});
  const Value init = b.number(Type::kS32, 0);
  const std::uint32_t loop = b.begin_while({&init, 1});
  const Value i = b.program().whiles[loop].carries[0].param;
  b.store(b.min(b.convert(i, Type::kS64), b.index(9)), {out, 0, {}});
  b.test(b.less(i, b.number(Type::kS32, 10)));
  const Value next = b.add(i, b.number(Type::kS32, 1));
  b.end_while({&next, 1});
  Program program = b.finish();
  const std::size_t ops = program.code.size();
  remove_clamps(program);
  EXPECT_EQ(program.code.size(), ops);
}

// (i + 397) % limit for a counter below `limit`, as for the positions of a ring.
TEST(Clamps, RemaindersOfARingSubtract) {
  const auto divisions = [](int first, int limit, int by) {
    const Program program = counting(first, 1, limit, [&](Builder& b, Value i, Value out) {
      const auto number = [&](int value) { return b.number(Type::kS32, value); };
      b.store(b.remainder(b.add(i, number(397)), number(by)), {out, 0, {}});
      b.store(b.remainder(i, number(by)), {out, 4, {}});
    });
    return std::count_if(program.code.begin(), program.code.end(),
                         [](const Op& op) { return op.code == Opcode::kRemainder; });
  };
  EXPECT_EQ(divisions(0, 624, 624), 0);
  EXPECT_EQ(divisions(0, 625, 624), 0);
  EXPECT_EQ(divisions(0, 1000, 624), 1);  // 999 + 397 may be more than twice the divisor
  EXPECT_EQ(divisions(-1, 624, 624), 1);  // -1 is no place
  EXPECT_EQ(divisions(-400, 624, 624), 2);
}

/// `make` computes a pred from the counter, by which one of two numbers is stored. Is one selected?
template <class Make>
bool selects(int first, int step, int limit, Make&& make) {
  const Program program = counting(first, step, limit, [&](Builder& b, Value i, Value out) {
    const Value x = b.load(Type::kF32, {out, 4, {}});
    b.store(b.select(make(b, i), x, b.number(Type::kF32, 1)), {out, 0, {}});
  });
  return std::any_of(program.code.begin(), program.code.end(),
                     [](const Op& op) { return op.code == Opcode::kSelect; });
}

/// What remains of a branch by whether the counter, as an unsigned number, is at most 9: its result
/// is i or i + 1, which is stored.
template <class Otherwise>
Program branching(int first, int limit, Otherwise&& otherwise) {
  return counting(first, 1, limit, [&](Builder& b, Value i, Value out) {
    const Value wide = b.convert(i, Type::kS64);
    const Value most = b.constant(Type::kU64, 9);
    b.begin_if(b.less_equal(b.bitcast(wide, Type::kU64), most));
    const Value same = b.add(wide, b.index(0));
    b.begin_else();
    const Value other = otherwise(b, wide);
    const std::vector<Value> result = b.end_if({{same}}, {{other}});
    b.store(result[0], {out, 0, {}});
  });
}

TEST(Clamps, BranchesThatRangesDecideHaveOneSide) {
  const auto next = [](Builder& b, Value i) { return b.add(i, b.index(1)); };
  const auto branches = [](const Program& program) {
    return std::ranges::count(program.code, Opcode::kIf, &Op::code);
  };
  const auto stored = [](const Program& program) {
    const Op store = *std::ranges::find(program.code, Opcode::kStore, &Op::code);
    return *std::ranges::find(program.code, store.a, &Op::result);
  };
  const Program then = branching(0, 10, next);
  EXPECT_EQ(branches(then), 0);
  EXPECT_EQ(stored(then).code, Opcode::kConvert);
  const Program otherwise = branching(10, 20, next);
  EXPECT_EQ(branches(otherwise), 0);
  EXPECT_EQ(stored(otherwise).code, Opcode::kAdd);
  EXPECT_TRUE(then.ifs.empty());
  // -1 is large as an unsigned number.
  EXPECT_EQ(branches(branching(-1, 10, next)), 1);
  EXPECT_EQ(branches(branching(0, 11, next)), 1);
  // A side with a loop is kept.
  EXPECT_EQ(branches(branching(0, 10,
                               [](Builder& b, Value i) {
                                 const std::uint32_t loop =
                                     b.begin_for(b.index(0), b.index(3), 1, {{i}});
                                 const Value next[] = {b.add(b.carry_of_for(loop, 0).param, i)};
                                 b.end_for(next);
                                 return b.carry_of_for(loop, 0).result;
                               })),
            1);
}

TEST(Clamps, SelectsByWhatRangesDecideAreNone) {
  const auto is_inside = [](Builder& b, Value i) {
    return b.bit_and(b.greater_equal(i, b.number(Type::kS32, 0)),
                     b.less(i, b.number(Type::kS32, 10)));
  };
  EXPECT_FALSE(selects(0, 1, 10, is_inside));
  EXPECT_TRUE(selects(0, 1, 11, is_inside));
  EXPECT_TRUE(selects(-1, 1, 10, is_inside));
  EXPECT_FALSE(selects(10, 1, 20, is_inside));
  EXPECT_FALSE(selects(0, 1, 10, [&](Builder& b, Value i) {
    return b.bit_or(b.logical_not(is_inside(b, i)), b.equal(i, b.number(Type::kS32, 12)));
  }));
}

}  // namespace
}  // namespace rondo::lower
