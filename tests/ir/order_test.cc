// Nodes that read an array run before those that write its next state, so that it is not copied.
#include "ir/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "ir/node.h"
#include "rondo/rondo.h"
#include "support/expect.h"

namespace rondo {
namespace {

using namespace testing;

std::vector<std::string> names_of(const Function& function) {
  std::vector<std::string> names;
  for (const ir::Node* node : ir::reads_before_writes(function)) names.emplace_back(node->op->name);
  return names;
}

std::ptrdiff_t place(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) - names.begin();
}

TEST(Order, ReadsOfTheOldArrayComeFirst) {
  const Function f = trace(
      [](Tensor x, Tensor i) {
        const Tensor next = dynamic_update_slice(x, ones(f32({1})), {i});
        return std::tuple(next, dynamic_slice(x, {i * 2}, {1}) * 3);
      },
      f32({100}), s32());
  const std::vector<std::string> names = names_of(f);
  EXPECT_LT(place(names, "dynamic_slice"), place(names, "dynamic_update_slice"));
  EXPECT_EQ(names.size(), f.body().size());
}

TEST(Order, WhatDependsOnTheNewArrayOrReportsStays) {
  const Function depends = trace(
      [](Tensor x, Tensor i) {
        const Tensor next = dynamic_update_slice(x, ones(f32({1})), {i});
        return std::tuple(next, x * next[0]);
      },
      f32({100}), s32());
  EXPECT_EQ(ir::reads_before_writes(depends), depends.body());
  const Function reports = trace(
      [](Tensor x, Tensor i) {
        const Tensor next = dynamic_update_slice(x, ones(f32({1})), {i});
        return std::tuple(next, tap(x, "old"));
      },
      f32({100}), s32());
  EXPECT_EQ(ir::reads_before_writes(reports), reports.body());
}

/// Peak bytes of a loop that updates an array of `n` floats.
template <class Body>
std::int64_t peak_of(std::int64_t n, Body body) {
  const Executable run = compile(trace(
      [&](Tensor x) { return fori_loop(0, 100, body, std::tuple(x, Tensor(0.0f))); }, f32({n})));
  (void)run.run({Literal::zeros(f32({n}))});
  return run.stats().peak_bytes;
}

TEST(Order, AnArrayThatIsReadAfterItsUpdateIsNotCopied) {
  constexpr std::int64_t kLength = 1 << 20, kBytes = kLength * 4;
  // The argument and the carry: no third copy.
  EXPECT_LT(peak_of(kLength,
                    [](Tensor i, Tensor s, Tensor sum) {
                      const Tensor next = update(s, i, 1.0f);
                      return std::tuple(next, sum + s[i] + s[i + 1]);
                    }),
            2 * kBytes + 4096);
}

TEST(Order, AnArrayThatIsReadAfterABranchOrALoopWritesItIsNotCopied) {
  constexpr std::int64_t kLength = 1 << 20, kBytes = kLength * 4;
  EXPECT_LT(peak_of(kLength,
                    [](Tensor i, Tensor s, Tensor sum) {
                      const Tensor next = cond(
                          eq(i % 2, 0), [=](Tensor t) { return update(t, i, 1.0f); },
                          [](Tensor t) { return t; }, s);
                      return std::tuple(next, sum + s[i] + s[i + 1]);
                    }),
            2 * kBytes + 4096);
  EXPECT_LT(peak_of(kLength,
                    [](Tensor i, Tensor s, Tensor sum) {
                      const Tensor next = fori_loop(
                          0, 3, [=](Tensor k, Tensor t) { return update(t, i + k, 1.0f); }, s);
                      return std::tuple(next, sum + s[i] + s[i + 1]);
                    }),
            2 * kBytes + 4096);
}

TEST(Order, TheGradientThroughUpdatesWritesInPlace) {
  constexpr std::int64_t kLength = 1 << 20, kBytes = kLength * 8;
  const auto f = [](Tensor x) {
    return sum(fori_loop(
        0, 50, [](Tensor i, Tensor q) { return update(q, i + 1, sin(q[i]) + q[i + 1]); }, x));
  };
  const Executable run = compile(trace(grad(f), f64({kLength})));
  const Literal gradient = run.run({Literal::zeros(f64({kLength}))})[0];
  EXPECT_EQ(gradient.data<double>()[kLength - 1], 1);
  EXPECT_EQ(gradient.data<double>()[0], 51);  // each q[i] is a sum over all before it
  EXPECT_LT(run.stats().peak_bytes, 4 * kBytes);
}

}  // namespace
}  // namespace rondo
