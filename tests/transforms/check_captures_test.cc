// Detects a jitted function that would now be traced to another program than the one it runs:
// captured C++ values and tensors that have changed since the first call.
#ifdef NDEBUG
#error "tests/CMakeLists.txt compiles this file without NDEBUG"
#endif
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "errors/message.h"
#include "rondo/rondo.h"
#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_parts;
using testing::message_of;

const JitOptions kEachCall{.check_captures = true};

TEST(CheckCaptures, RefusesANumberThatHasChanged) {
  float k = 2;
  std::string line;
  const auto f = jit(
      [&](Tensor x) {
        line = RONDO_HERE;
        return x * k;
      },
      kEachCall);
  EXPECT_EQ(f(3.0f).item<float>(), 6);
  EXPECT_EQ(f(4.0f).item<float>(), 8);
  k = 5;
  const std::string message = message_of([&] { (void)f(3.0f); });
  line.resize(line.rfind(':') + 1);  // the file, with the line after it
  expect_parts(message, {"multiply takes the constant f32[] 5, and took f32[] 2", line,
                         "Pass what changes as an argument"});
  k = 2;
  EXPECT_EQ(f(3.0f).item<float>(), 6);
}

TEST(CheckCaptures, NamesTheLineOfTheOpAndOfTheCall) {
  float k = 2;
  int op_line = 0;
  const auto f = jit(
      [&](Tensor x) {
        const Tensor y = x + 1;
        op_line = __LINE__ + 1;
        return y - k;
      },
      kEachCall);
  (void)f(1.0f);
  k = 3;
  const int call_line = __LINE__ + 1;
  const std::string message = message_of([&] { (void)f(1.0f); });
  const auto at = [](int line) { return "check_captures_test.cc:" + std::to_string(line) + "\n"; };
  expect_parts(message, {"subtract takes", "  at ", at(op_line), "in the call at", at(call_line)});
}

TEST(CheckCaptures, RefusesATensorThatWasAssignedAnewWithOtherElements) {
  std::vector<float> numbers(100, 1.0f);
  Tensor weight = constant(numbers);
  const auto f = jit([&](Tensor x) { return sum(x * weight); }, kEachCall);
  EXPECT_EQ(f(2.0f).item<float>(), 200);
  weight = constant(numbers);  // another tensor with the same elements gives the same program
  EXPECT_EQ(f(2.0f).item<float>(), 200);
  numbers[70] = 4;
  weight = constant(numbers);
  expect_parts(message_of([&] { (void)f(2.0f); }), {"f32[100]", "differ from element 70 on"});
}

TEST(CheckCaptures, LooksIntoLoopsAndBranches) {
  float rate = 0.5f;
  bool grows = true;
  int trips = 3;
  const auto f = jit(
      [&](Tensor x) {
        return fori_loop(
            0, trips,
            [&](Tensor, Tensor y) {
              return cond(
                  y > 0, [&](Tensor z) { return grows ? z * rate : z / rate; },
                  [](Tensor z) { return z; }, y);
            },
            x);
      },
      kEachCall);
  EXPECT_EQ(f(8.0f).item<float>(), 1);
  rate = 0.25f;
  expect_parts(message_of([&] { (void)f(8.0f); }), {"multiply takes", "f32[] 0.25", "f32[] 0.5"});
  rate = 0.5f;
  grows = false;
  expect_parts(message_of([&] { (void)f(8.0f); }),
               {"divide f32[] is in the place of multiply f32[]"});
  grows = true;
  trips = 4;
  expect_parts(message_of([&] { (void)f(8.0f); }), {"4", "3"});
  trips = 3;
  EXPECT_EQ(f(8.0f).item<float>(), 1);
}

TEST(CheckCaptures, TellsWhatIsNewOrGone) {
  int steps = 1;
  const auto f = jit(
      [&](Tensor x) {
        Tensor y = x;
        for (int i = 0; i < steps; i++) y = sin(y);
        return y;
      },
      kEachCall);
  (void)f(1.0f);
  steps = 2;
  expect_parts(message_of([&] { (void)f(1.0f); }), {"sin f32[] is new"});
  steps = 0;
  expect_parts(message_of([&] { (void)f(1.0f); }), {"sin f32[] is gone"});
}

TEST(CheckCaptures, TellsOperandsAttributesAndResults) {
  bool other = false;
  const auto operands = jit([&](Tensor a, Tensor b) { return other ? b - a : a - b; }, kEachCall);
  const auto attributes = jit([&](Tensor x) { return sum(x, {other ? 1 : 0}); }, kEachCall);
  const auto results =
      jit([&](Tensor a, Tensor b) { return other ? std::pair(b, a) : std::pair(a, b); }, kEachCall);
  (void)operands(1.0f, 2.0f);
  (void)attributes(ones(f32({2, 2})));
  (void)results(1.0f, 2.0f);
  other = true;
  expect_parts(message_of([&] { (void)operands(1.0f, 2.0f); }),
               {"subtract f32[] takes other values"});
  expect_parts(message_of([&] {
                 (void)attributes(ones(f32({2, 2})));
               }),
               {"{dimensions=[1]}", "{dimensions=[0]}"});
  expect_parts(message_of([&] { (void)results(1.0f, 2.0f); }), {"its results"});
}

