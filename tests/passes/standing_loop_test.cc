// Loops whose condition never changes: they make no trip, or a limit ends them.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "ir/layout.h"
#include "passes/optimize.h"
#include "support/expect.h"

namespace rondo {
namespace {

using namespace testing;

int loops_in(const Function& function) {
  int loops = 0;
  for (const ir::Node* node : function.body()) {
    const auto layout = ir::region_layout(node);
    if (layout && layout->is_loop()) loops++;
  }
  return loops;
}

/// At 5 it makes no trip, at 1 it does not end.
template <class F>
void expect_ends_by_limit(const F& f) {
  const Executable run = compile(trace(f, f32()));
  expect_scalar<float>(run.run({Literal::scalar(5.0f)}, {.max_iterations = 10})[0], 5);
  EXPECT_THROW((void)run.run({Literal::scalar(1.0f)}, {.max_iterations = 10}), TooManyIterations);
}

Tensor below(Tensor c) { return c < 3; }

TEST(StandingLoop, IsEndedByALimit) {
  expect_ends_by_limit([](Tensor x) {
    return while_loop(
        below, [](Tensor c) { return c; }, x);
  });
  expect_ends_by_limit([](Tensor x) {
    return while_loop(
        below, [](Tensor c) { return c * 1; }, x);
  });
}

TEST(StandingLoop, IsEndedThoughAnUnusedCarryChanges) {
  expect_ends_by_limit([](Tensor x) {
    return std::get<0>(while_loop([](Tensor c, Tensor) { return c < 3; },
                                  [](Tensor c, Tensor i) { return std::pair(c, i + 1); },
                                  std::pair(x, Tensor(0))));
  });
}

TEST(StandingLoop, IsEndedInALoopABranchAndALane) {
  const auto standing = [](Tensor x) {
    return while_loop(
        below, [](Tensor c) { return c * 1; }, x);
  };
  expect_ends_by_limit([&](Tensor x) {
    return fori_loop(
        0, 2, [&](Tensor, Tensor c) { return standing(c); }, x);
  });
  expect_ends_by_limit([&](Tensor x) {
    return cond(
        x > 0, standing, [](Tensor y) { return -y; }, x);
  });
  expect_ends_by_limit(
      [&](Tensor x) { return sum(vmap(standing)(broadcast_to(x / 2 * 2, {2}))) / 2; });
}

TEST(StandingLoop, OthersGoWhereTheirResultsAreKnown) {
  const auto f = [](Tensor x, Tensor n) {
    return std::get<0>(while_loop([&](Tensor, Tensor i) { return i < n; },
                                  [](Tensor c, Tensor i) { return std::pair(c * 1, i + 1); },
                                  std::pair(x, Tensor(0))));
  };
  EXPECT_EQ(loops_in(passes::optimize(trace(f, f32(), s32()))), 0);
  const auto unused = [](Tensor x) {
    (void)while_loop(
        below, [](Tensor c) { return c * 1; }, x);
    return x;
  };
  EXPECT_EQ(loops_in(passes::optimize(trace(unused, f32()))), 0);
}

}  // namespace
}  // namespace rondo
