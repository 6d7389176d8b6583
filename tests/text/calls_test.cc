// Functions that a text calls in several places stay functions: in the program, its derivatives,
// its batched forms, the texts, and in what runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/structure.h"
#include "rondo/rondo.h"
#include "support/expect.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

/// @f0(x) = x * x, and @f<k>(x) = @f<k-1>(x) + @f<k-1>(s x) up to the depth; @main calls the last.
std::string tree(int depth, const std::string& s) {
  std::string text = R"(
func.func public @main(%x: tensor<f64>) -> tensor<f64> {
  %0 = call @f)" + std::to_string(depth) +
                     R"((%x) : (tensor<f64>) -> tensor<f64>
  return %0 : tensor<f64>
}
func.func private @f0(%x: tensor<f64>) -> tensor<f64> {
  %0 = stablehlo.multiply %x, %x : tensor<f64>
  return %0 : tensor<f64>
})";
  for (int k = 1; k <= depth; k++) {
    text += fmt::format(R"(
func.func private @f{0}(%x: tensor<f64>) -> tensor<f64> {{
  %s = stablehlo.constant dense<{2}> : tensor<f64>
  %0 = func.call @f{1}(%x) : (tensor<f64>) -> tensor<f64>
  %1 = stablehlo.multiply %x, %s : tensor<f64>
  %2 = func.call @f{1}(%1) : (tensor<f64>) -> tensor<f64>
  %3 = stablehlo.add %0, %2 : tensor<f64>
  return %3 : tensor<f64>
}})",
                        k, k - 1, s);
  }
  return text;
}

std::int64_t calls_in(const Function& program) {
  std::int64_t calls = 0;
  for (const Function& function : ir::regions_inside_out(program)) {
    for (const ir::Node* node : function.body())
      calls += node->op->construct.flow == ir::Flow::kCall ? 1 : 0;
  }
  return calls;
}

double value_of(const Function& program, double x) {
  return compile(program).run({Literal::scalar(x)})[0].item<double>();
}

// 2^60 ops if the calls were copied. Both calls of each function get the same value, so a run
// evaluates each function once.
constexpr int kDeep = 60;
const double kDeepFactor = std::pow(2.0, kDeep);

TEST(Calls, AreLinearInTheText) {
  const Function program = parse_stablehlo_text(tree(kDeep, "1.0"));
  EXPECT_EQ(ir::called_functions(program).size(), kDeep);  // @f60 is read where it is called
  EXPECT_EQ(calls_in(program), 2 * kDeep);
  EXPECT_EQ(value_of(program, 3), 9 * kDeepFactor);
}

TEST(Calls, HaveDerivativesThatAreCalls) {
  const Function program = parse_stablehlo_text(tree(kDeep, "1.0"));
  const auto f = [&](const Tensor& x) { return function_of(program)(x)[0]; };
  const Function derivative = trace(grad(f), f64());
  EXPECT_LE(calls_in(derivative), 8 * kDeep);
  EXPECT_EQ(value_of(derivative, 3), 6 * kDeepFactor);
  const auto along = [&](const Tensor& x) {
    return jvp(f, std::tuple{x}, std::tuple{Tensor(1.0)}).second;
  };
  EXPECT_EQ(value_of(trace(along, f64()), 3), 6 * kDeepFactor);
  EXPECT_EQ(value_of(trace(grad(grad(f)), f64()), 3), 2 * kDeepFactor);
}

TEST(Calls, AreBatchedAsCalls) {
  const Function program = parse_stablehlo_text(tree(kDeep, "1.0"));
  const auto f = [&](const Tensor& x) { return function_of(program)(x)[0]; };
  const Function lanes = trace(vmap(f), f64({3}));
  EXPECT_LE(calls_in(lanes), 2 * kDeep);
  const Literal got = compile(lanes).run({Literal::from(std::vector<double>{1, 2, 3})})[0];
  EXPECT_TRUE(got.identical(
      Literal::from(std::vector<double>{kDeepFactor, 4 * kDeepFactor, 9 * kDeepFactor})));
}

