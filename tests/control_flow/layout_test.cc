// The layouts that the records of the constructs give for operands, region parameters and results.
#include "ir/layout.h"

#include <gtest/gtest.h>

#include "control_flow/branch.h"
#include "control_flow/call.h"
#include "control_flow/fori.h"
#include "control_flow/scan.h"
#include "control_flow/while.h"
#include "passes/check.h"
#include "passes/expand.h"
#include "transforms/registry.h"

namespace rondo {
namespace {

using ir::RegionLayout;
using Role = RegionLayout::Role;
using testing::find_node;

struct Counts {
  std::size_t fixed, index, carries, xs, invariants, ys;
};

RegionLayout expect_layout(const ir::Node* node, const Counts& want) {
  const RegionLayout layout = *ir::region_layout(node);
  EXPECT_EQ(layout.fixed, want.fixed);
  EXPECT_EQ(layout.index, want.index);
  EXPECT_EQ(layout.carries, want.carries);
  EXPECT_EQ(layout.xs, want.xs);
  EXPECT_EQ(layout.invariants, want.invariants);
  EXPECT_EQ(layout.ys, want.ys);
  EXPECT_EQ(layout.operands(), node->operands.size());
  EXPECT_EQ(layout.results(), node->types.size());
  EXPECT_EQ(layout.params(), node->regions[0].parameters().size());
  return layout;
}

/// Taking a construct apart and rebuilding it changes nothing.
void expect_rebuilt(const RegionLayout& layout) {
  const ir::Node& node = *layout.node;
  ir::ConstructParts parts;
  const auto list = [](std::span<const Tensor> part) {
    return std::vector<Tensor>(part.begin(), part.end());
  };
  const std::vector<Tensor> fixed = list(layout.fixed_of(node.operands));
  parts.fixed.assign(fixed.begin(), fixed.end());
  parts.carries = list(layout.carry_of(node.operands));
  parts.xs = list(layout.xs_of(node.operands));
  parts.invariants = list(layout.invariants_of(node.operands));
  for (std::size_t y = layout.carries; y < node.types.size(); y++)
    parts.ys.push_back(node.types[y]);
  parts.regions = node.regions;
  const Tensor same = ir::rebuild(layout, parts);
  EXPECT_EQ(same.node()->attributes, node.attributes);
  EXPECT_EQ(same.node()->types, node.types);
  ASSERT_EQ(same.node()->operands.size(), node.operands.size());
  for (std::size_t i = 0; i < node.operands.size(); i++)
    EXPECT_TRUE(same.node()->operands[i].same_as(node.operands[i])) << i;
}

TEST(Layout, OfAWhile) {
  const Function f = trace(
      [](Tensor x, Tensor rate, Tensor limit) {
        return while_loop([&](Tensor y, Tensor) { return y < limit; },
                          [&](Tensor y, Tensor n) { return std::pair(y * rate, n + 1); },
                          std::pair(x, Tensor(0)), {.max_trip_count = 7, .name = "grow"});
      },
      f32(), f32(), f32());
  const RegionLayout layout = expect_layout(find_node(f, "while"), {0, 0, 2, 0, 2, 0});
  EXPECT_TRUE(layout.is_loop() && layout.condition);
  EXPECT_EQ(layout.condition, 0u);
  EXPECT_EQ(layout.body(), 1u);
  EXPECT_EQ(layout.name, "grow");
  EXPECT_EQ(layout.trip_count, std::nullopt);
  EXPECT_EQ(layout.max_trip_count, 7);
  EXPECT_TRUE(layout.has_open_promise());
  EXPECT_EQ(layout.role_of_param(1), Role::kCarry);
  EXPECT_EQ(layout.role_of_param(2), Role::kInvariant);
  EXPECT_EQ(layout.role_of_result(0, 0), RegionLayout::ResultRole::kPredicate);
  EXPECT_EQ(layout.role_of_result(1, 0), RegionLayout::ResultRole::kCarry);
  expect_rebuilt(layout);
  const Tensor counted = ir::with_trip_count(layout.node, 5);
  EXPECT_EQ(ir::region_layout(counted.node())->trip_count, 5);
  EXPECT_EQ(counted.node()->attrs<control_flow::WhileAttributes>().trip_count, 5);
  EXPECT_FALSE(ir::region_layout(counted.node())->has_open_promise());
}

TEST(Layout, OfAForiLoop) {
  const Function f = trace(
      [](Tensor n, Tensor x, Tensor rate) {
        return fori_loop(2, n, [&](Tensor, Tensor y) { return y * rate; }, x, {.reverse = true});
      },
      s32(), f32(), f32());
  const RegionLayout layout = expect_layout(find_node(f, "fori_loop"), {2, 1, 1, 0, 1, 0});
  EXPECT_TRUE(layout.is_loop() && !layout.condition && layout.reverse);
  EXPECT_EQ(layout.trip_count, std::nullopt);
  EXPECT_EQ(layout.role_of_operand(1), Role::kFixed);
  EXPECT_EQ(layout.role_of_param(0), Role::kIndex);
  EXPECT_EQ(layout.role_of_param(1), Role::kCarry);
  EXPECT_EQ(layout.operand_of_param(1), 2u);
  EXPECT_EQ(layout.param_of_operand(3), 2u);
  EXPECT_TRUE(layout.is_invariant(0, 2) && !layout.is_invariant(0, 1));
  expect_rebuilt(layout);
  EXPECT_EQ(ir::region_layout(ir::with_trip_count(layout.node, 4).node())->trip_count, 4);
}

TEST(Layout, OfAFor) {
  const Function f = passes::expand(
      trace(
          [](Tensor n, Tensor x, Tensor rate) {
            return fori_loop(2, n, [&](Tensor, Tensor y) { return y * rate; }, x, {.name = "grow"});
          },
          s32(), f32(), f32()),
      passes::Target::kInterpreter);
  const RegionLayout layout = expect_layout(find_node(f, "for"), {2, 1, 1, 0, 1, 0});
  EXPECT_TRUE(layout.is_loop() && !layout.condition);
  EXPECT_EQ(layout.name, "grow");
  EXPECT_EQ(layout.trip_count, std::nullopt);
  EXPECT_EQ(layout.role_of_param(0), Role::kIndex);
  expect_rebuilt(layout);
  EXPECT_EQ(ir::region_layout(ir::with_trip_count(layout.node, 4).node())->trip_count, 4);
}

TEST(Layout, OfAScan) {
  const Function g = trace(
      [](Tensor xs, Tensor rate) {
        return scan([&](Tensor c, Tensor x) { return std::pair(c + sum(x * rate), x); },
                    Tensor(0.0f), xs, {.axis = 1});
      },
      f32({3, 4}), f32({3}));
  const RegionLayout layout = expect_layout(find_node(g, "scan"), {0, 0, 1, 1, 1, 1});
  EXPECT_TRUE(layout.is_loop() && !layout.condition);
  EXPECT_EQ(layout.axis, 1);
  EXPECT_EQ(layout.trip_count, 4);
  EXPECT_EQ(layout.role_of_param(1), Role::kX);
  EXPECT_EQ(layout.role_of_result(0, 1), RegionLayout::ResultRole::kY);
  expect_rebuilt(layout);
}

TEST(Layout, OfAConditional) {
  const Function f = trace(
      [](Tensor p, Tensor x, Tensor rate) {
        return cond(
            p, [&](Tensor y) { return y * rate; }, [](Tensor y) { return y; }, x);
      },
      pred(), f32(), f32());
  const RegionLayout layout = expect_layout(find_node(f, "conditional"), {1, 0, 0, 0, 2, 1});
  EXPECT_TRUE(layout.is_branch() && !layout.is_loop());
  EXPECT_TRUE(layout.is_body(0) && layout.is_body(1));
  expect_rebuilt(layout);
}

TEST(Layout, OfACheckpointedCall) {
  const Function f = trace(
      [](Tensor x, Tensor rate) { return checkpoint([&](Tensor y) { return sin(y) * rate; })(x); },
      f32(), f32());
  const RegionLayout layout = expect_layout(find_node(f, "checkpoint"), {1, 1, 0, 0, 1, 1});
  EXPECT_TRUE(layout.is_call());
  EXPECT_TRUE(layout.is_invariant(0, 1) && !layout.is_invariant(0, 0));
  expect_rebuilt(layout);
}

/// The operand that limits the counter of a lowered loop, before and after pruning.
TEST(Layout, LoopsSayHowTheyCount) {
  const Function f = trace(
      [](Tensor n, Tensor x) {
        const Tensor a = x * 2, b = x * 2, limit = n + 1;
        return fori_loop(
            0, limit, [&](Tensor, Tensor y) { return y * a + b; }, x);
      },
      s32(), f32());
  const auto expect_limit = [](const Function& function) {
    const ir::Node* loop = find_node(function, "while");
    const auto induction = ir::runtime_counter(*loop);
    ASSERT_TRUE(induction);
    EXPECT_EQ(induction->step, 1);
    EXPECT_FALSE(induction->trips);
    EXPECT_EQ(loop->operands[*induction->limit].node()->op->name, "add");
  };
  const Function lowered = passes::expand(f, passes::Target::kHlo);
  expect_limit(lowered);
  const Function pruned = passes::optimize(lowered);
  EXPECT_LT(ir::region_layout(find_node(pruned, "while"))->invariants,
            ir::region_layout(find_node(lowered, "while"))->invariants);
  expect_limit(pruned);
  const std::vector<Literal> arguments{Literal::scalar(std::int32_t{2}), Literal::scalar(0.5f)};
  EXPECT_FLOAT_EQ(compile(pruned).run(arguments)[0].data<float>()[0], 3.5f);
}

TEST(Layout, OrdinaryOpsHaveNone) {
  const Function f = trace([](Tensor x) { return sum(x); }, f32({3}));
  EXPECT_FALSE(ir::region_layout(find_node(f, "reduce")));
}

TEST(Layout, EveryConstructSaysHowItIsReadAndChanged) {
  for (const ir::OpDef* op : transforms::all_ops()) {
    EXPECT_EQ(op->construct.layout != nullptr, op->construct.relayout != nullptr) << op->name;
    // A callee belongs to no node that calls it.
    const bool is_plain =
        op->construct.flow == ir::Flow::kNone || op->construct.flow == ir::Flow::kCall;
    EXPECT_TRUE(op->construct.layout || (is_plain && !op->construct.induction)) << op->name;
    EXPECT_TRUE(!op->construct.layout || op->construct.flow != ir::Flow::kNone ||
                op->expansion.rule)
        << op->name;
  }
}

TEST(Layout, SelectorsOutOfRangeChooseTheLastRegion) {
  EXPECT_EQ(ir::selected_region(Literal::scalar(true), 2), 0u);
  EXPECT_EQ(ir::selected_region(Literal::scalar(false), 2), 1u);
  EXPECT_EQ(ir::selected_region(Literal::scalar(std::int32_t{1}), 3), 1u);
  EXPECT_EQ(ir::selected_region(Literal::scalar(std::int32_t{3}), 3), 2u);
  EXPECT_EQ(ir::selected_region(Literal::scalar(std::int32_t{-1}), 3), 2u);
}

}  // namespace
}  // namespace rondo
