// Constructs with more leaves, against plain C++ loops.
#include "control_flow/extend.h"

#include <gtest/gtest.h>

#include "control_flow/fori.h"
#include "control_flow/scan.h"
#include "control_flow/while.h"
#include "ir/function_data.h"
#include "passes/check.h"

namespace rondo {
namespace {

using control_flow::extend;
using control_flow::ExtendedParameters;
using control_flow::ExtendedResults;
using testing::expect_values;

std::vector<Tensor> inlined(const ir::RegionLayout& layout, std::size_t region,
                            const std::vector<Tensor>& arguments) {
  return ir::Replay::inline_call(layout.node->regions[region], arguments);
}

TEST(Extend, AScanGetsACarryAnXAndAY) {
  const Function f = trace(
      [](Tensor xs, Tensor more, Tensor rate) {
        const auto [last, ys] = scan([&](Tensor c, Tensor x) { return std::pair(c * rate + x, c); },
                                     Tensor(1.0f), xs, {.reverse = true, .name = "run"});
        const ir::RegionLayout layout = *ir::region_layout(last.node());
        const ExtendedResults all =
            extend(layout, layout.node->operands, {{{Tensor(0.0f)}, {"dot"}}, {{more}, {"more"}}},
                   [&](const ExtendedParameters& now) -> ExtendedResults {
                     const Tensor &x = now.own[1], &w = now.xs[0];
                     return {inlined(layout, 0, now.own), {now.carries[0] + x * w}, {x * w}};
                   });
        const ir::RegionLayout extended = *ir::region_layout(all.own[0].node());
        EXPECT_EQ(extended.carries, 2u);
        EXPECT_EQ(extended.xs, 2u);
        EXPECT_EQ(extended.ys, 2u);
        EXPECT_TRUE(extended.reverse);
        EXPECT_EQ(extended.name, "run");
        return std::tuple(all.own[0], all.own[1], all.carries[0], all.ys[0]);
      },
      f32({3}), f32({3}), f32());
  const std::vector<float> xs{1, 2, 3}, weights{4, 5, 6};
  const std::vector<Literal> out =
      compile(f).run({Literal::from(xs, {3}), Literal::from(weights, {3}), Literal::scalar(2.0f)});
  float carry = 1, dot = 0;
  std::vector<float> ys(3), products(3);
  for (std::size_t i = 3; i-- > 0;) {
    ys[i] = carry;
    carry = carry * 2 + xs[i];
    products[i] = xs[i] * weights[i];
    dot += products[i];
  }
  expect_values(out[0], {}, std::vector<float>{carry});
  expect_values(out[1], {3}, ys);
  expect_values(out[2], {}, std::vector<float>{dot});
  expect_values(out[3], {3}, products);
}

TEST(Extend, AForiLoopKeepsItsIndexAndTripCount) {
  const Function f = trace(
      [](Tensor x) {
        const Tensor last =
            fori_loop(2, 9, [](Tensor i, Tensor y) { return y + i; }, x, {.step = 3});
        const ir::RegionLayout layout = *ir::region_layout(last.node());
        const ExtendedResults all =
            extend(layout, layout.node->operands, {{{Tensor(1)}, {"product"}}, {}},
                   [&](const ExtendedParameters& now) -> ExtendedResults {
                     return {inlined(layout, 0, now.own), {now.carries[0] * now.own[0]}, {}};
                   });
        EXPECT_EQ(ir::region_layout(all.own[0].node())->trip_count, 3);
        return std::pair(all.own[0], all.carries[0]);
      },
      s32());
  const std::vector<Literal> out = compile(f).run({Literal::scalar(std::int32_t{100})});
  expect_values(out[0], {}, std::vector<std::int32_t>{100 + 2 + 5 + 8});
  expect_values(out[1], {}, std::vector<std::int32_t>{2 * 5 * 8});
}

TEST(Extend, AWhileEndsByItsOwnConditionOrByAnother) {
  for (const bool by_count : {false, true}) {
    const Function f = trace(
        [&](Tensor x) {
          const Tensor last =
              while_loop([](Tensor y) { return y < 100; }, [](Tensor y) { return y * 2; }, x);
          const ir::RegionLayout layout = *ir::region_layout(last.node());
          control_flow::ExtendedCondition condition;
          if (by_count)
            condition = [](const ExtendedParameters& now) { return now.carries[0] < 3; };
          const ExtendedResults all = extend(
              layout, layout.node->operands, {{{Tensor(0)}, {"trips"}}, {}},
              [&](const ExtendedParameters& now) -> ExtendedResults {
                return {inlined(layout, 1, now.own), {now.carries[0] + 1}, {}};
              },
              condition);
          return std::pair(all.own[0], all.carries[0]);
        },
        s32());
    const std::vector<Literal> out = compile(f).run({Literal::scalar(std::int32_t{5})});
    expect_values(out[0], {}, std::vector<std::int32_t>{by_count ? 40 : 160});
    expect_values(out[1], {}, std::vector<std::int32_t>{by_count ? 3 : 5});
  }
}

TEST(Extend, BranchesGetMoreResults) {
  const Function f = trace(
      [](Tensor p, Tensor x) {
        const Tensor chosen = cond(
            p, [](Tensor y) { return y + 1; }, [](Tensor y) { return y - 1; }, x);
        const ir::RegionLayout layout = *ir::region_layout(chosen.node());
        const ExtendedResults all = extend(layout, layout.node->operands, {},
                                           [&](const ExtendedParameters& now) -> ExtendedResults {
                                             return {inlined(layout, now.region, now.own),
                                                     {},
                                                     {now.own[0] * (now.region == 0 ? 10 : 100)}};
                                           });
        return std::pair(all.own[0], all.ys[0]);
      },
      pred(), s32());
  const Executable program = compile(f);
  const auto run = [&](bool p) {
    return program.run({Literal::scalar(p), Literal::scalar(std::int32_t{7})});
  };
  expect_values(run(true)[0], {}, std::vector<std::int32_t>{8});
  expect_values(run(true)[1], {}, std::vector<std::int32_t>{70});
  expect_values(run(false)[0], {}, std::vector<std::int32_t>{6});
  expect_values(run(false)[1], {}, std::vector<std::int32_t>{700});
}

TEST(Extend, ACallGetsMoreArgumentsAndResults) {
  const Function f = trace(
      [](Tensor x, Tensor rate, Tensor more) {
        const Tensor called = checkpoint([&](Tensor y) { return y * rate; })(x);
        const ir::RegionLayout layout = *ir::region_layout(called.node());
        EXPECT_EQ(layout.role_of_operand(0), ir::RegionLayout::Role::kArgument);
        EXPECT_EQ(layout.role_of_operand(1), ir::RegionLayout::Role::kInvariant);
        const ExtendedResults all = extend(
            layout, layout.node->operands, {{}, {}, {{more}, {"more"}}},
            [&](const ExtendedParameters& now) -> ExtendedResults {
              return {inlined(layout, now.region, now.own), {}, {now.arguments[0] * now.own[1]}};
            });
        const ir::RegionLayout extended = *ir::region_layout(all.own[0].node());
        EXPECT_EQ(extended.fixed, 2u);
        EXPECT_EQ(extended.name, layout.name);
        EXPECT_EQ(all.own[0].node()->regions[0].param_names()[1], "more");
        return std::pair(all.own[0], all.ys[0]);
      },
      f32(), f32(), f32());
  const std::vector<Literal> out =
      compile(f).run({Literal::scalar(3.0f), Literal::scalar(5.0f), Literal::scalar(7.0f)});
  expect_values(out[0], {}, std::vector<float>{15});
  expect_values(out[1], {}, std::vector<float>{35});
}

TEST(Extend, OperandsMayHaveOtherTypes) {
  // The same loop for four values of x at once.
  const Function f = trace(
      [](Tensor x, Tensor many) {
        const Tensor last = fori_loop(
            0, 5, [](Tensor, Tensor y) { return y * 2.0f + 1.0f; }, x);
        const ir::RegionLayout layout = *ir::region_layout(last.node());
        std::vector<Tensor> operands(layout.node->operands.begin(), layout.node->operands.end());
        operands[2] = many;
        return extend(layout, operands, {},
                      [](const ExtendedParameters& now) -> ExtendedResults {
                        return {{now.own[1] * 2.0f + 1.0f}, {}, {}};
                      })
            .own[0];
      },
      f32(), f32({4}));
  std::vector<float> want{0, 1, 2, 3};
  const Literal many = Literal::from(want, {4});
  for (int trip = 0; trip < 5; trip++) {
    for (float& y : want) y = y * 2 + 1;
  }
  expect_values(compile(f).run({Literal::scalar(0.0f), many})[0], {4}, want);
}

}  // namespace
}  // namespace rondo