TEST(Calls, OfDifferentValuesAreDifferent) {
  // f<k>(x) = 1.25^k x^2.
  for (const int depth : {1, 6, 14}) {  // the last one is too large to be inlined as a whole
    const Function program = parse_stablehlo_text(tree(depth, "0.5"));
    const double factor = std::pow(1.25, depth);
    EXPECT_NEAR(value_of(program, 3), 9 * factor, 1e-12 * factor) << depth;
    const auto f = [&](const Tensor& x) { return function_of(program)(x)[0]; };
    EXPECT_NEAR(value_of(trace(grad(f), f64()), 3), 6 * factor, 1e-12 * factor) << depth;
  }
}

TEST(Calls, RunLazilyEagerlyAndUnderJit) {
  const Function program = parse_stablehlo_text(tree(4, "0.5"));
  const auto f = [&](const Tensor& x) { return function_of(program)(x)[0]; };
  const double want = 9 * std::pow(1.25, 4);
  EXPECT_NEAR(f(Tensor(3.0)).item<double>(), want, 1e-12);
  EXPECT_NEAR(jit(f)(Tensor(3.0)).item<double>(), want, 1e-12);
  const EagerScope eager;
  EXPECT_NEAR(f(Tensor(3.0)).item<double>(), want, 1e-12);
}

TEST(Calls, EndWithTheRunsTime) {
  // @f0 is a loop without an end, and the program is too large to inline the functions around it.
  std::string text = tree(kDeep, "1.0");
  const std::string product = "  %0 = stablehlo.multiply %x, %x : tensor<f64>\n";
  text.replace(text.find(product), product.size(), R"(
  %0 = stablehlo.while(%y = %x) : tensor<f64>
  cond {
    %p = stablehlo.compare EQ, %y, %y : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %z = stablehlo.sine %y : tensor<f64>
    stablehlo.return %z : tensor<f64>
  }
)");
  const Executable program = compile(parse_stablehlo_text(text));
  EXPECT_THROW(program.run({Literal::scalar(3.0)}, {.deadline = std::chrono::milliseconds(5)}),
               DeadlineExceeded);
}

TEST(Calls, SurviveEveryText) {
  const Function program = parse_stablehlo_text(tree(5, "0.5"));
  const double value = value_of(program, 3);
  const std::string stablehlo = to_stablehlo_text(program);
  EXPECT_THAT(stablehlo, HasSubstr("func.func private @f4("));
  const Function again = parse_stablehlo_text(stablehlo);
  EXPECT_TRUE(ir::structure_of(again) == ir::structure_of(program)) << stablehlo;
  EXPECT_EQ(to_stablehlo_text(again), stablehlo);
  const std::string hlo = to_hlo_text(program);
  const Function from_hlo = parse_hlo_text(hlo);
  EXPECT_EQ(calls_in(from_hlo), calls_in(program)) << hlo;
  EXPECT_EQ(to_hlo_text(from_hlo), hlo);
  EXPECT_EQ(value_of(from_hlo, 3), value);
  const std::string own = to_text(program, {.full = true});
  const Function from_own = parse_text(own);
  EXPECT_TRUE(ir::structure_of(from_own) == ir::structure_of(program)) << own;
  EXPECT_EQ(to_text(from_own, {.full = true}), own);
  for (const std::string& picture : {to_dot(program), to_html(program)})
    EXPECT_THAT(picture, HasSubstr("f4"));
}

