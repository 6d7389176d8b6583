// More and larger random programs than the regular tests.
#include <gtest/gtest.h>

#include <chrono>

#include "support/program_check.h"

namespace rondo::testing {
namespace {

/// Programs of consecutive seeds, for some time or until something fails; at least `least` of them.
void check_for_a_while(std::uint64_t first_seed, std::uint64_t least, std::uint64_t most,
                       const ProgramSize& size) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::uint64_t checked = 0;
  while (checked < most && (checked < least || std::chrono::steady_clock::now() < end)) {
    expect_consistent(first_seed + checked, size);
    if (::testing::Test::HasFailure()) return;
    checked++;
  }
  ::testing::Test::RecordProperty("programs", static_cast<int>(checked));
}

TEST(HeavyRandomPrograms, OfTheUsualSize) { check_for_a_while(10000, 500, 4000, {}); }

TEST(HeavyRandomPrograms, LongOnes) {
  check_for_a_while(20000, 50, 400, {.statements = 60, .region_statements = 6, .depth = 3});
}

TEST(HeavyRandomPrograms, DeepOnes) {
  check_for_a_while(30000, 100, 1000, {.statements = 5, .region_statements = 3, .depth = 8});
}

TEST(HeavyRandomPrograms, WithDangers) { check_for_a_while(40000, 500, 4000, kDangers); }

}  // namespace
}  // namespace rondo::testing
