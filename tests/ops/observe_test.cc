// tap, print, progress.
#include <cstdint>
#include <string>

#include "ops/expanded.h"
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

TEST(Tap, GivesBackItsOperandAndTellsTheCaller) {
  const Executable run =
      compile(trace([](Tensor x) { return tap(x * 2, "doubled") + 1; }, f32({2})));
  std::vector<std::string> seen;
  RunOptions options;
  options.on_tap = [&](std::string_view name, const Literal& value) {
    seen.push_back(std::string(name) + " " + value.str());
  };
  const Literal x = Literal::from<float>({1, 2}, {2});
  expect_values<float>(run.run({x}, options)[0], {2}, {3, 5});
  EXPECT_EQ(seen, (std::vector<std::string>{"doubled f32[2] {2, 4}"}));
  expect_values<float>(run.run({x})[0], {2}, {3, 5});  // no callback
}

TEST(Tap, IsNeitherMergedNorMovedOutOfALoop) {
  const auto f = [](Tensor x) {
    return fori_loop(
        0, 3, [&](Tensor, Tensor sum) { return sum + tap(x, "x") + tap(x, "x"); }, x);
  };
  const Executable run = compile(trace(f, f32()));
  int taps = 0;
  RunOptions options;
  options.on_tap = [&](std::string_view, const Literal&) { taps++; };
  expect_values<float>(run.run({Literal::scalar(1.0f)}, options)[0], {}, {7});
  EXPECT_EQ(taps, 6);
}

TEST(Tap, TakesEveryDtypeAndScalars) {
  for (int dtype = 0; dtype < kDTypeCount; dtype++) {
    const TensorType type{static_cast<DType>(dtype), {2}};
    EXPECT_EQ(tap(Literal::zeros(type), "zeros").eval().type(), type);
  }
  expect_scalar(tap(3, "three"), 3);
}

TEST(Print, WritesALineThroughItsFormat) {
  const Executable run = compile(trace([](Tensor x) { return print(x, "x = {} {{m}}"); }, f32()));
  ::testing::internal::CaptureStdout();
  expect_values<float>(run.run({Literal::scalar(2.5f)})[0], {}, {2.5f});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "x = 2.5 {m}\n");
}

TEST(Print, RoundsToThePrecisionAskedFor) {
  const auto printed = [](Tensor value, const char* format) {
    ::testing::internal::CaptureStdout();
    (void)print(value, format).eval();
    return ::testing::internal::GetCapturedStdout();
  };
  EXPECT_EQ(printed(2.0f / 3, "x = {:.3f}, {{}}"), "x = 0.667, {}\n");
  EXPECT_EQ(printed(12345.678, "{:.2e}"), "1.23e+04\n");
  EXPECT_EQ(printed(constant({1.25, -0.5}), "v = {:.1f}."), "v = f64[2] {1.2, -0.5}.\n");
  EXPECT_EQ(printed(7, "{:.3f}"), "7\n");  // integers have no digits to drop
}

TEST(Print, RefusesFormatsWhenTheyAreWritten) {
  const Tensor x = vec<float>({1});
  const std::string remedy = "print(x, \"x = {}\")";
  const std::string here = "at observe_test.cc:" + std::to_string(__LINE__ + 1);
  expect_error([&] { print(x, "x"); },
               {"print: the format \"x\" has no {} for the value", remedy, here});
  expect_error([&] { print(x, ""); }, {"has no {} for the value"});
  expect_error(
      [&] { print(x, "{} and {}"); },
      {"the format \"{} and {}\" has a second {} at column 8; there is one value", remedy});
  for (const char* wrong : {"{:.3}", "{:3f}", "{:.f}", "{:.3d}", "{:.123f}", "{:.3f"}) {
    expect_error([&] { print(x, wrong); },
                 {"has a { at column 1 that is not followed by }", remedy, "{:.3f}"});
  }
  expect_error([&] { print(x, "{:.3f}{}"); }, {"a second {} at column 7"});
  expect_error([&] { print(x, "x{"); }, {"has a { at column 2 that is not followed by }"});
  expect_error([&] { print(x, "{} }"); }, {"has a } at column 4 that closes nothing"});
  expect_error([&] { print(Tensor(), "{}"); }, {"print: an operand is an empty Tensor"});
}

TEST(Progress, GivesBackItsIndexAndTellsTheCaller) {
  const auto f = [](Tensor n) {
    return fori_loop(
        0, n, [&](Tensor i, Tensor sum) { return sum + progress(i, n); }, Tensor(0));
  };
  const Executable run = compile(trace(f, s32()));
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;
  RunOptions options;
  options.on_progress = [&](const Progress& p) {
    if (p.loop == "progress") seen.emplace_back(p.trip, p.of.value_or(-1));
  };
  expect_values<int>(run.run({Literal::scalar(3)}, options)[0], {}, {3});
  EXPECT_EQ(seen, (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 3}, {1, 3}, {2, 3}}));
}

TEST(Progress, TakesIntegerScalars) {
  EXPECT_EQ(progress(Tensor(std::int64_t{4}), 10).type(), s64());
  EXPECT_EQ(progress(Tensor(std::uint8_t{4}), Tensor(10)).type(), u8());
  expect_scalar(progress(4, 10), 4);
  expect_error([] { progress(1.5f, 10); }, {"progress: i is f32[]; it must be an integer scalar"});
  expect_error([] { progress(1, vec<int>({10})); },
               {"progress: n is s32[1]; it must be an integer scalar"});
  expect_error([] { progress(true, 10); }, {"progress: i is pred[]"});
}

TEST(Observers, AreNotInTextForOthers) {
  const Literal x = Literal::from<int>({5}, {});
  const auto f = [](Tensor t) { return progress(print(tap(t, "t") + 1, "{}"), 9) * 2; };
  const Function function = trace(f, s32());
  const Function expanded = passes::expand(function, passes::Target::kHlo);
  for (const ir::Node* node : expanded.body()) EXPECT_FALSE(node->op->observer);
  expect_values<int>(run_expanded(f, x)[0], {}, {12});
}

}  // namespace
}  // namespace rondo
