// expand: expresses ops that a target lacks by ops that it has.
#include "passes/expand.h"

#include <gtest/gtest.h>

#include <set>

#include "control_flow/for.h"
#include "control_flow/scan.h"
#include "ir/layout.h"
#include "support/expect.h"
#include "text/programs.h"

namespace rondo {
namespace {

using namespace testing;
using ir::Node;
using passes::expand;
using passes::Target;

ir::InferredTypes same_type(const ir::InferContext& context) { return {context.type(0)}; }

// Ops that no target has.
const ir::OpDef kTwice{.name = "twice",
                       .arity = 1,
                       .types = {.infer = same_type},
                       .expansion = {.rule = [](const Node&, std::span<const Tensor> x) {
                         return std::vector<Tensor>{Operand(x[0], kPlace) + Operand(x[0], kPlace)};
                       }}};
const ir::OpDef kFourTimes{.name = "four_times",
                           .arity = 1,
                           .types = {.infer = same_type},
                           .expansion = {.rule = [](const Node&, std::span<const Tensor> x) {
                             return std::vector<Tensor>{ir::make(
                                 kTwice, {ir::make(kTwice, {x[0]}, {}, kPlace)}, {}, kPlace)};
                           }}};
const ir::OpDef kSame{.name = "same",
                      .arity = 1,
                      .types = {.infer = same_type},
                      .expansion = {.rule = [](const Node&, std::span<const Tensor> x) {
                        return std::vector<Tensor>{x[0]};
                      }}};
const ir::OpDef kPlusOne{.name = "plus_one",
                         .arity = 1,
                         .types = {.infer = same_type},
                         .expansion = {.rule = [](const Node&, std::span<const Tensor> x) {
                           return std::vector<Tensor>{Operand(x[0], kPlace) + 1.0f};
                         }}};
const ir::OpDef kFirst{.name = "first",
                       .arity = 2,
                       .types = {.infer = same_type},
                       .expansion = {.rule = [](const Node&, std::span<const Tensor> x) {
                         return std::vector<Tensor>{ir::make(kTwice, {x[0]}, {}, kPlace)};
                       }}};
const ir::OpDef kSwap{.name = "swap",
                      .arity = 2,
                      .types = {.infer = [](const ir::InferContext& context) -> ir::InferredTypes {
                        return {context.type(1), context.type(0)};
                      }},
                      .expansion = {.rule = [](const Node&, std::span<const Tensor> x) {
                        return std::vector<Tensor>{x[1], x[0]};
                      }}};
/// x doubled while it is below 100: a rule that traces regions, which contain ops that must be
/// expanded.
const ir::OpDef kGrow{
    .name = "grow",
    .arity = 2,
    .types = {.infer = same_type},
    .expansion = {.rule = [](const Node&, std::span<const Tensor> x) {
      return std::vector<Tensor>{
          while_loop([](Tensor y) { return y < 100.0f; },
                     [&](Tensor y) { return ir::make(kTwice, {y}, {}, kPlace) + x[1]; }, x[0])};
    }}};
const ir::OpDef kUnspeakable{.name = "unspeakable", .arity = 1, .types = {.infer = same_type}};
const ir::OpDef kEndless{.name = "endless",
                         .arity = 1,
                         .types = {.infer = same_type},
                         .expansion = {.rule = [](const Node& node, std::span<const Tensor> x) {
                           return std::vector<Tensor>{ir::make(*node.op, {x[0]}, {}, kPlace)};
                         }}};
const ir::OpDef kWrong{.name = "wrong",
                       .arity = 1,
                       .types = {.infer = same_type},
                       .expansion = {.rule = [](const Node&, std::span<const Tensor>) {
                         return std::vector<Tensor>{Tensor(1)};
                       }}};

Tensor apply(const ir::OpDef& op, const Tensor& x) { return ir::make(op, {x}, {}, kPlace); }

float run(const Function& function, std::initializer_list<float> arguments) {
  std::vector<Literal> literals;
  for (const float x : arguments) literals.push_back(Literal::scalar(x));
  function.verify();
  return compile(function, {.optimize = false}).run(literals)[0].item<float>();
}

class Expand : public ::testing::Test {
 protected:
  Tensor x = parameter(f32(), "x"), y = parameter(f32(), "y");
};

TEST_F(Expand, WhatNeedsNothingStaysTheSameObject) {
  const Function chain = chain_of_adds(10);
  const Function loops = nested_loops(control_flow::kWhile, 3, 2);
  for (const Target target : {Target::kHlo, Target::kStablehlo, Target::kInterpreter}) {
    EXPECT_TRUE(expand(chain, target).same_as(chain));
    EXPECT_TRUE(expand(loops, target).same_as(loops));
  }
}

TEST_F(Expand, AnExpansionIsExpandedAgain) {
  const Function function =
      Function::make("f", {x}, {Operand(apply(kFourTimes, x), kPlace) * Operand(x, kPlace)});
  const Function expanded = expand(function, Target::kHlo);
  EXPECT_EQ(expanded.stats().ops,
            (std::map<std::string, std::int64_t>{{"add", 2}, {"multiply", 1}}));
  EXPECT_EQ(run(expanded, {3}), 36);
  EXPECT_EQ(expanded.name(), "f");
  EXPECT_EQ(expanded.param_names(), std::vector<std::string>{"x"});
}

TEST_F(Expand, ARuleMayReturnItsOperand) {
  const Function expanded = expand(
      Function::make("f", {x, y}, {apply(kSame, y), apply(kSame, apply(kSame, x))}, {"a", "b"}),
      Target::kHlo);
  EXPECT_TRUE(expanded.body().empty());
  EXPECT_TRUE(expanded.outputs()[0].same_as(y));
  EXPECT_TRUE(expanded.outputs()[1].same_as(x));
  EXPECT_EQ(expanded.result_names(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(Expand, ARuleMayUseNewConstants) {
  EXPECT_EQ(
      run(expand(Function::make("f", {x}, {apply(kPlusOne, apply(kPlusOne, x))}), Target::kHlo),
          {5}),
      7);
}

TEST_F(Expand, AnOperandThatIsAConstantStaysOne) {
  const Tensor five(5.0f);
  const Function expanded =
      expand(Function::make("f", {}, {apply(kTwice, five), five}), Target::kHlo);
  expanded.verify();
  EXPECT_EQ(expanded.stats().ops,
            (std::map<std::string, std::int64_t>{{"add", 1}, {"constant", 1}}));
}

TEST_F(Expand, WhatARuleDoesNotUseIsGone) {
  const Tensor unused = apply(kTwice, apply(kPlusOne, y));
  const Function expanded = expand(
      Function::make("f", {x, y}, {ir::make(kFirst, {x, unused}, {}, kPlace)}), Target::kHlo);
  EXPECT_EQ(expanded.stats().nodes, 1);
  EXPECT_EQ(run(expanded, {4, 9}), 8);
}

TEST_F(Expand, SeveralResults) {
  const std::vector<Tensor> swapped = ir::make_many(kSwap, {x, y}, {}, kPlace);
  const std::vector<Tensor> again =
      ir::make_many(kSwap, {swapped[0], apply(kTwice, swapped[1])}, {}, kPlace);
  const Function expanded =
      expand(Function::make("f", {x, y}, {Operand(again[0], kPlace) - Operand(again[1], kPlace)}),
             Target::kHlo);
  EXPECT_EQ(run(expanded, {10, 3}), 17);
}

TEST_F(Expand, RegionsAreExpandedToo) {
  const Function function = trace(
      [](Tensor a, Tensor b) {
        return while_loop([](Tensor t) { return apply(kTwice, t) < 50.0f; },
                          [&](Tensor t) {
                            return cond(
                                t < b, [](Tensor u) { return apply(kFourTimes, u); },
                                [](Tensor u) { return u + 1; }, t);
                          },
                          a);
      },
      f32(), f32());
  const Function expanded = expand(function, Target::kStablehlo);
  const auto ops = expanded.stats().ops;
  EXPECT_FALSE(ops.contains("twice"));
  EXPECT_FALSE(ops.contains("four_times"));
  float want = 1;
  while (want * 2 < 50) want = want < 10 ? want * 4 : want + 1;
  EXPECT_EQ(run(expanded, {1, 10}), want);
}

TEST_F(Expand, ARuleMayTraceRegionsThatCaptureItsOperands) {
  // Inside a loop, where the operands are parameters of a closed region.
  const Function function = trace(
      [](Tensor a, Tensor b) {
        return fori_loop(
            0, 3,
            [&](Tensor, Tensor t) {
              return ir::make(kGrow, {t / 8, b}, {}, kPlace);
            },
            a);
      },
      f32(), f32());
  const Function expanded = expand(function, Target::kHlo);
  EXPECT_EQ(expanded.stats().ops.at("while"), 2);
  float want = 3;
  for (int i = 0; i < 3; i++) {
    for (want /= 8; want < 100;) want = want * 2 + 5;
  }
  EXPECT_EQ(run(expanded, {3, 5}), want);
}

TEST_F(Expand, ForiAndScanBecomeLoopsWithATripCount) {
  const Function function = trace(
      [](Tensor a) {
        const Tensor sums = fori_loop(
            2, 7, [](Tensor i, Tensor t) { return t + convert(i, DType::kF32); }, a);
        return scan([](Tensor c, Tensor row) { return std::pair(c + row, c); }, sums,
                    iota(f32({4}), 0))
            .first;
      },
      f32());
  // `for` where executors take it, `while` in texts.
  for (const Target target : {Target::kInterpreter, Target::kHlo}) {
    const Function expanded = expand(function, target);
    std::multiset<std::int64_t> trips;
    for (const Node* node : expanded.body()) {
      if (node->op == (target == Target::kHlo ? &control_flow::kWhile : &control_flow::kFor))
        trips.insert(ir::region_layout(node)->trip_count.value_or(-1));
    }
    EXPECT_EQ(trips, (std::multiset<std::int64_t>{4, 5}));
    EXPECT_EQ(run(expanded, {100}), 100 + 2 + 3 + 4 + 5 + 6 + 0 + 1 + 2 + 3);
  }
}

TEST_F(Expand, LargeConstantsOfAnUnrolledBodyAreCopied) {
  // Too large to be copied into the region by the tracer; the same array twice, in two loops.
  const Literal weights = Literal::from(std::vector<float>(64, 0.5f), {64});
  const Function function = trace(
      [&](Tensor a) {
        const auto step = [&](Tensor, Tensor t) {
          return t + sum(constant(std::vector<float>(64, 0.5f), {64})) + sum(Tensor(weights));
        };
        return fori_loop(0, 2, step, fori_loop(0, 3, step, a, {.unroll = kUnrollAll}),
                         {.unroll = kUnrollAll});
      },
      f32());
  const Function expanded = expand(function, Target::kHlo);
  EXPECT_FALSE(expanded.stats().ops.contains("while"));
  EXPECT_EQ(run(expanded, {1}), 1 + 5 * 64);
}

TEST_F(Expand, TheSameRegionInTwoPlacesIsExpandedOnce) {
  const Function go_on = Function::make("go_on", {y}, {Operand(y, kPlace) < 9.0f});
  const Function body = Function::make("body", {x}, {apply(kPlusOne, x)});
  control_flow::WhileAttributes attributes;
  attributes.carries = 1;
  const Tensor start = parameter(f32(), "start");
  const Tensor once = ir::make(control_flow::kWhile, {start}, attributes, kPlace, {go_on, body});
  const Tensor twice = ir::make(control_flow::kWhile, {once}, attributes, kPlace, {go_on, body});
  const Function expanded = expand(Function::make("f", {start}, {twice}), Target::kHlo);
  ASSERT_EQ(expanded.body().size(), 2u);
  EXPECT_TRUE(expanded.body()[0]->regions[1].same_as(expanded.body()[1]->regions[1]));
  EXPECT_TRUE(expanded.body()[0]->regions[0].same_as(go_on));
  EXPECT_EQ(run(expanded, {1}), 9);
}

TEST_F(Expand, AnOpWithoutARuleIsAnError) {
  const Function function = Function::make("f", {x}, {apply(kUnspeakable, x)});
  expect_error([&] { expand(function, Target::kHlo); },
               {"unspeakable: this op cannot be written as HLO", "at pond.cc:12", "Write"});
  expect_error([&] { expand(function, Target::kStablehlo); }, {"cannot be written as StableHLO"});
  expect_error([&] { expand(function, Target::kInterpreter); },
               {"cannot be run by the interpreter"});
  expect_error([&] { to_hlo_text(function); }, {"unspeakable: this op cannot be written as HLO"});
}

TEST_F(Expand, RulesThatAreWrongAreOurMistake) {
  expect_error<InternalError>(
      [&] { expand(Function::make("f", {x}, {apply(kEndless, x)}), Target::kHlo); },
      {"endless", "does not end"});
  expect_error<InternalError>(
      [&] { expand(Function::make("f", {x}, {apply(kWrong, x)}), Target::kHlo); },
      {"wrong", "other types"});
}

TEST_F(Expand, UnderAnEagerScopeNothingIsEvaluated) {
  const Function function = Function::make("f", {x}, {apply(kFourTimes, x)});
  const EagerScope eager;
  EXPECT_EQ(expand(function, Target::kHlo).stats().ops.at("add"), 2);
}

TEST_F(Expand, NestingAndLengthCostNoStack) {
  on_small_stack([] {
    const Function loops = expand(nested_loops(control_flow::kForiLoop, 400, 2), Target::kHlo);
    EXPECT_EQ(loops.stats().ops.at("while"), 400);
    EXPECT_EQ(loops.stats().depth, 400);
    const Tensor start = parameter(f32(), "x");
    Tensor chain = start;
    for (int i = 0; i < 20000; i++) chain = apply(kTwice, chain);
    EXPECT_EQ(expand(Function::make("f", {start}, {chain}), Target::kHlo).stats().ops.at("add"),
              20000);
  });
}

}  // namespace
}  // namespace rondo
