// Runs that are stopped from outside: what is thrown, and that the loop can continue from its
// state.
#include <chrono>
#include <limits>
#include <stop_token>

#include "support/expect.h"

namespace rondo {
namespace {

using testing::caught;
using testing::expect_scalar;

struct Walk {
  Tensor at, speed;
};
/// Chaotic, so a state that differs in one bit ends elsewhere.
Walk next(Walk w) {
  const Tensor at = w.at + 0.1f * w.speed;
  return {at, w.speed - 0.3f * sin(at)};
}
Function walk(std::int64_t trips) {
  const auto f = [=](Tensor at, Tensor speed) {
    return fori_loop(0, trips, [](Tensor, Walk s) { return next(s); }, Walk{at, speed},
                     {.name = "walk"});
  };
  return trace(f, f32(), f32());
}
Literal leaf(const Interrupted& error, std::size_t i, const std::string& name) {
  EXPECT_LT(i, error.carry().size());
  EXPECT_EQ(error.carry().at(i).first, name);
  return error.carry().at(i).second;
}

TEST(Interrupted, GoesOnFromTheStateItLeaves) {
  const std::vector<Literal> start = {Literal::scalar(0.5f), Literal::scalar(1.0f)};
  const std::vector<Literal> want = compile(walk(1000)).run(start);
  RunOptions options;
  options.max_iterations = 400;
  const auto error = caught<TooManyIterations>(compile(walk(1000)), start, options);
  EXPECT_EQ(error.loop(), "walk");
  EXPECT_EQ(error.trip(), 400);
  ASSERT_EQ(error.carry().size(), 2u);
  const std::vector<Literal> rest =
      compile(walk(1000 - error.trip())).run({leaf(error, 0, "at"), leaf(error, 1, "speed")});
  EXPECT_TRUE(rest[0].identical(want[0]));
  EXPECT_TRUE(rest[1].identical(want[1]));
}

TEST(Interrupted, InAnUnrolledLoopTheTripsAreTheUsers) {
  const auto f = [](Tensor n, Tensor x) {
    return fori_loop(0, n, [](Tensor i, Tensor s) { return s + i; }, x,
                     {.unroll = 4, .name = "sum"});
  };
  RunOptions options;
  options.max_iterations = 5;
  const auto error = caught<TooManyIterations>(compile(trace(f, s32(), s32())),
                                               {Literal::scalar(100), Literal::scalar(0)}, options);
  EXPECT_EQ(error.trip(), 20);
  expect_scalar(leaf(error, 0, "carry"), 190);
}

TEST(Interrupted, InAnInnerLoopTheStateIsTheOutersBetweenItsTrips) {
  // The inner loop never ends on trip 3.
  const auto f = [](Tensor x) {
    const auto body = [](Tensor i, Tensor sum) {
      const auto go = [=](Tensor k) { return (k < 5) | eq(i, 3); };
      const Tensor five = while_loop(go, [](Tensor k) { return k + 1; }, Tensor(0), {.name = "in"});
      return sum + five;
    };
    return fori_loop(0, 10, body, x, {.name = "out"});
  };
  for (const bool optimize : {false, true}) {
    RunOptions options;
    options.max_iterations = 100;
    const auto error = caught<TooManyIterations>(compile(trace(f, s32()), {.optimize = optimize}),
                                                 {Literal::scalar(7)}, options);
    EXPECT_EQ(error.loop(), "out");
    EXPECT_EQ(error.trip(), 3);
    ASSERT_EQ(error.carry().size(), 1u);
    expect_scalar(error.carry()[0].second, 7 + 3 * 5);
  }
}

TEST(Interrupted, ByAStopTokenFromWithin) {
  std::stop_source source;
  RunOptions options;
  options.stop_token = source.get_token();
  options.on_tap = [&](std::string_view, const Literal& value) {
    if (value.item<int>() == 12) source.request_stop();
  };
  const auto f = [](Tensor x) {
    return while_loop([](Tensor s) { return s < 1000; },
                      [](Tensor s) { return tap(s + 1, "state"); }, x, {.name = "count"});
  };
  const auto error = caught<Stopped>(compile(trace(f, s32())), {Literal::scalar(5)}, options);
  EXPECT_EQ(error.loop(), "count");
  EXPECT_EQ(error.trip(), 7);
  expect_scalar(error.carry().at(0).second, 12);
}

TEST(Interrupted, OutsideLoopsToo) {
  std::stop_source source;
  RunOptions options;
  options.stop_token = source.get_token();
  options.on_tap = [&](std::string_view name, const Literal&) {
    if (name == "stop") source.request_stop();
    EXPECT_NE(name, "end");
  };
  const auto f = [](Tensor x) {
    x = tap(x, "stop");
    for (int i = 0; i < 4; i++) x = sin(x) * x;
    return tap(x, "end");
  };
  const auto error =
      caught<Stopped>(compile(trace(f, f32({100'000}))), {Literal::zeros(f32({100'000}))}, options);
  EXPECT_EQ(error.loop(), "");
  EXPECT_EQ(error.trip(), 0);
  EXPECT_TRUE(error.carry().empty());
}

TEST(Interrupted, InsideALongOp) {
  // A combiner that runs for each element, and sorts with a comparator that does.
  RunOptions options;
  options.deadline = std::chrono::milliseconds(1);
  const auto reduced = [](Tensor x) {
    return reduce(x, Tensor(0.0f), {0}, [](Tensor a, Tensor b) { return sin(sin(a) + b); });
  };
  const Literal values = Literal::zeros(f32({1'000'000}));
  EXPECT_EQ(
      caught<DeadlineExceeded>(compile(trace(reduced, values.type())), {values}, options).trip(),
      0);
  const auto sorted = [](Tensor x) {
    return sort_by(x, 0, [](Tensor a, Tensor b) { return a * a < b * b; });
  };
  EXPECT_EQ(
      caught<DeadlineExceeded>(compile(trace(sorted, values.type())), {values}, options).trip(), 0);
  const auto squared = [](Tensor x) { return matmul(x, x); };
  const Literal matrix = Literal::zeros(f32({1200, 1200}));
  EXPECT_EQ(
      caught<DeadlineExceeded>(compile(trace(squared, matrix.type())), {matrix}, options).trip(),
      0);
}

TEST(Deadline, LongerThanTheClockCounts) {
  const Executable program = compile(walk(10));
  const std::vector<Literal> start = {Literal::scalar(0.5f), Literal::scalar(1.0f)};
  const std::vector<TimeLimit> limits = {
      std::chrono::hours::max(), std::chrono::hours(300LL * 365 * 24),
      std::chrono::duration<double>(1e300),
      std::chrono::duration<double>(std::numeric_limits<double>::infinity())};
  for (const TimeLimit limit : limits) {
    RunOptions options;
    options.deadline = limit;
    EXPECT_NO_THROW(program.run(start, options));
  }
  RunOptions options;
  options.deadline = std::chrono::hours::min();
  EXPECT_THROW(program.run(start, options), DeadlineExceeded);
}

/// The reports of a run that is stopped after the first two.
std::vector<Progress> reports(const Executable& program, const std::vector<Literal>& arguments) {
  std::vector<Progress> seen;
  std::vector<std::vector<std::string>> names;
  std::stop_source source;
  RunOptions options;
  options.stop_token = source.get_token();
  options.on_progress = [&](const Progress& progress) {
    seen.push_back(progress);
    if (seen.size() == 2) source.request_stop();
  };
  caught<Stopped>(program, arguments, options);
  return seen;
}

TEST(Progress, OfALoopWhoseBoundsAreTensors) {
  const auto f = [](Tensor from, Tensor to, Tensor x) {
    return fori_loop(from, to, [](Tensor, Tensor s) { return s + 1; }, x,
                     {.step = 2, .name = "long"});
  };
  const Executable program = compile(trace(f, s64(), s64(), f32()));
  const auto seen = reports(
      program, {Literal::scalar<std::int64_t>(5),
                Literal::scalar<std::int64_t>(std::int64_t{1} << 40), Literal::scalar(0.0f)});
  EXPECT_EQ(seen[0].loop, "long");
  EXPECT_EQ(seen[0].of, (std::int64_t{1} << 39) - 2);
  EXPECT_GT(seen[0].trip, 0);
  EXPECT_GT(seen[1].trip, seen[0].trip);
  ASSERT_EQ(seen[0].path.size(), 1u);
}

TEST(Progress, TellsOfTheOutermostLoopThatMoves) {
  const auto nested = [](std::int64_t outer, std::int64_t inner) {
    return compile(trace(
        [=](Tensor x) {
          const auto body = [=](Tensor, Tensor s) {
            return fori_loop(0, inner, [](Tensor, Tensor t) { return cos(t); }, s, {.name = "in"});
          };
          return fori_loop(0, outer, body, x, {.name = "out"});
        },
        f32()));
  };
  // Both advance between two reports.
  const Executable quick = nested(1'000'000'000, 3);
  auto seen = reports(quick, {Literal::scalar(1.0f)});
  EXPECT_EQ(seen[1].loop, "out");
  ASSERT_EQ(seen[1].path.size(), 1u);
  EXPECT_GT(seen[1].trip, seen[0].trip);
  // Only the inner one does.
  const Executable slow = nested(3, 1'000'000'000);
  seen = reports(slow, {Literal::scalar(1.0f)});
  EXPECT_EQ(seen[1].loop, "in");
  EXPECT_EQ(seen[1].of, 1'000'000'000);
  ASSERT_EQ(seen[1].path.size(), 2u);
  EXPECT_EQ(seen[1].path[0].loop, "out");
  EXPECT_EQ(seen[1].path[0].trip, 1);
  EXPECT_EQ(seen[1].path[0].of, 3);
}

}  // namespace
}  // namespace rondo
