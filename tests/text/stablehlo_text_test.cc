// StableHLO text. tests/xla checks that the real parser and XLA accept it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "support/expect.h"
#include "text/programs.h"

namespace rondo {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

struct Ranch {
  Tensor step, slab, tank;
};

TEST(StablehloText, AWholeProgram) {
  const Function function = trace(
      [](Ranch start, Tensor rate) {
        return while_loop([](Ranch h) { return !(h.slab != h.tank); },
                          [&](Ranch h) {
                            return Ranch{h.step + 1, h.slab * rate, h.tank};
                          },
                          start, {.name = "solve"});
      },
      Ranch{Tensor(0), Tensor(20.0f), Tensor(70.0f)}, f32());
  const std::string text = std::regex_replace(
      to_stablehlo_text(function), std::regex(" <\\{comparison_direction[^}]*\\}>"), " <{...}>");
  EXPECT_EQ(text, R"(module @main {
  func.func public @main(%step: tensor<i32>, %slab: tensor<f32>, %tank: tensor<f32>, %arg1: tensor<f32>) -> (tensor<i32>, tensor<f32>, tensor<f32>) {
    %0:3 = stablehlo.while(%step_2 = %step, %slab_2 = %slab, %tank_2 = %tank) : tensor<i32>, tensor<f32>, tensor<f32>
    cond {
      %1 = "stablehlo.compare"(%slab_2, %tank_2) <{...}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.not %1 : tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %3 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %step_2, %3 : tensor<i32>
      %5 = stablehlo.multiply %slab_2, %arg1 : tensor<f32>
      stablehlo.return %4, %5, %tank_2 : tensor<i32>, tensor<f32>, tensor<f32>
    }
    return %0#0, %0#1, %0#2 : tensor<i32>, tensor<f32>, tensor<f32>
  }
}
)");
}

TEST(StablehloText, TypesOfEveryDtype) {
  std::vector<Tensor> params;
  for (int i = 0; i < kDTypeCount; i++)
    params.push_back(parameter({static_cast<DType>(i), {2, 3}}, "x"));
  const std::string text = to_stablehlo_text(Function::make("f", params, {}));
  const char* names[] = {"i1",     "i8",        "i16",      "i32",           "i64",
                         "ui8",    "ui16",      "ui32",     "ui64",          "f16",
                         "bf16",   "f32",       "f64",      "complex<f32>",  "complex<f64>",
                         "i2",     "ui2",       "i4",       "ui4",           "f4E2M1FN",
                         "f8E3M4", "f8E4M3",    "f8E4M3FN", "f8E4M3B11FNUZ", "f8E4M3FNUZ",
                         "f8E5M2", "f8E5M2FNUZ"};
  std::string signature;
  for (int i = 0; i < kDTypeCount; i++) {
    signature += (i ? ", %x_" + std::to_string(i + 1) : "%x") + ": tensor<2x3x" + names[i] + ">";
  }
  EXPECT_THAT(text, HasSubstr("@main(" + signature + ") -> () {\n    return\n  }"));
}

