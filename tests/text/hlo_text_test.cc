// HLO text. tests/xla checks that XLA accepts it, and computes the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect.h"
#include "text/programs.h"

namespace rondo {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

struct House {
  Tensor step, slab, tank;
};

// As separate statements: the order of a program is that of the calls of its ops, and C++ does not
// specify the order of an operator's operands.
House one_step(House h) {
  const Tensor next = h.step + 1;
  const Tensor difference = h.tank - h.slab;
  const Tensor change = difference * 0.5f;
  return {next, h.slab + change, h.tank};
}

TEST(HloText, AWholeProgram) {
  const Function function = trace(
      [](House start, Tensor limit) {
        return while_loop([&](House h) { return h.step < limit; }, one_step, start,
                          {.name = "solve"})
            .slab;
      },
      House{Tensor(0), Tensor(20.0f), Tensor(70.0f)}, s32());
  EXPECT_EQ(to_hlo_text(function),
            R"(HloModule main, entry_computation_layout={(s32[], f32[], f32[], s32[])->f32[]}

solve_cond {
  carry.1 = (s32[], f32[], f32[], s32[]) parameter(0)
  step = s32[] get-tuple-element(carry.1), index=0
  arg1 = s32[] get-tuple-element(carry.1), index=3
  ROOT compare.2 = pred[] compare(step, arg1), direction=LT
}

solve_body {
  carry.1 = (s32[], f32[], f32[], s32[]) parameter(0)
  constant.2 = s32[] constant(1)
  step = s32[] get-tuple-element(carry.1), index=0
  add.3 = s32[] add(step, constant.2)
  tank = f32[] get-tuple-element(carry.1), index=2
  slab = f32[] get-tuple-element(carry.1), index=1
  subtract.4 = f32[] subtract(tank, slab)
  constant.5 = f32[] constant(0.5)
  multiply.6 = f32[] multiply(subtract.4, constant.5)
  add.7 = f32[] add(slab, multiply.6)
  arg1 = s32[] get-tuple-element(carry.1), index=3
  ROOT tuple.8 = (s32[], f32[], f32[], s32[]) tuple(add.3, add.7, tank, arg1)
}

ENTRY main {
  step = s32[] parameter(0)
  slab = f32[] parameter(1)
  tank = f32[] parameter(2)
  arg1 = s32[] parameter(3)
  tuple.1 = (s32[], f32[], f32[], s32[]) tuple(step, slab, tank, arg1)
  solve.2 = (s32[], f32[], f32[], s32[]) while(tuple.1), condition=solve_cond, body=solve_body
  ROOT slab.3 = f32[] get-tuple-element(solve.2), index=1
}
)");
}

TEST(HloText, TheRootIsWhereTheResultIs) {
  const Tensor x = parameter(f32(), "x"), y = parameter(f32(), "y");
  const auto sum = [&] { return Operand(x, kPlace) + Operand(y, kPlace); };
  EXPECT_THAT(to_hlo_text(Function::make("f", {x, y}, {y})),
              HasSubstr("  x = f32[] parameter(0)\n  ROOT y = f32[] parameter(1)\n}"));
  EXPECT_THAT(to_hlo_text(Function::make("f", {x, y}, {sum()})),
              HasSubstr("  ROOT add.1 = f32[] add(x, y)\n}"));
  EXPECT_THAT(
      to_hlo_text(Function::make("f", {x, y}, {sum(), y})),
      HasSubstr("  add.1 = f32[] add(x, y)\n  ROOT tuple.2 = (f32[], f32[]) tuple(add.1, y)\n}"));
  EXPECT_THAT(to_hlo_text(Function::make("f", {x, y}, {})), HasSubstr("(f32[], f32[])->()}"));
  EXPECT_THAT(to_hlo_text(Function::make("f", {x, y}, {})),
              HasSubstr("  ROOT tuple.1 = () tuple()\n}"));
  // A result that the program uses further.
  const Tensor first = sum();
  EXPECT_THAT(to_hlo_text(Function::make(
                  "f", {x, y}, {first, Operand(first, kPlace) * Operand(x, kPlace), first})),
              HasSubstr("ROOT tuple.3 = (f32[], f32[], f32[]) tuple(add.1, multiply.2, add.1)"));
}

TEST(HloText, EveryComputationHasOneRoot) {
  const Function function = trace(
      [](Tensor p, Tensor x) {
        return cond(
            p, [](Tensor y) { return y; },
            [](Tensor y) {
              return scan([](Tensor c, Tensor r) { return std::pair(c + r, c); }, Tensor(0.0f), y)
                  .second;
            },
            x);
      },
      pred(), f32({4}));
  const std::string text = to_hlo_text(function);
  EXPECT_EQ(count_of(text, "ROOT "),
            count_of(text, "}\n\n") + 1 -
                1);  // the header ends like a computation, the last one does not
  EXPECT_EQ(count_of(text, "ENTRY "), 1u);
}

TEST(HloText, TripCountsAreHints) {
  const Function function = trace(
      [](Tensor x, Tensor n) {
        const auto twice = [](Tensor, Tensor y) { return y * 2; };
        return fori_loop(0, n, twice, fori_loop(3, 8, twice, x, {.name = "fixed"}),
                         {.name = "open"});
      },
      f32(), s32());
  const std::string text = to_hlo_text(function);
  EXPECT_THAT(text, HasSubstr("condition=fixed_cond, body=fixed_body, "
                              "backend_config={\"known_trip_count\":{\"n\":\"5\"}}\n"));
  EXPECT_THAT(text, HasSubstr("condition=open_cond, body=open_body\n"));
}

TEST(HloText, OneLoopIsOneWhile) {
  const Function function = trace(
      [](Tensor xs) {
        return scan(
            [](Tensor c, Tensor row) {
              return std::pair(fori_loop(
                                   0, 3, [&](Tensor, Tensor y) { return y + sum(row); }, c),
                               c);
            },
            Tensor(0.0f), xs);
      },
      f32({5, 2}));
  const std::string text = to_hlo_text(function);
  EXPECT_EQ(count_of(text, " while("), 2u);
  EXPECT_EQ(count_of(text, "known_trip_count"), 2u);
}

TEST(HloText, BranchesOfAPredAndOfAnIndex) {
  const std::string text = to_hlo_text(trace(
      [](Tensor p, Tensor i, Tensor x) {
        const auto same = [](Tensor y) { return y; };
        const auto twice = [](Tensor y) { return y * 2; };
        const Tensor chosen = cond(p, same, twice, x);
        return std::pair(chosen, switch_case(i, std::tuple(same, twice, same), x));
      },
      pred(), s32(), f32()));
  EXPECT_THAT(text, HasSubstr(", true_computation=true_branch, false_computation=false_branch\n"));
  EXPECT_THAT(text, HasSubstr(", branch_computations={branch_0, branch_1, branch_2}\n"));
  EXPECT_THAT(
      text, HasSubstr("true_branch {\n  arguments.1 = (f32[]) parameter(0)\n  ROOT operand_0 = "));
}

TEST(HloText, BranchesOfSeveralResultsAndOfNoArguments) {
  const std::string text = to_hlo_text(trace(
      [](Tensor p) {
        return cond(
            p, [] { return std::pair(Tensor(1.0f), Tensor(2)); },
            [] { return std::pair(Tensor(3.0f), Tensor(4)); });
      },
      pred()));
  EXPECT_THAT(text, HasSubstr("  arguments.1 = () parameter(0)\n"));
  EXPECT_THAT(text, HasSubstr("tuple.1 = () tuple()\n"));
  EXPECT_THAT(text, HasSubstr(" = (f32[], s32[]) conditional(arg0, tuple.1, tuple.1), "));
  EXPECT_THAT(text, HasSubstr("get-tuple-element(cond.2), index=0"));
  EXPECT_THAT(text, HasSubstr("get-tuple-element(cond.2), index=1"));
}

TEST(HloText, CombinersTakeArraysAndAreShared) {
  const std::string text =
      to_hlo_text(trace([](Tensor x) { return sum(x, {0}) + sum(x, {1}); }, f32({3, 3})));
  EXPECT_GE(count_of(text, "to_apply="), 2u);
  EXPECT_THAT(text, HasSubstr("f32[3] reduce(arg0, "));
  EXPECT_THAT(text, HasSubstr("  p0 = f32[] parameter(0)\n  p1 = f32[] parameter(1)\n  ROOT add.1 "
                              "= f32[] add(p0, p1)\n}"));
}

TEST(HloText, ARegionInTwoRolesIsTwoComputations) {
  // One function as the body of a loop and as a branch.
  const Tensor x = parameter(s32(), "x"), y = parameter(s32(), "y"), p = parameter(pred(), "p");
  const Function body = Function::make("step", {y}, {Operand(y, kPlace) + 1});
  const Tensor z = parameter(s32(), "z");
  const Function go_on = Function::make("go_on", {z}, {Operand(z, kPlace) < 9});
  control_flow::WhileAttributes attributes;
  attributes.carries = 1;
  const Tensor loop = ir::make(control_flow::kWhile, {x}, attributes, kPlace, {go_on, body});
  const Tensor chosen = ir::make(control_flow::kConditional, {p, loop},
                                 control_flow::ConditionalAttributes{}, kPlace, {body, body});
  const std::string text = to_hlo_text(Function::make("f", {x, p}, {chosen}));
  EXPECT_THAT(text, HasSubstr("body=step\n"));
  EXPECT_THAT(text, HasSubstr("true_computation=step_2, false_computation=step_2\n"));
  EXPECT_THAT(text, HasSubstr("step {\n  carry.1 = (s32[]) parameter(0)"));
  EXPECT_THAT(text, HasSubstr("ROOT tuple.4 = (s32[]) tuple(add.3)\n}\n\nstep_2 {\n  arguments.1 = "
                              "(s32[]) parameter(0)"));
}

TEST(HloText, NamesOfUsersDoNotCollideWithOurs) {
  const Tensor a = parameter(f32(), "add.1"), b = parameter(f32(), "nan"),
               c = parameter(f32(), "arg0.x"), d = parameter(f32(), "arg1.x");
  const Tensor sum = Operand(a, kPlace) + Operand(b, kPlace);
  const std::string text = to_hlo_text(Function::make("my model", {a, b, c, d}, {sum, c, d}));
  EXPECT_THAT(text, HasSubstr("HloModule my_model, "));
  EXPECT_THAT(text, HasSubstr("ENTRY my_model {"));
  EXPECT_THAT(text, HasSubstr("  _1 = f32[] parameter(0)\n  nan_ = f32[] parameter(1)\n  x = f32[] "
                              "parameter(2)\n  arg1.x = f32[] parameter(3)\n"
                              "  add.1 = f32[] add(_1, nan_)\n"));
}

TEST(HloText, MetadataSaysWhereAnOpComesFrom) {
  const Tensor x = parameter(f32(), "x");
  const SourceLocation odd{"a \"b\"\\c.cc", "f", 7};
  const Tensor loop = trace([](Tensor y) { return y; }, f32()).outputs()[0];
  const Function function = Function::make(
      "f", {x}, {Operand(Operand(x, kPlace) * Operand(x, kPlace), odd) + Operand(x, odd)});
  const std::string text = to_hlo_text(function, {.metadata = true});
  EXPECT_THAT(text, HasSubstr("multiply(x, x), metadata={op_name=\"f/multiply\" "
                              "source_file=\"models/pond.cc\" source_line=12}\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "metadata={op_name=\"f/add\" source_file=\"a \\\"b\\\"\\\\c.cc\" source_line=7}\n"));
  EXPECT_THAT(to_hlo_text(function), Not(HasSubstr("metadata")));
}

TEST(HloText, OptimizedOnDemand) {
  const Tensor x = parameter(f32(), "x");
  const auto square = [&] { return Operand(x, kPlace) * Operand(x, kPlace); };
  const Function function =
      Function::make("f", {x}, {Operand(square(), kPlace) + Operand(square(), kPlace)});
  EXPECT_EQ(count_of(to_hlo_text(function), " multiply("), 2u);
  EXPECT_EQ(count_of(to_hlo_text(function, {.optimize = true}), " multiply("), 1u);
}

TEST(HloText, TheTextIsTheSameEachTime) {
  const auto make = [] {
    return trace(
        [](House start) { return while_loop([](House h) { return h.step < 9; }, one_step, start); },
        House{Tensor(0), Tensor(20.0f), Tensor(70.0f)});
  };
  EXPECT_EQ(to_hlo_text(make()), to_hlo_text(make()));
}

TEST(HloText, OfALazyTensor) {
  const Tensor two = 2.0f, three = 3.0f, x = two * three;
  EXPECT_EQ(to_hlo_text(x), R"(HloModule main, entry_computation_layout={()->f32[]}

ENTRY main {
  constant.1 = f32[] constant(2)
  constant.2 = f32[] constant(3)
  ROOT multiply.3 = f32[] multiply(constant.1, constant.2)
}
)");
  expect_error(
      [] {
        trace([](Tensor y) { return Tensor(static_cast<int>(to_hlo_text(y + 1).size())); }, f32());
      },
      {"arg0"});
}

TEST(HloText, LongAndDeepProgramsCostNoStack) {
  on_small_stack([] {
    const std::string chain = to_hlo_text(chain_of_adds(200000));
    EXPECT_THAT(chain, HasSubstr("  ROOT add.200000 = f32[] add(add.199999, x)\n"));
    const std::string loops = to_hlo_text(nested_loops(control_flow::kForiLoop, 400, 2));
    EXPECT_EQ(count_of(loops, " while("), 400u);
    EXPECT_EQ(count_of(loops, "ROOT "), 801u);
  });
}

TEST(HloText, AWideLoopIsLinear) {
  const auto wide = [](std::size_t carries) {
    const std::vector<Tensor> init(carries, Tensor(1.0f));
    return to_hlo_text(trace([&] {
      return while_loop([](std::vector<Tensor> c) { return c[0] < 9.0f; },
                        [](std::vector<Tensor> c) {
                          for (Tensor& x : c) x = x + 1;
                          return c;
                        },
                        init);
    }));
  };
  EXPECT_LT(wide(512).size(), wide(256).size() * 9 / 4);
}

}  // namespace
}  // namespace rondo
