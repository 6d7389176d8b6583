// Loops of a text that count are read as the fori_loop or scan that they were written as.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rondo/rondo.h"

namespace rondo {
namespace {

/// How often an op stands in the program, in regions too.
int count(const Function& program, const std::string& op) {
  const std::string text = to_text(program);
  int found = 0;
  for (std::size_t at = text.find(" = " + op + " "); at != std::string::npos;
       at = text.find(" = " + op + " ", at + 1))
    found++;
  return found;
}

/// `while` on a counter, an array x of 4 rows and a sum, as JAX writes it. The condition compares
/// %i, and the body returns the next %i.
std::string loop(const std::string& start, const std::string& condition, const std::string& body,
                 const std::string& next = "%n = stablehlo.add %i, %one : tensor<i32>") {
  return R"(
func.func @main(%x: tensor<4xf32>, %limit: tensor<i32>) -> (tensor<i32>, tensor<f32>, tensor<4xf32>) {
  %start = stablehlo.constant dense<)" +
         start + R"(> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %fs = stablehlo.constant dense<0.0> : tensor<4xf32>
  %r:5 = stablehlo.while(%i = %start, %a = %x, %s = %f, %y = %fs, %l = %limit) : tensor<i32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<i32>
  cond {
    %p = stablehlo.compare )" +
         condition + R"(, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    )" + body +
         "\n    " + next + R"(
    stablehlo.return %n, %a, %t, %w, %l : tensor<i32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<i32>
  }
  return %r#0, %r#2, %r#3 : tensor<i32>, tensor<f32>, tensor<4xf32>
})";
}

/// Adds x at an index to the sum, and writes the sum there.
std::string running_sum(const std::string& index) {
  return R"(%v = stablehlo.dynamic_slice %a, )" + index +
         R"(, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
    %v0 = stablehlo.reshape %v : (tensor<1xf32>) -> tensor<f32>
    %t = stablehlo.add %s, %v0 : tensor<f32>
    %u = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %w = stablehlo.dynamic_update_slice %y, %u, )" +
         index + " : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>";
}

void expect_result(const Function& program, std::int32_t limit, std::int32_t counter, float sum,
                   const std::vector<float>& rows) {
  for (const bool optimize : {false, true}) {
    const std::vector<Literal> results =
        compile(program, {.optimize = optimize})
            .run({Literal::from<float>({1, 2, 4, 8}, {4}), Literal::scalar(limit)});
    EXPECT_EQ(results[0].item<std::int32_t>(), counter);
    EXPECT_EQ(results[1].item<float>(), sum);
    const auto data = results[2].data<float>();
    EXPECT_EQ(std::vector<float>(data.begin(), data.end()), rows);
  }
}