TEST(StablehloText, BranchesSeeTheirArgumentsOutside) {
  const std::string text = to_stablehlo_text(trace(
      [](Tensor p, Tensor i, Tensor x, Tensor y) {
        const auto same = [](Tensor z) { return z; };
        const auto plus = [&](Tensor z) { return z + y; };
        const Tensor chosen = cond(p, same, plus, x);
        return std::pair(chosen, switch_case(i, std::tuple(same, plus, plus), x));
      },
      pred(), s32(), f32(), f32()));
  EXPECT_THAT(text, HasSubstr(R"(    %0 = "stablehlo.if"(%arg0) ({
      stablehlo.return %arg2 : tensor<f32>
    }, {
      %1 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
)"));
  EXPECT_THAT(text, HasSubstr("\"stablehlo.case\"(%"));
  EXPECT_THAT(text, HasSubstr("    }) : (tensor<i32>) -> tensor<f32>\n"));
}

TEST(StablehloText, SeveralResultsAreNumbered) {
  const std::string text = to_stablehlo_text(trace(
      [](Tensor p) {
        return cond(
            p, [] { return std::pair(Tensor(1.0f), Tensor(2)); },
            [] { return std::pair(Tensor(3.0f), Tensor(4)); });
      },
      pred()));
  EXPECT_THAT(text, HasSubstr("%0:2 = \"stablehlo.if\"(%arg0) ({"));
  EXPECT_THAT(text, HasSubstr(") : (tensor<i1>) -> (tensor<f32>, tensor<i32>)\n"));
  EXPECT_THAT(text, HasSubstr("return %0#0, %0#1 : tensor<f32>, tensor<i32>\n"));
}

TEST(StablehloText, CombinersHaveArguments) {
  const std::string text =
      to_stablehlo_text(trace([](Tensor x) { return sum(x, {0}) + sum(x, {1}); }, f32({3, 3})));
  EXPECT_THAT(text, HasSubstr(R"( ({
    ^bb0(%p0: tensor<f32>, %p1: tensor<f32>):
)"));
  EXPECT_THAT(text,
              HasSubstr("^bb0(%p0_2: tensor<f32>, %p1_2: tensor<f32>):"));  // names are not reused,
                                                                            // even by neighbours
  EXPECT_THAT(text, HasSubstr("    }) : (tensor<3x3xf32>, tensor<f32>) -> tensor<3xf32>\n"));
}

/// Every name that is defined, in the order of the text.
std::vector<std::string> definitions(const std::string& text) {
  std::vector<std::string> names;
  const std::regex definition("(%[A-Za-z0-9_.]+)(:[0-9]+)?(: tensor| = )");
  for (std::sregex_iterator it(text.begin(), text.end(), definition), end; it != end; ++it)
    names.push_back((*it)[1]);
  return names;
}

TEST(StablehloText, NoNameIsDefinedTwice) {
  const Function function = trace(
      [](Ranch start, Tensor xs) {
        const auto inner = [](Ranch h) {
          return while_loop([](Ranch g) { return g.step < 3; },
                            [](Ranch g) {
                              return Ranch{g.step + 1, g.tank, g.slab};
                            },
                            h);
        };
        return scan(
            [&](Ranch h, Tensor x) {
              const Ranch done = inner(inner(h));
              return std::pair(Ranch{done.step, done.slab + sum(x), done.tank}, x);
            },
            start, xs);
      },
      Ranch{Tensor(0), Tensor(20.0f), Tensor(70.0f)}, f32({4, 2}));
  const std::vector<std::string> names = definitions(to_stablehlo_text(function));
  EXPECT_GT(names.size(), 30u);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(StablehloText, NamesHaveAnySize) {
  for (const std::size_t size : {1u, 7u, 8u, 14u, 15u, 16u, 17u, 40u, 1000u, 2040u, 5000u}) {
    const std::string x(size, 'x'), y(size, 'y');
    const Tensor a = parameter(f32(), x), b = parameter(f32(), y);
    const auto [low, high] =
        while_loop([](Tensor l, Tensor h) { return l < h; },
                   [](Tensor l, Tensor h) { return std::pair(l + 1, h); }, std::pair(a, b));
    const std::string text =
        to_stablehlo_text(Function::make("f", {a, b}, {low * high, clamp(a, b, low), b + a}));
    std::string sum = " = stablehlo.add %";
    ((sum += y) += ", %") += x;
    EXPECT_THAT(text, HasSubstr(sum += " : tensor<f32>\n"));
    EXPECT_THAT(text, HasSubstr("%0:2 = stablehlo.while(%"));
    EXPECT_THAT(text, HasSubstr(" = stablehlo.multiply %0#0, %0#1 : tensor<f32>\n"));
    EXPECT_THAT(text, HasSubstr(" = stablehlo.clamp %"));
  }
}

TEST(StablehloText, ANodeOfTwoFunctionsHasANameInEach) {
  // The same constant outside a loop and in its body.
  const Tensor one = ir::make_constant(Literal::scalar(1.0f), kPlace);
  const Tensor x = parameter(f32(), "x"), y = parameter(f32(), "y"), z = parameter(f32(), "z");
  control_flow::WhileAttributes attributes;
  attributes.carries = 1;
  const Tensor loop =
      ir::make(control_flow::kWhile, {x}, attributes, kPlace,
               {Function::make("cond", {y}, {Operand(y, kPlace) < Operand(one, kPlace)}),
                Function::make("body", {z}, {Operand(z, kPlace) + Operand(one, kPlace)})});
  const Function function =
      Function::make("f", {x}, {Operand(loop, kPlace) * Operand(one, kPlace)});
  const std::string text = to_stablehlo_text(function);
  EXPECT_THAT(text, HasSubstr("    %0 = stablehlo.constant dense<1.0> : tensor<f32>\n"));
  EXPECT_THAT(
      text, ::testing::ContainsRegex("\n    %[0-9]+ = stablehlo.multiply %1, %0 : tensor<f32>\n"));
  const std::vector<std::string> names = definitions(text);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(StablehloText, LocationsOnDemand) {
  const Tensor x = parameter(f32(), "x");
  const Function function = Function::make("f", {x}, {Operand(x, kPlace) * Operand(x, kPlace)});
  EXPECT_THAT(
      to_stablehlo_text(function, {.locations = true}),
      HasSubstr("%0 = stablehlo.multiply %x, %x : tensor<f32> loc(\"models/pond.cc\":12:1)\n"));
  EXPECT_THAT(to_stablehlo_text(function), Not(HasSubstr("loc(")));
}

TEST(StablehloText, OptimizedOnDemand) {
  const Tensor x = parameter(f32(), "x");
  const auto square = [&] { return Operand(x, kPlace) * Operand(x, kPlace); };
  const Function function =
      Function::make("f", {x}, {Operand(square(), kPlace) + Operand(square(), kPlace)});
  EXPECT_EQ(count_of(to_stablehlo_text(function), "stablehlo.multiply "), 2u);
  EXPECT_EQ(count_of(to_stablehlo_text(function, {.optimize = true}), "stablehlo.multiply "), 1u);
}

TEST(StablehloText, AChoiceAmongPredsNamesAllItsTypes) {
  // The parser takes one type for three operands of one type, but not of a select.
  const Tensor p = parameter(pred(), "p"), x = parameter(f32(), "x");
  const Function function = Function::make("f", {p, x}, {where(p, p, !p), clamp(x, x, x)});
  const std::string text = to_stablehlo_text(function);
  EXPECT_THAT(text, HasSubstr("= stablehlo.select %p, %p, %0 : (tensor<i1>, tensor<i1>, "
                              "tensor<i1>) -> tensor<i1>\n"));
  EXPECT_THAT(text, HasSubstr("= stablehlo.clamp %x, %x, %x : tensor<f32>\n"));
}

TEST(StablehloText, ABranchReadsOneOfSeveralResults) {
  const auto f = [](Tensor x) {
    const auto trip = [](Tensor, std::pair<Tensor, Tensor> c) {
      return std::pair(c.second, c.first + c.second);
    };
    const auto [a, b] = fori_loop(0, 5, trip, std::pair(x, x * 2.0f));
    const Tensor last = b;
    return cond(
        a < 3.0f, [&](Tensor y) { return y * last; }, [](Tensor y) { return y; }, a);
  };
  EXPECT_THAT(to_stablehlo_text(trace(f, f32())),
              ::testing::ContainsRegex("= stablehlo.multiply %[0-9]+#1, %[0-9]+#2 : tensor"));
}

TEST(StablehloText, OfALazyTensor) {
  const Tensor two = 2.0f, three = 3.0f;
  EXPECT_THAT(to_stablehlo_text(two * three),
              HasSubstr("  func.func public @main() -> (tensor<f32>) {\n"
                        "    %0 = stablehlo.constant dense<2.0> : tensor<f32>\n"));
}

TEST(StablehloText, LongAndDeepProgramsCostNoStackAndGrowLinearly) {
  on_small_stack([] {
    EXPECT_THAT(to_stablehlo_text(chain_of_adds(200000)),
                HasSubstr("    %199999 = stablehlo.add %199998, %x : tensor<f32>\n"));
    const std::string half = to_stablehlo_text(nested_loops(control_flow::kForiLoop, 200, 2));
    const std::string whole = to_stablehlo_text(nested_loops(control_flow::kForiLoop, 400, 2));
    EXPECT_EQ(count_of(whole, " = stablehlo.while("), 400u);
    EXPECT_LT(whole.size(), half.size() * 5 / 2);
  });
}

}  // namespace
}  // namespace rondo
