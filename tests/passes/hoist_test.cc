#include "passes/hoist.h"

#include "passes/check.h"

namespace rondo::testing {
namespace {

/// Nodes of an op in the function itself, not in its regions.
std::int64_t count_outside(const Function& function, const std::string& op) {
  std::int64_t n = 0;
  for (const ir::Node* node : function.body()) n += node->op->name == op;
  return n;
}

TEST(Hoist, OutOfTheBodyAndTheConditionOfAWhile) {
  const Function f = trace(
      [](Tensor x, Tensor k) {
        return while_loop([&](Tensor s) { return s < exp(k); },
                          [&](Tensor s) { return s * cosh(k) + sinh(k) * s; }, x);
      },
      f32(), f32());
  const Function g = expect_same_results(f, {Literal::scalar(0.5f), Literal::scalar(2.0f)});
  for (const char* op : {"exp", "cosh", "sinh"}) {
    EXPECT_EQ(count_outside(g, op), 1) << op;
    EXPECT_EQ(count(g, op), 1) << op;
  }
  EXPECT_EQ(count_outside(g, "multiply"), 0);
}

TEST(Hoist, OutOfScanAndFori) {
  const Function f = trace(
      [](Tensor xs, Tensor k) {
        const auto [c, ys] =
            scan([&](Tensor c, Tensor x) { return std::pair(c * sin(k), x + tan(k)); },
                 Tensor(1.0f), xs);
        return std::tuple(
            c, ys,
            fori_loop(
                0, 3, [&](Tensor i, Tensor s) { return s + atan(k) * convert(i, DType::kF32); },
                c));
      },
      f32({3}), f32());
  const Function g =
      expect_same_results(f, {Literal::from({1.f, 2.f, 3.f}, {3}), Literal::scalar(0.7f)});
  for (const char* op : {"sin", "tan", "atan"}) EXPECT_EQ(count_outside(g, op), 1) << op;
}

TEST(Hoist, ThroughAllLevelsInOneGo) {
  const Function f = trace(
      [](Tensor x, Tensor k) {
        return fori_loop(
            0, 2,
            [&](Tensor, Tensor a) {
              return fori_loop(
                  0, 2,
                  [&](Tensor, Tensor b) {
                    return fori_loop(
                        0, 2, [&](Tensor, Tensor c) { return c * exp(k); }, b);
                  },
                  a);
            },
            x);
      },
      f32(), f32());
  const Function g = expect_same_results(f, {Literal::scalar(1.0f), Literal::scalar(0.1f)});
  EXPECT_EQ(count_outside(g, "exp"), 1);
  EXPECT_EQ(count(g, "exp"), 1);
}

TEST(Hoist, WhatDependsOnACarryTheIndexOrAnXStays) {
  const Function f = trace(
      [](Tensor x, Tensor xs) {
        const Tensor s = fori_loop(
            0, 3, [&](Tensor i, Tensor s) { return s + sin(convert(i, DType::kF32)); }, x);
        return scan([&](Tensor c, Tensor x) { return std::pair(c + cos(x), exp(c)); }, s, xs);
      },
      f32(), f32({4}));
  const Function g =
      expect_same_results(f, {Literal::scalar(1.0f), Literal::from({1.f, 2.f, 3.f, 4.f}, {4})});
  for (const char* op : {"sin", "cos", "exp"}) EXPECT_EQ(count_outside(g, op), 0) << op;
}

TEST(Hoist, AWhileThatMayNotEndStaysInALoopThatMayNotRun) {
  // With k = 0 the inner loop would never end; with n = 0 it never starts.
  const Function f = trace(
      [](Tensor x, Tensor k, Tensor n) {
        return fori_loop(
            0, n,
            [&](Tensor, Tensor s) {
              return s + while_loop([](Tensor t) { return t < 5.0f; },
                                    [&](Tensor t) { return t + k; }, k);
            },
            x);
      },
      f32(), f32(), s32());
  EXPECT_EQ(count_outside(passes::optimize(f), "while"), 0);
  expect_same_results(f, {Literal::scalar(1.0f), Literal::scalar(0.0f), Literal::scalar(0)});
  expect_same_results(f, {Literal::scalar(1.0f), Literal::scalar(2.0f), Literal::scalar(3)});
}

TEST(Hoist, AWhileLeavesALoopThatIsKnownToRun) {
  const Function f = trace(
      [](Tensor x, Tensor k) {
        return fori_loop(
            0, 3,
            [&](Tensor, Tensor s) {
              return s + while_loop([](Tensor t) { return t < 5.0f; },
                                    [&](Tensor t) { return t * 2.0f; }, k);
            },
            x);
      },
      f32(), f32());
  const Function g = expect_same_results(f, {Literal::scalar(1.0f), Literal::scalar(2.0f)});
  EXPECT_EQ(count_outside(g, "while"), 1);
  EXPECT_EQ(count(g, "while"), 1);
}

TEST(Hoist, ALoopOfKnownLengthLeaves) {
  const Function f = trace(
      [](Tensor x, Tensor k, Tensor n) {
        return fori_loop(
            0, n,
            [&](Tensor, Tensor s) {
              return s + fori_loop(
                             0, 4, [&](Tensor, Tensor t) { return t * k; }, k);
            },
            x);
      },
      f32(), f32(), s32());
  const Function g =
      expect_same_results(f, {Literal::scalar(1.0f), Literal::scalar(2.0f), Literal::scalar(2)});
  EXPECT_EQ(count_outside(g, "fori_loop"), 2);
}

TEST(Hoist, LargeArraysOutOfNothingStay) {
  const std::int64_t large = 1 << 20;  // 4 MiB of f32
  const Function f = trace(
      [&](Tensor x, Tensor k) {
        return fori_loop(
            0, 2,
            [&](Tensor, Tensor s) {
              const Tensor repeated = broadcast_to(k, {large});
              const Tensor small = broadcast_to(k, {100});
              return s + sum(repeated * s) + sum(small * s);
            },
            x);
      },
      f32(), f32());
  const Function g = passes::optimize(f);
  const ir::Node* loop = find_node(g, "fori_loop");
  EXPECT_EQ(count_outside(g, "broadcast_in_dim"), 1);
  EXPECT_EQ(count_outside(loop->regions[0], "broadcast_in_dim"), 3);  // the large one, and two of s
  for (const ir::Node* node : g.body()) EXPECT_LE(node->type().bytes(), passes::kHoistedBytes);
}

TEST(Hoist, TapsStay) {
  const Function f = trace(
      [](Tensor x, Tensor k) {
        return fori_loop(
            0, 3, [&](Tensor, Tensor s) { return s + sin(tap(k, "k")); }, x);
      },
      f32(), f32());
  int seen = 0;
  RunOptions options;
  options.on_tap = [&](std::string_view, const Literal&) { seen++; };
  compile(f).run({Literal::scalar(1.0f), Literal::scalar(1.0f)}, options);
  EXPECT_EQ(seen, 3);
}

TEST(Hoist, NotOutOfBranches) {
  const Function f = trace(
      [](Tensor p, Tensor k) {
        return cond(
            p, [&](Tensor x) { return exp(x); }, [&](Tensor x) { return sin(x); }, k);
      },
      pred(), f32());
  const Function g = expect_same_results(f, {Literal::scalar(true), Literal::scalar(1.0f)});
  EXPECT_EQ(count_outside(g, "exp"), 0);
}

}  // namespace
}  // namespace rondo::testing
