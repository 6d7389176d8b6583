#include "base/cpu.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace rondo {
namespace {

constexpr Cpu kNone{}, kAvx2{.avx2 = true}, kAvx512{.avx2 = true, .avx512 = true};

void expect_same(const Cpu& got, const Cpu& want) {
  EXPECT_EQ(got.avx2, want.avx2);
  EXPECT_EQ(got.avx512, want.avx512);
}

TEST(Cpu, IsLimitedByNameAndGetsNothingByIt) {
  expect_same(limited(kAvx512, "avx2"), kAvx2);
  expect_same(limited(kAvx512, "none"), kNone);
  expect_same(limited(kAvx2, "none"), kNone);
  expect_same(limited(kAvx2, "avx512"), kAvx2);
  expect_same(limited(kNone, "avx2"), kNone);
  expect_same(limited(kAvx2, ""), kAvx2);
  expect_same(limited(kAvx512, "sse"), kAvx512);
}

TEST(Cpu, OfThisMachineHeedsTheVariable) {
  const char* const limit = std::getenv("RONDO_ISA");
  expect_same(cpu(), limited(cpu(), limit != nullptr ? limit : ""));
  EXPECT_TRUE(cpu().avx2 || !cpu().avx512);
}

}  // namespace
}  // namespace rondo
