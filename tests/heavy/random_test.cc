// More and larger random programs than the everyday run has time for.
#include <gtest/gtest.h>

#include <chrono>

#include "support/program_check.h"

namespace rondo::testing {
namespace {

/// Programs of consecutive seeds, for a minute or until something fails; at least `least` of them.
void check_for_a_minute(std::uint64_t first_seed, std::uint64_t least, std::uint64_t most,
                        const ProgramSize& size) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::uint64_t checked = 0;
  while (checked < most && (checked < least || std::chrono::steady_clock::now() < end)) {
    expect_consistent(first_seed + checked, size);
    if (::testing::Test::HasFailure()) return;
    checked++;
  }
  ::testing::Test::RecordProperty("programs", static_cast<int>(checked));
}

TEST(HeavyRandomPrograms, OfTheUsualSize) { check_for_a_minute(10000, 500, 4000, {}); }

TEST(HeavyRandomPrograms, LongOnes) {
  check_for_a_minute(20000, 50, 400, {.statements = 60, .region_statements = 6, .depth = 3});
}

TEST(HeavyRandomPrograms, DeepOnes) {
  check_for_a_minute(30000, 100, 1000, {.statements = 5, .region_statements = 3, .depth = 8});
}

}  // namespace
}  // namespace rondo::testing
