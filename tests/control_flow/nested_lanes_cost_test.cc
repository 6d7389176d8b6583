// Nests of branches and loops that differ by lane, with many more levels than run by lane.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

#include "executor/for_loops.h"
#include "gtest/gtest.h"
#include "ir/function_data.h"
#include "passes/expand.h"
#include "rondo/rondo.h"
#include "support/on_stack.h"
#include "support/processor_time.h"

namespace rondo::testing {
namespace {

constexpr int kLanes = 16;

/// More work than a lane does for a branch that it does not take.
Tensor much_work(Tensor x) {
  for (int i = 0; i < 4; i++) x = sin(exp(x * 0.1f)) + x;
  return x;
}
float much_work(float x) {
  for (int i = 0; i < 4; i++) x = std::sin(std::exp(x * 0.1f)) + x;
  return x;
}

/// Lanes leave the nest at different levels.
Tensor nested_branches(int levels, const Tensor& x) {
  if (levels == 0) return x;
  const auto deeper = [=](Tensor y) { return nested_branches(levels - 1, much_work(y)); };
  const auto leave = [=](Tensor y) { return y * 0.5f; };
  return cond(x < 3.0f * static_cast<float>(levels), deeper, leave, x);
}
float nested_branches(int levels, float x) {
  if (levels == 0) return x;
  return x < 3.0f * static_cast<float>(levels) ? nested_branches(levels - 1, much_work(x))
                                               : x * 0.5f;
}

Tensor nested_loops(int levels, const Tensor& x) {
  if (levels == 0) return x + 0.5f;
  const auto below = [=](Tensor y) { return y < static_cast<float>(levels); };
  const auto trip = [=](Tensor y) { return nested_loops(levels - 1, y) + 1.0f; };
  return while_loop(below, trip, x);
}
float nested_loops(int levels, float x) {
  if (levels == 0) return x + 0.5f;
  while (x < static_cast<float>(levels)) x = nested_loops(levels - 1, x) + 1.0f;
  return x;
}

using Nest = Tensor (*)(int, const Tensor&);

Function by_lane(Nest nest, int levels) {
  return trace(vmap([=](Tensor x) { return nest(levels, x); }), f32({kLanes}));
}

TEST(NestedLanes, CompileInProportionToTheirLevels) {
  for (const Nest nest : {Nest(nested_branches), Nest(nested_loops)}) {
    const Function few = by_lane(nest, 16), many = by_lane(nest, 128);
    // 64 times if quadratic.
    EXPECT_LT(growth([&] { (void)compile(few); }, [&] { (void)compile(many); }, 24), 24);
  }
}

TEST(NestedLanes, ExpandInProportionForTextsToo) {
  const Function few = by_lane(nested_branches, 16), many = by_lane(nested_branches, 256);
  // 256 times if quadratic.
  EXPECT_LT(growth([&] { (void)to_hlo_text(few); }, [&] { (void)to_hlo_text(many); }, 64), 64);
}

TEST(NestedLanes, AreWhatEachLaneComputes) {
  std::vector<float> x(kLanes);
  for (int i = 0; i < kLanes; i++)
    x[static_cast<std::size_t>(i)] = 1.7f * static_cast<float>(i) - 4;
  for (const int levels : {1, 7, 8, 9, 10, 13}) {
    const auto branches = compile(by_lane(nested_branches, levels)).run({Literal::from(x)})[0];
    const auto loops = compile(by_lane(nested_loops, levels)).run({Literal::from(x)})[0];
    for (std::size_t i = 0; i < x.size(); i++) {
      const float of_branches = nested_branches(levels, x[i]);
      EXPECT_NEAR(branches.data<float>()[i], of_branches, 1e-4f * (1 + std::abs(of_branches)))
          << levels << " levels, lane " << i;
      EXPECT_NEAR(loops.data<float>()[i], nested_loops(levels, x[i]), 1e-4f) << levels << ' ' << i;
    }
  }
}

/// However many levels surround them.
TEST(NestedLanes, TheInnermostLevelsRunByLane) {
  const auto loops_over_lanes = [](int levels) {
    const Function optimized = compile(by_lane(nested_branches, levels)).function();
    const auto expanded = executor::for_loops(optimized);
    int count = 0;
    for (const Function& region : ir::regions_inside_out(expanded.value())) {
      for (const ir::Node* node : region.body()) count += node->op->construct.lane_loop != nullptr;
    }
    return count;
  };
  EXPECT_EQ(loops_over_lanes(3), 3);
  EXPECT_EQ(loops_over_lanes(8), 8);
  EXPECT_EQ(loops_over_lanes(9), 8);
  EXPECT_EQ(loops_over_lanes(30), 8);
}

/// In nested branches each lane writes an element of its array, without a select between whole
/// arrays.
TEST(NestedLanes, UpdateArraysInPlace) {
  constexpr std::int64_t kElements = 1000;
  const auto of_lane = [](Tensor x, Tensor array) {
    const auto set = [](Tensor at, Tensor to) { return update(to, 3, at); };
    const auto leave = [](Tensor, Tensor to) { return to; };
    const auto deeper = [=](Tensor at, Tensor to) { return cond(at < 2.0f, set, leave, at, to); };
    const auto trip = [=](Tensor at, Tensor to) {
      return std::tuple(at + 1.0f, cond(at > 0.0f, deeper, leave, at, to));
    };
    return std::get<1>(
        while_loop([](Tensor at, Tensor) { return at < 3.0f; }, trip, std::tuple(x, array)));
  };
  const Function traced = trace(vmap(of_lane), f32({kLanes}), f32({kLanes, kElements}));
  const Function expanded = passes::expand(traced, passes::Target::kInterpreter);
  std::int64_t selects = 0;
  for (const Function& region : ir::regions_inside_out(expanded)) {
    for (const ir::Node* node : region.body()) {
      if (node->op->name != "select") continue;
      selects++;
      EXPECT_LT(node->type().elements(), kLanes * kElements);
    }
  }
  EXPECT_GT(selects, 0);
}

TEST(NestedLanes, CallsInOneAnotherExpandInProportion) {
  const auto nested = [](int levels) {
    const std::function<Tensor(int, Tensor)> nest = [&](int left, Tensor x) -> Tensor {
      if (left == 0) return x;
      return checkpoint([&, left](Tensor y) { return nest(left - 1, sin(y)) + cos(y); })(x);
    };
    return trace([&](Tensor x) { return nest(levels, x); }, f32());
  };
  double ratio = 0;
  // With a sanitizer's frames, tracing this many levels needs more than the usual stack.
  on_stack(std::size_t{64} << 20, [&] {
    const Function few = nested(150), many = nested(1200);
    const auto compiles = [](const Function& calls) {
      return [&] { (void)compile(calls, {.optimize = false}); };
    };
    ratio = growth(compiles(few), compiles(many), 24);
  });
  EXPECT_LT(ratio, 24);  // 64 times if quadratic
}

}  // namespace
}  // namespace rondo::testing
