// Function::stats, and the walk over regions that it uses.
#include <gtest/gtest.h>

#include <set>

#include "text/programs.h"

namespace rondo {
namespace {

using namespace testing;

TEST(Stats, CountsWhatStandsThere) {
  const Function function = trace(
      [](Tensor x) {
        const Tensor bias(Literal::from(std::vector<float>(100, 1), {100}));
        return while_loop([](Tensor y) { return sum(y) < 5.0f; },
                          [&](Tensor y) { return y + y * y; }, x + bias);
      },
      f32({100}));
  const FunctionStats stats = function.stats();
  EXPECT_EQ(stats.loops, 1);
  EXPECT_EQ(stats.regions, 3);  // the condition, in it the reducer, and the body
  EXPECT_EQ(stats.depth, 2);
  EXPECT_EQ(stats.ops.at("while"), 1);
  EXPECT_EQ(stats.ops.at("add"), 3);  // outside, in the reducer, in the body
  EXPECT_EQ(stats.ops.at("multiply"), 1);
  EXPECT_EQ(stats.ops.at("compare"), 1);
  EXPECT_EQ(stats.ops.at("reduce"), 1);
  EXPECT_EQ(stats.ops.at("constant"), 3);  // the bias, the start of the sum, the limit
  EXPECT_EQ(stats.constant_bytes, 408);
  EXPECT_EQ(stats.nodes, 10);
}

TEST(Stats, OfAFunctionWithoutNodes) {
  const Tensor x = parameter(f32(), "x");
  const FunctionStats stats = Function::make("f", {x}, {x}).stats();
  EXPECT_EQ(stats.nodes, 0);
  EXPECT_EQ(stats.regions, 0);
  EXPECT_EQ(stats.depth, 0);
  EXPECT_TRUE(stats.ops.empty());
}

TEST(Stats, DeepNestsOfLoops) {
  on_small_stack([] {
    const FunctionStats stats = nested_loops(control_flow::kForiLoop, 500, 2).stats();
    EXPECT_EQ(stats.depth, 500);
    EXPECT_EQ(stats.loops, 500);
    EXPECT_EQ(stats.regions, 500);
  });
}

/// Two loops with the same body, in the body of two loops with the same body...: 2^60 occurrences,
/// 61 functions.
TEST(Regions, OneThatStandsInManyPlacesIsVisitedOnce) {
  const auto go_on = [] {
    const Tensor x = parameter(s32(), "x");
    return Function::make("go_on", {x}, {Operand(x, kPlace) < Operand(9, kPlace)});
  }();
  const Tensor innermost = parameter(s32(), "x");
  Function body = Function::make("body", {innermost}, {innermost});
  for (int level = 0; level < 60; level++) {
    const Tensor x = parameter(s32(), "x");
    control_flow::WhileAttributes attributes;
    attributes.carries = 1;
    const Tensor once = ir::make(control_flow::kWhile, {x}, attributes, kPlace, {go_on, body});
    const Tensor twice = ir::make(control_flow::kWhile, {once}, attributes, kPlace, {go_on, body});
    body = Function::make("body", {x}, {twice});
  }
  const std::vector<Function> functions = ir::regions_inside_out(body);
  ASSERT_EQ(functions.size(), 62u);
  EXPECT_TRUE(functions.back().same_as(body));
  std::set<const void*> before;
  for (const Function& function : functions) {
    for (const ir::Node* node : function.body()) {
      for (const Function& region : node->regions) EXPECT_TRUE(before.contains(region.identity()));
    }
    EXPECT_TRUE(before.insert(function.identity()).second);
  }
  EXPECT_EQ(body.stats().depth, 60);
  EXPECT_NO_THROW(body.verify());
}

}  // namespace
}  // namespace rondo
