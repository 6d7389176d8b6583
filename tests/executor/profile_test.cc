// RunOptions::profile: its loops are those of RunStats, nested as in the program.
#include "rondo/profile.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "executor/agreement.h"
#include "executor/on_threads.h"
#include "support/program.h"
#include "support/program_check.h"

namespace rondo {
namespace {

using testing::Program;
using testing::ramp;

constexpr std::array kProfiled{Executor::kReference, Executor::kBytecode, Executor::kCompiled};

using TripsByName = std::map<std::string, std::int64_t>;

TripsByName trips_by_name(const RunStats& stats) {
  TripsByName trips;
  for (const LoopStats& loop : stats.loops) {
    if (loop.trips > 0) trips[loop.name] += loop.trips;
  }
  return trips;
}

void add_trips(TripsByName& trips, const std::vector<LoopProfile>& loops) {
  for (const LoopProfile& loop : loops) {
    if (loop.trips > 0) trips[loop.name] += loop.trips;
    add_trips(trips, loop.children);
  }
}
TripsByName trips_by_name(const Profile& profile) {
  TripsByName trips;
  add_trips(trips, profile.loops());
  return trips;
}

void expect_shares(const std::vector<LoopProfile>& loops,
                   const std::vector<KernelProfile>& kernels) {
  for (const KernelProfile& kernel : kernels) {
    EXPECT_GE(kernel.share, 0) << kernel.name;
    EXPECT_LE(kernel.share, 1) << kernel.name;
    EXPECT_GT(kernel.calls, 0) << kernel.name;
  }
  for (const LoopProfile& loop : loops) {
    EXPECT_GE(loop.share, 0) << loop.name;
    EXPECT_LE(loop.share, 1) << loop.name;
    EXPECT_GT(loop.entered, 0) << loop.name;
    expect_shares(loop.children, loop.kernels);
  }
}

/// The profile has the trips of the statistics, and the results the bits of a run without it.
void expect_measured(const Function& f, const std::vector<Literal>& arguments) {
  for (const Executor executor : kProfiled) {
    const Executable run = compile(f, {.executor = executor});
    const std::vector<Literal> want = run.run(arguments);
    for (const int threads : {1, 3}) {
      Profile profile;
      RunStats stats;
      const std::vector<Literal> got =
          run.run(arguments, {.threads = threads, .stats = &stats, .profile = &profile});
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < got.size(); i++) EXPECT_TRUE(got[i].identical(want[i])) << i;
      EXPECT_EQ(trips_by_name(profile), trips_by_name(stats)) << threads << " threads\n" << profile;
      expect_shares(profile.loops(), profile.kernels());
    }
  }
}

Tensor doubled_until_large(const Tensor& x) {
  return while_loop([](Tensor v) { return v < 100.0f; }, [](Tensor v) { return v * 2.0f + 1.0f; },
                    x, {.name = "double"});
}

TEST(Profile, HasTheTripsOfTheStatistics) {
  const auto nested = [](Tensor x) {
    return fori_loop(0, 7, [](Tensor, Tensor s) { return s + doubled_until_large(s) * 1e-3f; }, x,
                     {.name = "outer"});
  };
  const Literal one = Literal::scalar(1.0f), many = ramp({200}, 0.5f, 1);
  expect_measured(trace(nested, f32()), {one});
  expect_measured(trace(grad(nested), f32()), {one});
  expect_measured(trace(vmap(nested), f32({200})), {many});
  expect_measured(trace(vmap(grad(nested)), f32({200})), {many});
  expect_measured(trace([&](Tensor xs) { return map(nested, xs); }, f32({200})), {many});
  const auto counted = [](Tensor x) {
    return fori_loop(0, 9, [](Tensor, Tensor s) { return s * 0.5f + sin(s); }, x,
                     {.name = "sines"});
  };
  expect_measured(trace([&](Tensor xs) { return map(counted, xs); }, f32({200})), {many});
}

TEST(Profile, HasTheTripsOfRandomPrograms) {
  for (std::uint64_t seed = 0; seed < 40; seed++) {
    SCOPED_TRACE(seed);
    const Program program = Program::random(seed, {});
    ASSERT_NO_FATAL_FAILURE(expect_measured(program.traced(), program.arguments(seed + 1)));
  }
}

/// A product that no executor writes as a loop of its own, in a loop in a loop.
constexpr std::int64_t kSize = 160;
int inner_line = 0;
Tensor powers(const Tensor& m) {
  return fori_loop(0, 3,
                   [](Tensor, Tensor s) {
                     inner_line = __LINE__ + 1;
                     return fori_loop(
                         0, 5, [](Tensor, Tensor t) { return matmul(t, t) * (1.0f / kSize); }, s,
                         {.name = "square"});
                   },
                   m, {.name = "repeat"});
}

TEST(Profile, NestsLoopsAndKernels) {
  const Function f = trace(powers, f32({kSize, kSize}));
  const Literal ones = Literal::from<float>(std::vector<float>(kSize * kSize, 1), {kSize, kSize});
  for (const Executor executor : kProfiled) {
    Profile profile;
    compile(f, {.executor = executor}).run({ones}, {.profile = &profile});
    ASSERT_EQ(profile.loops().size(), 1u) << profile;
    const LoopProfile& outer = profile.loops()[0];
    EXPECT_EQ(outer.name, "repeat");
    EXPECT_EQ(outer.trips, 3);
    EXPECT_EQ(outer.entered, 1);
    ASSERT_EQ(outer.children.size(), 1u) << profile;
    const LoopProfile& inner = outer.children[0];
    EXPECT_EQ(inner.name, "square");
    EXPECT_EQ(inner.location.str(), "profile_test.cc:" + std::to_string(inner_line));
    EXPECT_EQ(inner.trips, 15);
    EXPECT_EQ(inner.entered, 3);
    const auto product =
        std::find_if(inner.kernels.begin(), inner.kernels.end(),
                     [](const KernelProfile& k) { return k.name == "dot_general"; });
    ASSERT_NE(product, inner.kernels.end()) << profile;
    EXPECT_EQ(product->calls, 15);
    EXPECT_GT(product->seconds, 0);
    EXPECT_GT(inner.seconds, 0);
    EXPECT_GT(profile.seconds(), 0);
  }
}

TEST(Profile, LoopsOfFunctionsAreUnderTheLoopAroundTheirKernel) {
  // A combiner with a loop is a function that the reduction calls.
  const auto combine = [](Tensor a, Tensor b) {
    return fori_loop(0, 2, [&](Tensor, Tensor s) { return s + b; }, a, {.name = "add twice"});
  };
  const auto f = [&](Tensor x) {
    return fori_loop(0, 4,
                     [&](Tensor, Tensor s) { return s + reduce(s, Tensor(0.0f), {0}, combine); }, x,
                     {.name = "around"});
  };
  const Function program = trace(f, f32({6}));
  for (const Executor executor : kProfiled) {
    Profile profile;
    RunStats stats;
    compile(program, {.executor = executor})
        .run({ramp({6}, 0.5f, 0)}, {.stats = &stats, .profile = &profile});
    EXPECT_EQ(trips_by_name(profile), trips_by_name(stats)) << profile;
    ASSERT_EQ(profile.loops().size(), 1u) << profile;
    EXPECT_EQ(profile.loops()[0].name, "around");
  }
}

TEST(Profile, OfARunThatEndsEarlyHasWhatRan) {
  const Function f = trace(
      [](Tensor x) {
        return while_loop([](Tensor v) { return v > 0.0f; },
                          [](Tensor v) { return v + doubled_until_large(v) * 1e-3f; }, x,
                          {.name = "forever"});
      },
      f32());
  for (const Executor executor : kProfiled) {
    Profile profile;
    EXPECT_THROW(compile(f, {.executor = executor})
                     .run({Literal::scalar(1.0f)}, {.max_iterations = 50, .profile = &profile}),
                 TooManyIterations);
    ASSERT_EQ(profile.loops().size(), 1u) << profile;
    EXPECT_EQ(profile.loops()[0].trips, 50);
    EXPECT_GT(trips_by_name(profile)["double"], 50) << profile;
  }
}

TEST(Profile, IsBegunAnewByEachRun) {
  auto f = jit([](Tensor x) { return doubled_until_large(x); });
  Profile profile;
  f.with({.profile = &profile})(1.0f).eval();
  const std::int64_t first = profile.loops().at(0).trips;
  f.with({.profile = &profile})(1.0f).eval();
  EXPECT_EQ(profile.loops().at(0).trips, first);
  f.with({.profile = &profile})(1000.0f).eval();
  EXPECT_EQ(profile.loops().at(0).trips, 0);
  EXPECT_EQ(profile.loops().at(0).entered, 1);
  Profile scoped;
  {
    const RunScope scope({.profile = &scoped});
    f(1.0f).eval();
  }
  EXPECT_EQ(scoped.loops().at(0).trips, first);
}

TEST(Profile, OfARunOnMemory) {
  const Executable run = compile(trace(doubled_until_large, f32()));
  const float x = 1;
  float y = 0;
  const auto* argument = reinterpret_cast<const std::byte*>(&x);
  auto* result = reinterpret_cast<std::byte*>(&y);
  Profile profile;
  run.run_on_memory(&argument, &result, {.profile = &profile});
  EXPECT_EQ(profile.loops().at(0).trips, 6);
  EXPECT_EQ(y, 127);
}

LoopProfile a_loop(std::string name, std::int64_t trips, double seconds, double share) {
  LoopProfile loop;
  loop.name = std::move(name);
  loop.entered = 1;
  loop.trips = trips;
  loop.seconds = seconds;
  loop.share = share;
  return loop;
}
KernelProfile a_kernel(std::string name, std::int64_t calls, double seconds, double share) {
  return {std::move(name), {}, calls, seconds, share};
}

TEST(Profile, IsATable) {
  LoopProfile outer = a_loop("outer", 12345, 2e-3, 0.8), lanes = a_loop("lanes", 5, 0, 0);
  outer.location = {"a/loops.cc", "", 7};
  lanes.timed = false;
  outer.children = {lanes};
  outer.kernels = {a_kernel("sort", 3, 3e-6, 0.0012)};
  const Profile profile(2.5e-3, {outer}, {});
  std::ostringstream out;
  out << profile;
  EXPECT_EQ(
      out.str(),
      "a run of 2.5 ms\n"
      "  share       time   trips, calls       each  loop or kernel\n"
      " 80.0 %       2 ms         12,345     162 ns  outer (loops.cc:7)\n"
      "  0.1 %       3 us              3       1 us    kernel sort\n"
      "                                5               lanes, vectorized with the one above\n");
}

/// The value after `"key":` in an event, up to the next comma or brace.
std::string field(const std::string& event, const std::string& key) {
  const std::size_t at = event.find("\"" + key + "\":");
  if (at == event.npos) return {};
  const std::size_t begin = at + key.size() + 3;
  return event.substr(begin, event.find_first_of(",}", begin) - begin);
}

TEST(Profile, IsATraceOfBarsWithinBars) {
  LoopProfile outer = a_loop("a \"loop\"", 4, 8e-4, 0.8);
  outer.location = {"loops.cc", "", 7};
  outer.children = {a_loop("first", 40, 5e-4, 0.5), a_loop("second", 8, 2e-4, 0.2)};
  const Profile profile(1e-3, {outer}, {a_kernel("sort", 1, 1e-4, 0.1)});
  std::vector<std::string> events;
  std::istringstream lines(profile.to_json());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("{\"name\"")) events.push_back(line);
  }
  ASSERT_EQ(events.size(), 5u) << profile.to_json();
  const std::vector<std::array<std::string, 4>> want{
      {"\"run\"", "\"run\"", "0.000", "1000.000"},
      {"\"sort\"", "\"kernel\"", "0.000", "100.000"},
      {R"("a \u0022loop\u0022")", "\"loop\"", "100.000", "800.000"},
      {"\"first\"", "\"loop\"", "100.000", "500.000"},
      {"\"second\"", "\"loop\"", "600.000", "200.000"}};
  for (std::size_t i = 0; i < want.size(); i++) {
    const std::array<std::string, 4> got{field(events[i], "name"), field(events[i], "cat"),
                                         field(events[i], "ts"), field(events[i], "dur")};
    EXPECT_EQ(got, want[i]);
  }
  EXPECT_EQ(field(events[3], "trips"), "40");
  EXPECT_EQ(field(events[2], "location"), "\"loops.cc:7\"");
}

}  // namespace
}  // namespace rondo
