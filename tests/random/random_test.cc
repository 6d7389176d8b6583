// Random programs: the interpreter, with and without the passes, and the lambdas run on each trip.
// tests/xla/random_test.cc compares them with XLA, tests/heavy has more of them.
#include <gtest/gtest.h>

#include "support/program_check.h"

namespace rondo::testing {
namespace {

class RandomPrograms : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomPrograms, AgreeOnAllMachines) {
  constexpr std::uint64_t kSeeds = 25;
  for (std::uint64_t i = 0; i < kSeeds; i++) expect_consistent(GetParam() * kSeeds + i);
}

TEST_P(RandomPrograms, WithDangersAgreeOnAllMachines) {
  constexpr std::uint64_t kSeeds = 25;
  for (std::uint64_t i = 0; i < kSeeds; i++) expect_consistent(GetParam() * kSeeds + i, kDangers);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, ::testing::Range<std::uint64_t>(0, 8));

// A generator that gave up would make the comparisons above trivial.
TEST(RandomProgramsTest, HaveLoopsInLoopsAndDifferFromEachOther) {
  std::int64_t loops = 0, deep = 0, nodes = 0;
  for (std::uint64_t seed = 0; seed < 40; seed++) {
    const FunctionStats stats = Program::random(seed).traced().stats();
    loops += stats.loops;
    deep += stats.depth >= 2;
    nodes += stats.nodes;
  }
  EXPECT_GE(loops, 60);
  EXPECT_GE(deep, 15);
  EXPECT_GE(nodes, 40 * 50);
  EXPECT_EQ(Program::random(7).traced().str(), Program::random(7).traced().str());
  EXPECT_NE(Program::random(7).traced().str(), Program::random(8).traced().str());
}

}  // namespace
}  // namespace rondo::testing