TEST(Calls, OfFunctionsWithLoops) {
  const Function program = parse_stablehlo_text(R"(
func.func @main(%x: tensor<f64>, %n: tensor<i32>) -> tensor<f64> {
  %0 = call @power(%x, %n) : (tensor<f64>, tensor<i32>) -> tensor<f64>
  %1 = call @power(%0, %n) : (tensor<f64>, tensor<i32>) -> tensor<f64>
  return %1 : tensor<f64>
}
func.func private @power(%x: tensor<f64>, %n: tensor<i32>) -> tensor<f64> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %unit = stablehlo.constant dense<1.0> : tensor<f64>
  %r:4 = stablehlo.while(%i = %zero, %y = %unit, %b = %x, %m = %n) : tensor<i32>, tensor<f64>, tensor<f64>, tensor<i32>
  cond {
    %p = stablehlo.compare LT, %i, %m, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.multiply %y, %b : tensor<f64>
    stablehlo.return %j, %z, %b, %m : tensor<i32>, tensor<f64>, tensor<f64>, tensor<i32>
  }
  return %r#1 : tensor<f64>
})");
  EXPECT_EQ(calls_in(program), 2);
  const auto power = [&](const Tensor& x, const Tensor& n) {
    return function_of(program)(x, n)[0];
  };
  for (const int n : {0, 1, 3}) {
    const double all = std::pow(1.5, n * n), slope = n * n * std::pow(1.5, n * n - 1);
    const std::vector<Literal> arguments{Literal::scalar(1.5), Literal::scalar(n)};
    EXPECT_NEAR(compile(program).run(arguments)[0].item<double>(), all, 1e-12 * all);
    const Function derivative = trace(grad(power), f64(), s32());
    EXPECT_NEAR(compile(derivative).run(arguments)[0].item<double>(), slope, 1e-12 * all) << n;
  }
}

TEST(Calls, OfFunctionsThatNeedTheValuesOfArgumentsAreRead) {
  const Function program = parse_stablehlo_text(R"(
func.func @main(%x: tensor<6xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  %a = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %b = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
  %0 = call @shaped(%x, %a) : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = call @shaped(%x, %b) : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %2 = stablehlo.convert %0 : (tensor<?x?xf32>) -> tensor<2x3xf32>
  %3 = stablehlo.convert %1 : (tensor<?x?xf32>) -> tensor<3x2xf32>
  return %2, %3 : tensor<2x3xf32>, tensor<3x2xf32>
}
func.func private @shaped(%x: tensor<6xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
})");
  EXPECT_EQ(program.results(), (std::vector<TensorType>{f32({2, 3}), f32({3, 2})}));
}

/// The message of what `parse` throws.
template <class Parse>
std::string parse_error_of(const Parse& parse) {
  try {
    parse();
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Calls, WithoutEndAreErrors) {
  const std::string text = R"(
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @a(%x) : (tensor<f32>) -> tensor<f32>
  %1 = call @a(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @a(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @b(%x) : (tensor<f32>) -> tensor<f32>
  %1 = call @b(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @b(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @a(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
})";
  EXPECT_THAT(parse_error_of([&] { parse_stablehlo_text(text); }), HasSubstr("without end"));
}

TEST(Calls, OfTheOwnTextAreChecked) {
  const std::string square =
      "func square(%x: f32[]) -> (f32[]) {\n  %0: f32[] = multiply %x, %x\n"
      "  return %0\n}\n";
  const std::string caller = "func main(%x: f32[]) -> (f32[]) {\n  %0: f32[] = call @";
  const auto message = [&](const std::string& text) {
    return parse_error_of([&] { parse_text(text); });
  };
  EXPECT_EQ(message(square + caller + "square %x\n  return %0\n}\n"), "no error");
  EXPECT_THAT(message(square + caller + "cube %x\n  return %0\n}\n"),
              HasSubstr("there is no function cube here"));
  EXPECT_THAT(message(square + square + caller + "square %x\n  return %0\n}\n"),
              HasSubstr("square is defined twice"));
  EXPECT_THAT(message(square + square + square), HasSubstr("square is defined twice"));
  EXPECT_THAT(message(square + "func main(%x: f32[]) -> (f32[]) {\n  return %x\n}\n"),
              HasSubstr("nothing calls square"));
  EXPECT_THAT(message(square + caller + "square %x, %x\n  return %0\n}\n"),
              HasSubstr("1 parameters"));
}

}  // namespace
}  // namespace rondo