bool same_floats(const Literal& a, const Literal& b) {
  const auto x = a.data<float>(), y = b.data<float>();
  return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

TEST(ReadLoops, RowsInOrderAreAScan) {
  const Function program = parse_stablehlo_text(loop("0", "LT, %i, %four", running_sum("%i")));
  EXPECT_EQ(count(program, "scan"), 1);
  EXPECT_EQ(count(program, "while"), 0);
  EXPECT_EQ(count(program, "dynamic_slice"), 0);
  EXPECT_EQ(count(program, "dynamic_update_slice"), 0);
  expect_result(program, 0, 4, 15, {1, 3, 7, 15});
}

TEST(ReadLoops, RowsFromTheLastAreAReverseScan) {
  const Function program = parse_stablehlo_text(
      loop("0", "LT, %i, %four",
           "%k = stablehlo.subtract %three, %i : tensor<i32>\n    " + running_sum("%k")));
  EXPECT_EQ(count(program, "scan"), 1);
  EXPECT_NE(to_text(program).find("reverse=true"), std::string::npos);
  expect_result(program, 0, 4, 15, {15, 14, 12, 8});
}

// JAX adds the size to a negative index, also where it knows that there is none.
TEST(ReadLoops, AnIndexThatIsNeverNegativeIsTheCounter) {
  const Function program = parse_stablehlo_text(
      loop("0", "LT, %i, %four",
           R"(%less = stablehlo.compare LT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %more = stablehlo.add %i, %four : tensor<i32>
    %k = stablehlo.select %less, %more, %i : tensor<i1>, tensor<i32>
    )" + running_sum("%k")));
  EXPECT_EQ(count(program, "scan"), 1);
  expect_result(program, 0, 4, 15, {1, 3, 7, 15});
}

TEST(ReadLoops, ACounterThatStartsElsewhereOrGoesBackIsAScan) {
  const Function down = parse_stablehlo_text(loop(
      "3", "GE, %i, %zero", running_sum("%i"), "%n = stablehlo.subtract %i, %one : tensor<i32>"));
  EXPECT_EQ(count(down, "scan"), 1);
  expect_result(down, 0, -1, 15, {15, 14, 12, 8});
  const Function late = parse_stablehlo_text(
      loop("1", "LE, %i, %four",
           "%k = stablehlo.subtract %i, %one : tensor<i32>\n    " + running_sum("%k")));
  EXPECT_EQ(count(late, "scan"), 1);
  expect_result(late, 0, 5, 15, {1, 3, 7, 15});
}

TEST(ReadLoops, OtherUsesOfTheCounterAreAForiLoop) {
  const std::string weighted = R"(%if = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %v = stablehlo.dynamic_slice %a, %i, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
    %v0 = stablehlo.reshape %v : (tensor<1xf32>) -> tensor<f32>
    %m = stablehlo.multiply %if, %v0 : tensor<f32>
    %t = stablehlo.add %s, %m : tensor<f32>
    %w = stablehlo.add %y, %fs : tensor<4xf32>)";
  const Function program = parse_stablehlo_text(loop("0", "LT, %i, %four", weighted));
  EXPECT_EQ(count(program, "fori_loop"), 1);
  expect_result(program, 0, 4, 34, {0, 0, 0, 0});
  const Function back = parse_stablehlo_text(
      loop("3", "GT, %i, %zero", weighted, "%n = stablehlo.subtract %i, %one : tensor<i32>"));
  EXPECT_EQ(count(back, "fori_loop"), 1);
  expect_result(back, 0, 0, 34, {0, 0, 0, 0});
}

// Rows past the end are clamped, and part of the rows leaves the others as they were.
TEST(ReadLoops, FewerOrOtherRowsAreAForiLoop) {
  const Function fewer = parse_stablehlo_text(loop("0", "LT, %i, %three", running_sum("%i")));
  EXPECT_EQ(count(fewer, "fori_loop"), 1);
  expect_result(fewer, 0, 3, 7, {1, 3, 7, 0});
  const Function shifted = parse_stablehlo_text(loop(
      "0", "LT, %i, %four", "%k = stablehlo.add %i, %one : tensor<i32>\n    " + running_sum("%k")));
  EXPECT_EQ(count(shifted, "fori_loop"), 1);
  expect_result(shifted, 0, 4, 22, {0, 2, 6, 22});
}

TEST(ReadLoops, BoundsThatAreComputedAreAForiLoop) {
  const Function program = parse_stablehlo_text(loop("0", "LT, %i, %l", running_sum("%i")));
  EXPECT_EQ(count(program, "fori_loop"), 1);
  expect_result(program, 2, 2, 3, {1, 3, 0, 0});
  expect_result(program, -5, 0, 0, {0, 0, 0, 0});
}

TEST(ReadLoops, AConditionOnValuesStaysAWhile) {
  const Function program = parse_stablehlo_text(R"(
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %r = stablehlo.while(%a = %x) : tensor<f32>
  cond {
    %p = stablehlo.compare GT, %a, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %n = stablehlo.multiply %a, %half : tensor<f32>
    stablehlo.return %n : tensor<f32>
  }
  return %r : tensor<f32>
})");
  EXPECT_EQ(count(program, "while"), 1);
}

// What is printed is a while; reading it gives the loop again, with the same gradient.
TEST(ReadLoops, PrintedLoopsAreReadAsThemselves) {
  const auto f = [](Tensor x) {
    auto [carry, ys] = scan(
        [](Tensor c, Tensor row) {
          const Tensor next = 0.5f * c + row;
          return std::pair{next, sin(next)};
        },
        Tensor(0.0f), x);
    return fori_loop(
        0, 3, [ys = ys](Tensor i, Tensor sum) { return sum + convert(i, DType::kF32) * ys[i]; },
        carry);
  };
  const Function made = trace(f, f32({5}));
  for (const Function& read :
       {parse_stablehlo_text(to_stablehlo_text(made)), parse_hlo_text(to_hlo_text(made))}) {
    EXPECT_EQ(count(read, "scan"), 1) << to_text(read);
    EXPECT_EQ(count(read, "fori_loop"), 1) << to_text(read);
    EXPECT_EQ(count(read, "while"), 0);
    const auto g = function_of(read);
    const Literal x = Literal::from<float>({1, 2, 3, 4, 5}, {5});
    const Literal slope = jit(grad([&g](Tensor t) { return g(t)[0]; }))(x).eval();
    const Literal expected = jit(grad(f))(x).eval();
    EXPECT_TRUE(same_floats(slope, expected)) << to_text(read);
  }
}

}  // namespace
}  // namespace rondo
