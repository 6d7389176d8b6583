// Ops that take an index are hoisted from a loop that may make no trip when the whole program is
// compiled, not while it is traced.
#include <gtest/gtest.h>

#include "ir/node.h"
#include "passes/optimize.h"
#include "support/expect.h"

namespace rondo {
namespace {

int indexed_in(const Function& function) {
  int found = 0;
  for (const ir::Node* node : function.body()) found += node->op->structure.indices ? 1 : 0;
  return found;
}
int indexed_in_loops(const Function& function) {
  int found = 0;
  for (const ir::Node* node : function.body()) {
    for (const Function& region : node->regions) found += indexed_in(region);
  }
  return found;
}

Tensor power(Tensor v, Tensor n, Tensor k) {
  return fori_loop(
      0, n, [&](Tensor, Tensor c) { return c * v[k]; }, Tensor(1.0));
}
Tensor cube(Tensor v, Tensor k) {
  return fori_loop(
      0, 3, [&](Tensor, Tensor c) { return c * v[k]; }, Tensor(1.0));
}

TEST(TracedHoist, LeavesIndicesInALoopThatMayMakeNoTrip) {
  const Function traced = passes::optimize_traced(trace(power, f64({3}), s32(), s32()));
  EXPECT_GT(indexed_in_loops(traced), 0);
  EXPECT_EQ(indexed_in(traced), 0);
  const Function compiled = passes::optimize(traced);
  EXPECT_EQ(indexed_in_loops(compiled), 0);
  EXPECT_GT(indexed_in(compiled), 0);
}

TEST(TracedHoist, TakesIndicesOutOfALoopThatRuns) {
  const Function traced = passes::optimize_traced(trace(cube, f64({3}), s32()));
  EXPECT_EQ(indexed_in_loops(traced), 0);
  EXPECT_GT(indexed_in(traced), 0);
  EXPECT_TRUE(passes::optimize(traced).same_as(traced));
}

}  // namespace
}  // namespace rondo
