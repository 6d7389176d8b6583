// Programs of StableHLO that test themselves.
#include "rondo/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "rondo/rondo.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

/// The report on one function with this body.
CheckReport checked(const std::string& body) {
  return run_checks("func.func @f() {\n" + body + "\n  func.return\n}\n");
}
void expect_passes(const std::string& body) {
  const CheckReport report = checked(body);
  ASSERT_EQ(report.functions.size(), 1u);
  EXPECT_EQ(report.functions[0].message, "") << body;
  EXPECT_EQ(report.passed, 1);
}
void expect_fails(const std::string& body, const std::string& message) {
  const CheckReport report = checked(body);
  ASSERT_EQ(report.functions.size(), 1u);
  EXPECT_THAT(report.functions[0].message, HasSubstr(message)) << body;
  EXPECT_EQ(report.failed, 1);
}

const std::string kTwo = R"(
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[1.0, 2.00001]> : tensor<2xf32>
)";

TEST(Checks, CompareByValueToleranceAndFloatsBetween) {
  expect_passes(kTwo + "check.expect_eq %a, %a : tensor<2xf32>");
  expect_fails(kTwo + "check.expect_eq %a, %b : tensor<2xf32>",
               "line 5: 1 of 2 elements are not equal: [1] is 2 and should be 2.00001");
  expect_passes(kTwo + "check.expect_eq_const %a, dense<[1.0, 2.0]> : tensor<2xf32>");
  expect_passes(kTwo + "check.expect_almost_eq %a, %b : tensor<2xf32>");
  expect_fails(kTwo + "check.expect_almost_eq %a, %b, tolerance = 1.0e-6 : tensor<2xf32>",
               "within 1e-06 of each other");
  expect_passes(kTwo +
                "check.expect_almost_eq_const %a, dense<[1.0, 2.1]> : tensor<2xf32> {tolerance = "
                "0.2 : f64}");
  // 1e-5 is 42 ulps of 2.0f.
  expect_passes(kTwo +
                "check.expect_close %a, %b, max_ulp_difference = 42 : tensor<2xf32>, "
                "tensor<2xf32>");
  expect_fails(kTwo +
                   "check.expect_close %a, %b, max_ulp_difference = 41 : tensor<2xf32>, "
                   "tensor<2xf32>",
               "at most 41 floats apart");
  expect_fails(kTwo +
                   "check.expect_close %a, %a, max_ulp_difference = 42, min_ulp_difference = 1 "
                   ": tensor<2xf32>, tensor<2xf32>",
               "1 to 42 floats apart");
}

TEST(Checks, ZerosAreEqualAndNansAreClose) {
  const std::string values = R"(
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %minus = stablehlo.constant dense<-0.0> : tensor<f64>
  %nan = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
  %inf = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
)";
  expect_passes(values + "check.expect_eq %zero, %minus : tensor<f64>");
  expect_passes(values + "check.expect_almost_eq %nan, %nan : tensor<f64>");
  expect_passes(values + "check.expect_almost_eq %inf, %inf : tensor<f64>");
  expect_fails(values + "check.expect_almost_eq %inf, %zero : tensor<f64>", "[] is inf");
  expect_fails(values + "check.expect_eq %nan, %nan : tensor<f64>", "nan");
}

TEST(Checks, CustomCallsOfTheirNames) {
  expect_passes(kTwo +
                "stablehlo.custom_call @check.expect_almost_eq(%a, %b) {has_side_effect = true} : "
                "(tensor<2xf32>, tensor<2xf32>) -> ()");
  expect_passes(kTwo +
                "%t = stablehlo.custom_call @check.eq(%a, %b) : (tensor<2xf32>, "
                "tensor<2xf32>) -> tensor<i1>");
}

TEST(Checks, FunctionsThatCannotBeReadFailAndOthersGoOn) {
  const CheckReport report = run_checks(R"(func.func @unknown() {
  %a = stablehlo.constant dense<1> : tensor<i32>
  %b = other.op %a : tensor<i32>
  check.expect_eq %b, %a : tensor<i32>
  func.return
}
func.func @takes(%a: tensor<i32>) {
  check.expect_eq %a, %a : tensor<i32>
  func.return
}
func.func @without(%a: tensor<i32>) -> tensor<i32> {
  func.return %a : tensor<i32>
}
// -----
func.func @unknown() {
  %a = stablehlo.constant dense<1> : tensor<i32>
  check.expect_eq %a, %a : tensor<i32>
  func.return
}
)");
  EXPECT_EQ(report.passed, 1);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.skipped, 1);
  ASSERT_EQ(report.functions.size(), 3u);
  EXPECT_THAT(report.functions[0].message, HasSubstr("line 3, column 8: other.op"));
  EXPECT_EQ(report.functions[1].message, "it takes arguments");
  EXPECT_EQ(report.functions[2].line, 15);
}

TEST(Checks, AProgramThatIsOnlyRunIgnoresThem) {
  const Function program = parse_stablehlo_text(R"(func.func @main() -> tensor<i32> {
  %a = stablehlo.constant dense<1> : tensor<i32>
  check.expect_eq_const %a, dense<2> : tensor<i32>
  func.return %a : tensor<i32>
})");
  EXPECT_EQ(compile(program).run(std::vector<Literal>{})[0].item<int>(), 1);
}

}  // namespace
}  // namespace rondo
