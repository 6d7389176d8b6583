// Sides of selects in lanes that blocks of lanes skip, compared with the plain selects.
#include "lower/passes/select_to_branch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "bytecode/code.h"
#include "lower/builder.h"
#include "lower/verify.h"

namespace rondo::lower {
namespace {

constexpr std::int64_t kLanes = 300;
constexpr int kExpensiveOps = 300, kCheapOps = 50;

/// `ops` of arithmetic on x, all different.
Value arithmetic(Builder& b, Value x, int ops) {
  for (int i = 0; i < ops; i += 2)
    x = b.add(b.multiply(x, b.number(Type::kF64, 0.5)), b.number(Type::kF64, 1 + 0.25 * i));
  return x;
}
double arithmetic(double x, int ops) {
  for (int i = 0; i < ops; i += 2) x = x * 0.5 + (1 + 0.25 * i);
  return x;
}

/// A loop over lanes: x is read, p is x < 0, and the result of `element` is written.
struct Lane {
  Builder b;
  Value from, to, i, x, p;
  Lane() {
    from = b.buffer({Storage::kArgument, 0, 0, 8 * kLanes});
    to = b.buffer({Storage::kResult, 0, 0, 8 * kLanes});
    i = b.program().lanes[b.begin_lanes(b.index(kLanes))].index;
    x = b.load(Type::kF64, {from, 0, {{i, 8}}});
    p = b.less(x, b.number(Type::kF64, 0));
  }
  Value expensive(Value v) { return arithmetic(b, v, kExpensiveOps); }
  Value cheap(Value v) { return arithmetic(b, v, kCheapOps); }
};
using Element = std::function<Value(Lane&)>;

Program program_of(const Element& element) {
  Lane lane;
  const Value result = element(lane);
  lane.b.store(result, {lane.to, 0, {{lane.i, 8}}});
  lane.b.end_lanes();
  Program program = lane.b.finish();
  select_to_branch(program);
  EXPECT_EQ(verify(program), "");
  return program;
}

std::ptrdiff_t count(const Program& program, Opcode code) {
  return std::count_if(program.code.begin(), program.code.end(),
                       [&](const Op& op) { return op.code == code; });
}

/// How many ops are in loops of at most one trip.
std::ptrdiff_t ops_in_branches(const Program& program) {
  std::ptrdiff_t inside = 0;
  bool is_open = false;
  for (const Op& op : program.code) {
    if (op.code == Opcode::kRepeat) {
      EXPECT_TRUE(program.whiles[op.bits].predicated);
      is_open = true;
    } else if (op.code == Opcode::kEndRepeat) {
      is_open = false;
    } else if (is_open && op.code != Opcode::kTest) {
      inside++;
    }
  }
  return inside;
}

std::vector<double> run(const Program& program, std::vector<double> xs) {
  std::vector<double> out(xs.size(), 7);
  std::byte* argument = reinterpret_cast<std::byte*>(xs.data());
  std::byte* result = reinterpret_cast<std::byte*>(out.data());
  RunFrame frame;
  frame.arguments = &argument;
  frame.results = &result;
  const bytecode::Code code(std::make_shared<const Program>(program));
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> workspace(static_cast<std::size_t>(code.workspace_bytes()) / 64 + 1);
  EXPECT_EQ(code.run(frame, workspace.front().bytes), Status::kDone);
  return out;
}

/// For no lane, the first, every third, a whole block or each of them selecting one side.
void expect_elements(const Element& element, const std::function<double(double)>& want) {
  const Program program = program_of(element);
  const std::function<bool(std::int64_t)> choosers[] = {
      [](std::int64_t) { return false; }, [](std::int64_t i) { return i == 0; },
      [](std::int64_t i) { return i % 3 == 0; }, [](std::int64_t i) { return i / 64 == 2; },
      [](std::int64_t) { return true; }};
  for (const auto& chooses : choosers) {
    std::vector<double> xs, wanted;
    for (std::int64_t i = 0; i < kLanes; i++) {
      xs.push_back((chooses(i) ? -1.0 : 1.0) * (1 + 0.125 * static_cast<double>(i)));
      wanted.push_back(want(xs.back()));
    }
    EXPECT_EQ(run(program, xs), wanted);
  }
}

TEST(SelectToBranch, OneSide) {
  const Element then = [](Lane& l) { return l.b.select(l.p, l.expensive(l.x), l.x); };
  EXPECT_EQ(ops_in_branches(program_of(then)), kExpensiveOps);
  EXPECT_EQ(count(program_of(then), Opcode::kSelect), 0);
  expect_elements(then, [](double x) { return x < 0 ? arithmetic(x, kExpensiveOps) : x; });
  const Element otherwise = [](Lane& l) { return l.b.select(l.p, l.cheap(l.x), l.expensive(l.x)); };
  // The cheap side is the beginning of the other one: the rest of that is not expensive.
  EXPECT_EQ(ops_in_branches(program_of(otherwise)), 0);
  const Element apart = [](Lane& l) {
    return l.b.select(l.p, l.cheap(l.b.negate(l.x)), l.expensive(l.x));
  };
  EXPECT_EQ(ops_in_branches(program_of(apart)), kExpensiveOps);
  expect_elements(apart, [](double x) {
    return x < 0 ? arithmetic(-x, kCheapOps) : arithmetic(x, kExpensiveOps);
  });
}

TEST(SelectToBranch, BothSides) {
  const Element element = [](Lane& l) {
    return l.b.select(l.p, l.expensive(l.b.abs(l.x)), l.expensive(l.b.negate(l.x)));
  };
  const Program program = program_of(element);
  EXPECT_EQ(count(program, Opcode::kRepeat), 2);
  EXPECT_EQ(count(program, Opcode::kSelect), 0);
  EXPECT_EQ(ops_in_branches(program), 2 * (kExpensiveOps + 1));
  expect_elements(element, [](double x) { return arithmetic(-x, kExpensiveOps); });
}

TEST(SelectToBranch, WhatIsCheapStays) {
  const Program program =
      program_of([](Lane& l) { return l.b.select(l.p, l.cheap(l.x), l.b.negate(l.x)); });
  EXPECT_EQ(count(program, Opcode::kRepeat), 0);
  EXPECT_EQ(count(program, Opcode::kSelect), 1);
}

TEST(SelectToBranch, WhatOthersNeedStays) {
  const Element element = [](Lane& l) {
    const Value shared = l.expensive(l.x);
    return l.b.add(l.b.select(l.p, shared, l.x), shared);
  };
  EXPECT_EQ(count(program_of(element), Opcode::kRepeat), 0);
  // Later code that only one side needs is not moved.
  const Element behind = [](Lane& l) {
    const Value shared = l.expensive(l.x);
    return l.b.add(l.b.select(l.p, l.expensive(l.b.negate(shared)), l.x), shared);
  };
  EXPECT_EQ(ops_in_branches(program_of(behind)), kExpensiveOps + 1);
  expect_elements(behind, [](double x) {
    const double shared = arithmetic(x, kExpensiveOps);
    return (x < 0 ? arithmetic(-shared, kExpensiveOps) : x) + shared;
  });
}

TEST(SelectToBranch, SelectsByOnePredicateShareABranch) {
  const Element element = [](Lane& l) {
    const Value y = l.expensive(l.x);
    const Value a = l.b.select(l.p, l.b.negate(y), l.x);
    const Value c = l.b.select(l.p, l.b.sqrt(y), l.b.abs(l.x));
    return l.b.subtract(a, c);
  };
  const Program program = program_of(element);
  EXPECT_EQ(count(program, Opcode::kRepeat), 1);
  EXPECT_EQ(ops_in_branches(program), kExpensiveOps + 2);
  expect_elements(element, [](double x) {
    const double y = arithmetic(x, kExpensiveOps);
    return x < 0 ? -y - std::sqrt(y) : x - std::abs(x);
  });
}

/// One of which needs the result of the other.
TEST(SelectToBranch, SelectsByOnePredicateOneAfterTheOther) {
  const Element element = [](Lane& l) {
    const Value a = l.b.select(l.p, l.expensive(l.x), l.x);
    return l.b.select(l.p, l.expensive(l.b.negate(a)), l.b.abs(a));
  };
  EXPECT_EQ(count(program_of(element), Opcode::kRepeat), 2);
  expect_elements(element, [](double x) {
    return x < 0 ? arithmetic(-arithmetic(x, kExpensiveOps), kExpensiveOps) : std::abs(x);
  });
}

/// A load moves into the branch if nothing is stored in between, and otherwise not.
TEST(SelectToBranch, LoadsStayBeforeStores) {
  for (const bool stores : {false, true}) {
    const Element element = [stores](Lane& l) {
      const Value before = l.b.load(Type::kF64, {l.to, 0, {{l.i, 8}}});
      if (stores) l.b.store(l.x, {l.to, 0, {{l.i, 8}}});
      return l.b.select(l.p, l.expensive(before), l.x);
    };
    EXPECT_EQ(ops_in_branches(program_of(element)), kExpensiveOps + (stores ? 0 : 1));
    expect_elements(element, [](double x) { return x < 0 ? arithmetic(7, kExpensiveOps) : x; });
  }
}

TEST(SelectToBranch, OutsideLanesNothingChanges) {
  Builder b;
  const Value from = b.buffer({Storage::kArgument, 0, 0, 8});
  const Value to = b.buffer({Storage::kResult, 0, 0, 8});
  const Value x = b.load(Type::kF64, {from, 0, {}});
  const Value p = b.less(x, b.number(Type::kF64, 0));
  b.store(b.select(p, arithmetic(b, x, kExpensiveOps), x), {to, 0, {}});
  Program program = b.finish();
  const std::size_t ops = program.code.size();
  select_to_branch(program);
  EXPECT_EQ(program.code.size(), ops);
  EXPECT_EQ(count(program, Opcode::kSelect), 1);
}

}  // namespace
}  // namespace rondo::lower
