// EagerScope: lambdas run on each trip and see values; the results are those of the traced program.
#include <gtest/gtest.h>

#include <chrono>
#include <complex>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rondo/rondo.h"
#include "support/expect.h"

namespace rondo {
namespace {

using namespace testing;

TEST(Eager, WhileScanShowsItsValues) {
  std::vector<int> seen;
  const auto step = [&](Tensor c) {
    seen.push_back(c.item<int>());
    return std::pair(c * 2, std::pair(c, convert(c, DType::kF32) / 2));
  };
  const EagerScope eager;
  const auto all = while_scan([](Tensor c) { return c < 10; }, step, 1, {.max_trip_count = 6});
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 4, 8}));
  EXPECT_EQ(all.carry.item<int>(), 16);
  EXPECT_EQ(all.count.item<int>(), 4);
  expect_values<int>(all.ys.first, {6}, {1, 2, 4, 8, 0, 0});
  expect_values<float>(all.ys.second, {6}, {0.5f, 1, 2, 4, 0, 0});
}

TEST(Eager, WhileScanStopsAtItsLimitAndBeforeTheFirstTrip) {
  for (const bool is_eager : {false, true}) {
    std::optional<EagerScope> scope;
    if (is_eager) scope.emplace();
    const auto step = [](Tensor c) { return std::pair(c + 1, c); };
    const auto full = while_scan([](Tensor) { return true; }, step, 5, {.max_trip_count = 3});
    expect_values<int>(full.ys, {3}, {5, 6, 7});
    EXPECT_EQ(full.count.item<int>(), 3);
    const auto none = while_scan([](Tensor) { return false; }, step, 5, {.max_trip_count = 3});
    expect_values<int>(none.ys, {3}, {0, 0, 0});
    EXPECT_EQ(none.count.item<int>(), 0);
    EXPECT_EQ(none.carry.item<int>(), 5);
  }
}

TEST(Eager, AScopeInsideATracedFunctionDoesNothing) {
  const auto f = [](Tensor x) {
    const EagerScope eager;
    const Tensor scaled = fori_loop(
        0, 3, [&](Tensor, Tensor s) { return s * x; }, x);
    return cond(
        x > 1, [](Tensor s) { return s; }, [](Tensor s) { return -s; }, scaled);
  };
  EXPECT_EQ(compile(trace(f, f32())).run({Literal::scalar(2.0f)})[0].item<float>(), 16);
  EXPECT_EQ(grad(f)(2.0f).item<float>(), 32);
}

// Derivatives are taken of programs: a breakpoint in a body inside one does not see numbers.
TEST(Eager, ABodyInsideADerivativeIsTraced) {
  const EagerScope eager;
  int trips = 0;
  bool looks = false;
  const auto power = [&](Tensor x) {
    return fori_loop(
        0, 4,
        [&](Tensor, Tensor s) {
          trips++;
          if (looks) (void)s.item<float>();
          return s * x;
        },
        x);
  };
  const auto calls = [&](const auto& call, float value) {
    trips = 0;
    EXPECT_EQ(call().template item<float>(), value);
    return trips;
  };
  EXPECT_EQ(calls([&] { return power(2.0f); }, 32), 4);
  const auto by_grad = [&] { return grad(power)(2.0f); };
  const auto by_jvp = [&] { return jvp(power, std::tuple(2.0f), std::tuple(1.0f)).second; };
  const auto by_vjp = [&] { return std::get<0>(vjp(power, 2.0f).second(1.0f)); };
  EXPECT_EQ(calls(by_grad, 80), 1);
  EXPECT_EQ(calls(by_jvp, 80), 1);
  EXPECT_EQ(calls(by_vjp, 80), 1);
  looks = true;
  EXPECT_EQ(calls([&] { return power(2.0f); }, 32), 4);
  expect_error([&] { by_grad(); }, {"eval inside a trace", "eager_test.cc"});
  expect_error([&] { by_jvp(); }, {"eval inside a trace", "eager_test.cc"});
  expect_error([&] { by_vjp(); }, {"eval inside a trace", "eager_test.cc"});
}

TEST(Eager, ScalarsOfABranchTakeTheDtypeOfTheOther) {
  const Tensor x = constant({1.0f, 2.0f});
  for (const bool is_eager : {false, true}) {
    std::optional<EagerScope> scope;
    if (is_eager) scope.emplace();
    for (const bool taken : {false, true}) {
      const Tensor chosen = cond(
          taken, [] { return 0; }, [&] { return x[1]; });
      EXPECT_EQ(chosen.dtype(), DType::kF32);
      expect_values<float>(chosen + x, {2},
                           taken ? std::vector<float>{1, 2} : std::vector<float>{3, 4});
    }
    const auto [number, array] =
        switch_case(1, std::tuple([&] { return std::pair(Tensor(1.5), x); },
                                  [&] { return std::pair(Tensor(2), x * 2); }));
    EXPECT_EQ(number.dtype(), DType::kF64);
    EXPECT_EQ(number.item<double>(), 2);
    expect_values<float>(array, {2}, {2, 4});
  }
}

