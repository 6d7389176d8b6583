// What a jitted function reports of the program of its last call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "rondo/rondo.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

Tensor ten_times_half(Tensor x) {
  return fori_loop(0, 10, [](Tensor, Tensor y) { return y * 0.5f; }, x, {.name = "halve"});
}

TEST(JitInspection, TellsOfTheProgramOfTheLastCall) {
  const auto halved = jit(ten_times_half);
  (void)halved(1.0f).item<float>();
  const std::string scalar = halved.program();
  const Executable same = compile(trace(ten_times_half, f32()));
  EXPECT_EQ(halved.memory_plan().arena_bytes, same.memory_plan().arena_bytes);
  EXPECT_EQ(halved.disassembly().empty(), same.disassembly().empty());
  (void)halved(ones(f32({50}))).eval();
  EXPECT_NE(halved.program(), scalar);
  (void)halved(2.0f).item<float>();
  EXPECT_EQ(halved.program(), scalar);
  (void)halved(2.0f).item<float>();  // the call that needs no look-up
  EXPECT_EQ(halved.program(), scalar);
  const auto copy = halved;
  EXPECT_EQ(copy.program(), scalar);
}

TEST(JitInspection, CountsTheTripsOfRunsWithOptions) {
  const auto halved = jit(ten_times_half);
  (void)halved(1.0f).item<float>();
  ASSERT_EQ(halved.stats().loops.size(), 1U);
  EXPECT_EQ(halved.stats().loops[0].name, "halve");
  EXPECT_EQ(halved.stats().loops[0].trips, 10);
  RunStats stats;
  (void)halved.with({.stats = &stats})(1.0f).item<float>();
  ASSERT_EQ(stats.loops.size(), 1U);
  EXPECT_EQ(stats.loops[0].trips, 10);
}

TEST(JitInspection, SaysToCallTheFunctionFirst) {
  const auto halved = jit(ten_times_half);
  const auto refused = [&](const auto& ask) {
    try {
      ask();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const ExecutionError& error) {
      EXPECT_THAT(error.what(), HasSubstr("Call the function first"));
      EXPECT_THAT(error.what(), HasSubstr("jit_inspection_test.cc:"));
    }
  };
  refused([&] { (void)halved.program(); });
  refused([&] { (void)halved.memory_plan(); });
  refused([&] { (void)halved.stats(); });
  refused([&] { (void)halved.disassembly(); });
  (void)trace([&](Tensor x) { return halved(x); }, f32());
  refused([&] { (void)halved.program(); });
}

TEST(JitInspection, IsSafeBesideCallsOnOtherThreads) {
  const auto halved = jit(ten_times_half);
  (void)halved(1.0f).item<float>();
  std::vector<std::thread> threads;
  for (std::int64_t n = 1; n <= 4; n++) {
    threads.emplace_back([&halved, n] {
      for (int i = 0; i < 50; i++) {
        (void)halved(ones(f32({n}))).eval();
        EXPECT_FALSE(halved.program().empty());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace rondo
