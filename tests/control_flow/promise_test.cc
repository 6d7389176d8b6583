// Promised trip counts in programs that become text. The interpreter runs the program that XLA
// would get.
#include "control_flow/promise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "passes/expand.h"
#include "support/expect.h"
#include "text/programs.h"

namespace rondo {
namespace {

using namespace testing;

/// Doubles x (and counts) `wanted` times, with a promise of five.
Function doubling() {
  return trace(
      [](Tensor x, Tensor wanted) {
        return while_loop(
            [&](Tensor, Tensor n, Tensor) { return n < wanted; },
            [](Tensor y, Tensor n, Tensor z) { return std::tuple(y * 2, n + 1, z * z); },
            std::tuple(x, 0, std::complex<float>(0, 1)), {.max_trip_count = 5, .name = "grow"});
      },
      f32({2}), s32());
}

std::vector<Literal> run_as_text(std::int32_t wanted) {
  const Function expanded = passes::expand(doubling(), passes::Target::kHlo);
  expanded.verify();
  return compile(expanded, {.optimize = false})
      .run({Literal::from<float>({1, -3}, {2}), Literal::scalar(wanted)});
}

TEST(Promise, KeptItChangesNothing) {
  for (std::int32_t wanted = 0; wanted <= 5; wanted++) {
    const std::vector<Literal> got = run_as_text(wanted);
    ASSERT_EQ(got.size(), 3u);
    expect_values<float>(got[0], {2}, {std::ldexp(1.0f, wanted), std::ldexp(-3.0f, wanted)});
    EXPECT_EQ(got[1].item<std::int32_t>(), wanted);
    EXPECT_EQ(got[2].item<std::complex<float>>(), wanted == 0   ? std::complex<float>(0, 1)
                                                  : wanted == 1 ? std::complex<float>(-1, 0)
                                                                : std::complex<float>(1, 0));
  }
}

TEST(Promise, BrokenItGivesNan) {
  for (const std::int32_t wanted : {6, 7, 1000000000}) {
    const std::vector<Literal> got = run_as_text(wanted);
    expect_values<float>(got[0], {2}, {NAN, NAN});
    EXPECT_EQ(got[1].item<std::int32_t>(), 5);
    EXPECT_TRUE(std::isnan(got[2].item<std::complex<float>>().real()));
  }
}

TEST(Promise, OfNoTripAtAll) {
  const Function function = trace(
      [](Tensor x) {
        return while_loop([](Tensor y) { return y < 1.0f; }, [](Tensor y) { return y + 1; }, x,
                          {.max_trip_count = 0});
      },
      f32());
  const Executable run =
      compile(passes::expand(function, passes::Target::kStablehlo), {.optimize = false});
  EXPECT_EQ(run.run({Literal::scalar(2.0f)})[0].item<float>(), 2);
  EXPECT_TRUE(std::isnan(run.run({Literal::scalar(0.0f)})[0].item<float>()));
}

TEST(Promise, TheInterpreterChecksItItself) {
  const Function function = doubling();
  EXPECT_TRUE(passes::expand(function, passes::Target::kInterpreter).same_as(function));
}

TEST(Promise, IntegersHaveNoNanSoTheLoopStays) {
  const Function function = trace(
      [](Tensor x) {
        return while_loop([](Tensor y) { return y < 9; }, [](Tensor y) { return y + 1; }, x,
                          {.max_trip_count = 3});
      },
      s32());
  EXPECT_TRUE(passes::expand(function, passes::Target::kHlo).same_as(function));
}

TEST(Promise, AKnownTripCountThatKeepsItNeedsNoCheck) {
  const Tensor x = parameter(f32(), "x");
  for (const std::int64_t promised : {4, 3}) {
    control_flow::WhileAttributes attributes;
    attributes.carries = 1;
    attributes.trip_count = 4;
    attributes.max_trip_count = promised;
    const Tensor y = parameter(f32(), "x"), z = parameter(f32(), "x");
    const Function go_on = Function::make("cond", {y}, {Operand(y, kPlace) < 4.0f});
    const Tensor loop = ir::make(control_flow::kWhile, {x}, attributes, kPlace,
                                 {go_on, Function::make("body", {z}, {Operand(z, kPlace) + 1.0f})});
    EXPECT_EQ(control_flow::promise_needs_no_check(*loop.node()), promised == 4);
  }
}

}  // namespace
}  // namespace rondo