/// Ends the process with status 0 if it holds.
void expect_check_in_the_second_call() {
  unsetenv("RONDO_CHECK_CAPTURES");
  int traces = 0;
  float k = 2;
  const auto count = [&](Tensor x) {
    traces++;
    return x * k;
  };
  const auto f = jit(count);
  for (int i = 0; i < 5; i++) EXPECT_EQ(f(3.0f).item<float>(), 6);
  EXPECT_EQ(traces, 2);
  k = 4;
  EXPECT_EQ(f(3.0f).item<float>(), 6);  // unchecked: the check has been made
  const auto g = jit(count);
  EXPECT_EQ(g(3.0f).item<float>(), 12);
  k = 5;
  for (int i = 0; i < 2; i++) message_of([&] { (void)g(3.0f); });
  EXPECT_EQ(jit(count)(ones(f32({2}))).eval().data<float>()[1], 5);
  traces = 0;
  const auto never = jit(count, {.check_captures = false});
  for (int i = 0; i < 5; i++) (void)never(3.0f);
  EXPECT_EQ(traces, 1);
  std::exit(::testing::Test::HasFailure() ? 1 : 0);
}

TEST(CheckCapturesDeathTest, IsMadeInTheSecondCallUnlessSomethingElseIsSaid) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not read its environment
  EXPECT_EXIT(expect_check_in_the_second_call(), ::testing::ExitedWithCode(0), "");
}

TEST(CheckCapturesDeathTest, IsMadeInEachCallByTheEnvironment) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has asked for nothing yet
  const auto third_call = [] {
    setenv("RONDO_CHECK_CAPTURES", "1", 1);
    float k = 2;
    const auto f = jit([&](Tensor x) { return x * k; });
    (void)f(1.0f);
    (void)f(1.0f);
    k = 3;
    try {
      (void)f(1.0f);
    } catch (const TraceError&) {
      std::exit(7);
    }
    std::exit(8);
  };
  EXPECT_EXIT(third_call(), ::testing::ExitedWithCode(7), "");
}

TEST(CheckCaptures, FindsNothingInWhatStaysTheSame) {
  const Tensor lazy = sin(iota(f32({200}), 0));
  const Tensor nan = full(f32({3}), std::numeric_limits<float>::quiet_NaN());
  const auto inner = jit([](Tensor x) { return x * 3; });
  const auto own =
      custom_vjp([](Tensor x) { return x * x; }, [](Tensor x) { return std::pair(x * x, x); },
                 [](Tensor x, Tensor d) { return std::tuple(2 * x * d); });
  const auto forward = custom_jvp([](Tensor x) { return exp(x); },
                                  [](std::tuple<Tensor> p, std::tuple<Tensor> t) {
                                    const Tensor y = exp(std::get<0>(p));
                                    return std::pair(y, y * std::get<0>(t));
                                  });
  const auto f = jit(
      [&](Tensor x, Tensor key) {
        Tensor y = tap(x + random::normal(key, f32({200})) + lazy, "y");
        y = print(sort(y, 0), "{}");
        y = fori_loop(
            0, 2, [&](Tensor i, Tensor z) { return z + convert(progress(i, 2), DType::kF32); }, y);
        y = y + inner(y) + vmap(grad(own))(y) + vmap(forward)(y * 0);
        y = y + grad([&](Tensor w) {
              return sum(while_loop([](Tensor s) { return sum(s) < 10; },
                                    [](Tensor s) { return s * 2; }, w * w + 1,
                                    {.max_trip_count = 8, .name = "doubling"}));
            })(y);
        y = scan([](Tensor c, Tensor v) { return std::pair(c + v, c * v); }, Tensor(0.0f), y)
                .second;
        y = y + checkpoint([](Tensor z) { return cos(z); })(y);
        const Tensor third =
            switch_case(convert(x[0], DType::kS32),
                        std::tuple([](Tensor z) { return z; }, [](Tensor z) { return -z; }), y);
        return std::pair(third + cumsum(y, 0), sum(nan));
      },
      {.run = {.on_tap = [](std::string_view, const Literal&) {}}, .check_captures = true});
  ::testing::internal::CaptureStdout();  // of print
  const Literal first = f(zeros(f32({200})), random::key(1)).first.eval();
  for (int i = 0; i < 3; i++)
    EXPECT_TRUE(f(zeros(f32({200})), random::key(1)).first.eval().identical(first));
  ::testing::internal::GetCapturedStdout();
}

TEST(Jit, TakesOptionsOfRunsAlone) {
  std::vector<std::string> taps;
  const auto f = [](Tensor x) { return tap(x * 2, "twice") + 1; };
  const auto on_tap = [&](std::string_view name, const Literal&) { taps.emplace_back(name); };
  EXPECT_EQ(jit(f, {.on_tap = on_tap, .threads = 2})(3).item<int>(), 7);
  EXPECT_EQ(taps, std::vector<std::string>{"twice"});
  EXPECT_EQ(jit(f, {})(3).item<int>(), 7);
  const auto endless = [](Tensor n) {
    return while_loop([&](Tensor i) { return i < n; }, [](Tensor i) { return i + 1; }, 0);
  };
  EXPECT_THROW((void)jit(endless, {.max_iterations = 3})(10), TooManyIterations);
}

}  // namespace
}  // namespace rondo
