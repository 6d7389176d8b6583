// The facts that functions cache about their contents, at any depth.
#include "ir/region_facts.h"

#include <gtest/gtest.h>

#include "ir/function_data.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

/// x through `body` in nested loops; the inner ones of known length.
Function in_loops(int depth, const std::function<Tensor(Tensor)>& body) {
  std::function<Tensor(int, Tensor)> level = [&](int left, Tensor x) {
    return left == 0 ? body(x)
                     : fori_loop(
                           0, 3, [&](Tensor, Tensor c) { return level(left - 1, c); }, x);
  };
  return trace([&](Tensor x) { return level(depth, x); }, f64());
}

bool is_noted(const Function& function) {
  return FunctionAccess::notes(function).has(FunctionNotes::kLookedAt);
}

TEST(RegionFacts, HoldAtAnyDepth) {
  const Function plain = in_loops(3, [](Tensor x) { return sin(x); });
  EXPECT_FALSE(ir::observes(plain) || ir::may_not_end(plain) || ir::has_own_forward(plain));
  const Function tapped = in_loops(3, [](Tensor x) { return tap(x, "x"); });
  EXPECT_TRUE(ir::observes(tapped));
  EXPECT_FALSE(ir::may_not_end(tapped) || ir::has_own_forward(tapped));
  const Function open = in_loops(3, [](Tensor x) {
    return while_loop([](Tensor c) { return c < 1.0; }, [](Tensor c) { return c * 2.0; }, x);
  });
  EXPECT_TRUE(ir::may_not_end(open));
  EXPECT_FALSE(ir::observes(open) || ir::has_own_forward(open));
  const auto ruled = custom_vjp([](Tensor x) { return sin(x); },
                                [](Tensor x) { return std::pair(sin(x), cos(x)); },
                                [](Tensor slope, Tensor ct) { return std::tuple(slope * ct); });
  const Function custom = in_loops(3, [&](Tensor x) { return ruled(x); });
  EXPECT_TRUE(ir::has_own_forward(custom));
  EXPECT_FALSE(ir::observes(custom) || ir::may_not_end(custom));
  for (const ir::Node* node : custom.body()) EXPECT_FALSE(ir::observes(node));
}

TEST(RegionFacts, AreFoundOnceForEachRegion) {
  // Derivatives of nested loops query each region, innermost first. Cached regions are not walked
  // again, or the queries would cost the square of the depth.
  const Function outer = in_loops(40, [](Tensor x) { return sin(x); });
  for (const Function& region : ir::regions_inside_out(outer)) {
    EXPECT_EQ(ir::regions_inside_out(region, is_noted).size(), 1u);
    EXPECT_FALSE(ir::has_own_forward(region));
    EXPECT_TRUE(ir::regions_inside_out(region, is_noted).empty());
  }
}

}  // namespace
}  // namespace rondo