TEST(Eager, ABranchThatIsNotTakenMayLookAtValues) {
  const Tensor x = constant({1.0f, 2.0f});
  const EagerScope eager;
  const Tensor chosen = cond(
      true, [](Tensor) { return 1; }, [](Tensor x) { return x[0] * x[1].item<float>(); }, x);
  EXPECT_EQ(chosen.item<int>(), 1);
}

TEST(SwitchCase, TakesMutableLambdas) {
  int calls = 0;
  auto count = [&calls, mine = 0](Tensor x) mutable {
    calls += ++mine;
    return x + 1;
  };
  EXPECT_EQ(switch_case(0, std::tuple(count), 4).item<int>(), 5);
  EXPECT_EQ(switch_case(0, std::vector{count}, 4).item<int>(), 5);
  EXPECT_EQ(calls, 2);
}

TEST(Fori, IntegerBoundsOfDifferentTypesTakeOneThatHoldsBoth) {
  const auto last = [](auto lower, auto upper) {
    return fori_loop(
        lower, upper, [](Tensor i, Tensor) { return convert(i, DType::kS64); }, std::int64_t{-1});
  };
  EXPECT_EQ(last(-2, std::size_t{3}).template item<std::int64_t>(), 2);
  EXPECT_EQ(last(2999999998, 3000000000u).template item<std::int64_t>(), 2999999999);
  EXPECT_EQ(last(std::int8_t{0}, 300).template item<std::int64_t>(), 299);
}

TEST(Scan, NegativeAxesCountFromTheEndOfEachArray) {
  const Tensor m = reshape(arange(6), {2, 3}), v = arange(3);
  for (const bool is_eager : {false, true}) {
    std::optional<EagerScope> scope;
    if (is_eager) scope.emplace();
    const auto [sum_of_all, ys] = scan(
        [](Tensor c, std::pair<Tensor, Tensor> x) {
          return std::pair(c + sum(x.first) * x.second,
                           std::pair(stack({x.first, x.first}, 0), x.second));
        },
        0, std::pair(m, v), {.axis = -1});
    EXPECT_EQ(sum_of_all.item<int>(), (1 + 4) * 1 + (2 + 5) * 2);
    expect_values<int>(ys.first, {2, 2, 3}, {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
    expect_values<int>(ys.second, {3}, {0, 1, 2});
  }
  expect_error(
      [&] { scan([](Tensor c, Tensor x) { return std::pair(c, x); }, 0, m, {.axis = -3}); },
      {"scan", "no axis -3", "s32[2,3]"});
  expect_error(
      [&] { scan([](Tensor c, Tensor x) { return std::pair(c, sum(x)); }, 0, m, {.axis = -2}); },
      {"scan", "axis -2", "from -1 on"});
}

TEST(PromisedWhile, IsCheckedThoughItsResultIsKnownWithoutIt) {
  const Function program = trace(
      [](Tensor n) {
        return std::get<1>(while_loop([=](Tensor i, Tensor) { return i < n; },
                                      [](Tensor i, Tensor x) { return std::tuple(i + 1, x); },
                                      std::tuple(0, 5.0f), {.max_trip_count = 3}));
      },
      s32());
  for (const bool optimize : {false, true}) {
    const Executable run = compile(program, {.optimize = optimize});
    EXPECT_EQ(run.run({Literal::scalar(3)})[0].item<float>(), 5);
    EXPECT_THROW((void)run.run({Literal::scalar(4)}), ExecutionError);
    EXPECT_NE(to_hlo_text(program, {.optimize = optimize}).find("nan"), std::string::npos);
  }
}

TEST(Scalars, ComplexOnesWithoutAnImaginaryPartAreReal) {
  expect_values<float>(constant({1.0f, 2.0f}) + std::complex<float>(1, 0), {2}, {2, 3});
  expect_values<int>(constant({1, 2}) * std::complex<double>(2, 0), {2}, {2, 4});
  expect_error([] { constant({1.0f}) + std::complex<float>(1, 2); }, {"imaginary"});
}

TEST(RunOptionsTest, DeadlinesTakeDurationsOfAnyUnit) {
  const Function program = trace(
      [](Tensor n) {
        return while_loop([&](Tensor i) { return i < n; }, [](Tensor i) { return i + 1; },
                          std::int64_t{0});
      },
      s64());
  const RunOptions options{.deadline = std::chrono::duration<double>(0.01)};
  EXPECT_THROW((void)compile(program).run({Literal::scalar(INT64_MAX)}, options), ExecutionError);
  EXPECT_THROW((void)compile(program).run({Literal::scalar(INT64_MAX)},
                                          {.deadline = std::chrono::milliseconds(10)}),
               ExecutionError);
  EXPECT_THROW((void)compile(program).run({Literal::scalar(std::int64_t{1})}, {.threads = 0}),
               ExecutionError);
}

TEST(ReduceOverload, UnqualifiedCallsAreNotThoseOfTheStandardLibrary) {
  const Tensor x = ones(f32({2, 3}));
  const std::vector<std::int64_t> axes{0};
  const auto add = [](auto a, auto b) { return a + b; };
  expect_values<float>(reduce(x, Tensor(0.0f), axes, add), {3}, {2, 2, 2});
}

}  // namespace
}  // namespace rondo
