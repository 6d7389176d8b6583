// The IR's own text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "support/expect.h"
#include "text/programs.h"

namespace rondo {
namespace {

using namespace testing;
using ::testing::HasSubstr;

struct House {
  Tensor step, slab, tank;
};

Function thermal() {
  return trace(
      [](Tensor tank0) {
        const House end =
            while_loop([](House h) { return h.step < 20; },
                       [](House h) {
                         return House{h.step + 1, h.slab + 0.5 * (h.tank - h.slab), h.tank * 0.75};
                       },
                       House{0, 20.0f, tank0}, {.name = "solve"});
        return end.slab;
      },
      f32());
}

TEST(Print, AProgramReadsAsItWasWritten) {
  const std::string text = without_places(to_text(thermal()));
  EXPECT_THAT(text, HasSubstr(R"(func main(%arg0: f32[]) -> (result: f32[]) {
  %0: s32[], f32[], f32[] = while 0, 20, %arg0 {carries=3, name="solve")"));
  EXPECT_THAT(text, HasSubstr(R"(
    cond (%step: s32[], %slab: f32[], %tank: f32[]) {
      %1: pred[] = compare %step, 20 {)"));
  EXPECT_THAT(text, HasSubstr(R"(
      return %1
    }
    body (%step: s32[], %slab: f32[], %tank: f32[]) {
      %2: s32[] = add %step, 1
      %3: f32[] = subtract %tank, %slab
      %4: f32[] = multiply 0.5, %3
      %5: f32[] = add %slab, %4
      %6: f32[] = multiply %tank, 0.75
      return %2, %5, %6
    }
  return %0#1
}
)"));
}

TEST(Print, EveryWayGivesTheSameText) {
  const Function function = thermal();
  std::ostringstream stream;
  stream << function;
  EXPECT_EQ(stream.str(), to_text(function));
  EXPECT_EQ(function.str(), to_text(function));
}

TEST(Print, NumbersDoNotDependOnWhatWasTracedBefore) {
  EXPECT_EQ(to_text(thermal()), to_text(thermal()));
}

TEST(Print, SourceLinesStandAtTheEnd) {
  const Tensor x = parameter(f32(), "x");
  const Function function = Function::make("f", {x}, {Operand(x, kPlace) * Operand(x, kPlace)});
  EXPECT_EQ(to_text(function),
            "func f(%x: f32[]) -> (f32[]) {\n"
            "  %0: f32[] = multiply %x, %x                               // pond.cc:12\n"
            "  return %0\n"
            "}\n");
}

TEST(Print, NamesOfParametersAreUniqueAndWhole) {
  std::vector<Tensor> params;
  for (const char* name : {"arg0.slab", "arg0.slab", "", "3", "a b%(c)", "rows[1]", "m[\"key\"]"}) {
    params.push_back(parameter(f32(), name));
  }
  const Function function = Function::make("f", params, {params[1]}, {"out.slab"});
  EXPECT_EQ(to_text(function),
            "func f(%arg0.slab: f32[], %arg0.slab_1: f32[], %p2: f32[], %p3: f32[], %a_b__c_: "
            "f32[], %rows[1]: f32[], "
            "%m[\"key\"]: f32[]) -> (out.slab: f32[]) {\n"
            "  return %arg0.slab_1\n"
            "}\n");
}

TEST(Print, ShortConstantsStandWhereTheyAreUsedAndLongOnesAreCut) {
  const Tensor x = parameter(f32({4}), "x"), y = parameter(f32({100}), "y");
  const Tensor few(Literal::from<float>({1, -0.0f, INFINITY, NAN}, {4}), kPlace);
  const Tensor many(Literal::from(std::vector<float>(100, 2), {100}), kPlace);
  const Function function = Function::make(
      "f", {x, y}, {Operand(x, {}) + Operand(few, {}), Operand(y, {}) + Operand(many, {})});
  EXPECT_EQ(without_places(to_text(function)),
            "func f(%x: f32[4], %y: f32[100]) -> (f32[4], f32[100]) {\n"
            "  %0: f32[100] = constant {2, 2, 2, ..., 2, 2, 2}\n"
            "  %1: f32[4] = add %x, {1, -0.0, inf, nan}\n"
            "  %2: f32[100] = add %y, %0\n"
            "  return %1, %2\n"
            "}\n");
}

TEST(Print, BranchesAreNamedByWhatSelectsThem) {
  const auto same = [](Tensor x) { return x; };
  const auto twice = [](Tensor x) { return x + x; };
  const std::string text = to_text(trace(
      [&](Tensor p, Tensor i, Tensor x) {
        return std::pair(cond(p, same, twice, x), switch_case(i, std::tuple(same, twice, same), x));
      },
      pred(), s32(), f32()));
  for (const char* label : {"\n    true (", "\n    false (", "\n    branch 0 (", "\n    branch 1 (",
                            "\n    branch 2 ("}) {
    EXPECT_THAT(text, HasSubstr(label));
  }
}

TEST(Print, ALazyTensorPrintsWhatEvalWouldRun) {
  const Tensor one = Literal::from(std::vector<float>(8, 1), {8});
  const Tensor two = Literal::from(std::vector<float>(8, 2), {8});
  const Tensor x = one + two;
  EXPECT_THAT(to_text(x), HasSubstr("f32[8] = add %0, %1"));
  x.eval();
  EXPECT_EQ(count_of(to_text(x), " add "), 0u);
  EXPECT_THAT(to_text(x), HasSubstr("constant {3, 3, 3, 3, 3, 3, 3, 3}"));
}

TEST(Print, AnEmptyFunctionSaysSo) {
  expect_error([] { to_text(Function()); }, {"this Function is empty"});
}

TEST(Print, NestingCostsNoStackAndGrowsLinearly) {
  on_small_stack([] {
    const std::size_t half = to_text(nested_loops(control_flow::kWhile, 250, 3)).size();
    const std::size_t whole = to_text(nested_loops(control_flow::kWhile, 500, 3)).size();
    EXPECT_LT(whole, half * 5 / 2);
    EXPECT_EQ(count_of(to_text(nested_loops(control_flow::kForiLoop, 500, 3)), "= fori_loop "),
              500u);
  });
}

TEST(Print, ALongChainIsPrinted) {
  on_small_stack([] {
    const std::string text = to_text(chain_of_adds(100000));
    EXPECT_THAT(text, HasSubstr("%99999: f32[] = add %99998, %x"));
    EXPECT_EQ(count_of(text, "\n"), 100003u);
  });
}

}  // namespace
}  // namespace rondo
