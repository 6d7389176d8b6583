#include "base/bounded_cache.h"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rondo/cache.h"
#include "rondo/error.h"

namespace rondo::testing {
namespace {

/// A key whose hash is as bad as the test requires.
struct CacheKey {
  int number = 0;
  std::size_t hashed = 0;
  std::size_t hash() const { return hashed; }
  bool operator==(const CacheKey&) const = default;
};

/// Restores the process-wide limit.
class BoundedCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    clear_executable_cache();
    before_ = executable_cache();
  }
  void TearDown() override {
    clear_executable_cache();
    limit_executable_cache(before_.limit);
  }
  static std::int64_t bytes() { return executable_cache().bytes; }
  static std::int64_t slots() { return executable_cache().executables; }

 private:
  CacheStats before_;
};

using Cache = BoundedCache<CacheKey, std::string>;

TEST_F(BoundedCacheTest, FindsWhatItWasGivenThoughHashesCollide) {
  Cache cache, other;
  for (int i = 0; i < 5; i++) cache.slot({i, 7}, 1)->value = std::to_string(i);
  for (int i = 0; i < 5; i++) EXPECT_EQ(cache.slot({i, 7}, 1)->value, std::to_string(i));
  EXPECT_EQ(other.slot({3, 7}, 1)->value, "") << "caches share the bound, not their contents";
  EXPECT_EQ(slots(), 6);
  EXPECT_EQ(bytes(), 6);
}

TEST_F(BoundedCacheTest, ForgetsWhatWasNotUsedForTheLongestTime) {
  limit_executable_cache(100);
  Cache cache;
  for (int i = 0; i < 10; i++) {
    const auto slot = cache.slot({i, static_cast<std::size_t>(i)}, 1);
    slot->value = "kept";
    cache.set_bytes(slot, 10);
  }
  EXPECT_EQ(bytes(), 100);
  EXPECT_EQ(cache.slot({0, 0}, 1)->value, "kept");  // so that 1 is now the oldest
  cache.set_bytes(cache.slot({10, 10}, 1), 20);
  EXPECT_EQ(bytes(), 100);
  EXPECT_EQ(slots(), 9);
  EXPECT_EQ(cache.slot({0, 0}, 0)->value, "kept");
  EXPECT_EQ(cache.slot({3, 3}, 0)->value, "kept");
  EXPECT_EQ(cache.slot({1, 1}, 0)->value, "");
  EXPECT_EQ(cache.slot({2, 2}, 0)->value, "");
}

TEST_F(BoundedCacheTest, TheLastUsedStaysHoweverLarge) {
  limit_executable_cache(100);
  Cache cache;
  const auto large = cache.slot({1, 1}, 1);
  large->value = "large";
  cache.set_bytes(large, 1000);
  EXPECT_EQ(cache.slot({1, 1}, 1)->value, "large");
  cache.slot({2, 2}, 1);
  EXPECT_EQ(bytes(), 1);
  EXPECT_EQ(large->value, "large") << "valid for those who use it";
}

TEST_F(BoundedCacheTest, ACacheThatEndsLeavesNothing) {
  {
    Cache cache;
    for (int i = 0; i < 100; i++) cache.slot({i, static_cast<std::size_t>(i % 3)}, 5);
    EXPECT_EQ(bytes(), 500);
  }
  EXPECT_EQ(bytes(), 0);
  EXPECT_EQ(slots(), 0);
}

TEST_F(BoundedCacheTest, ALowerLimitActsAtOnceAndANegativeOneIsRefused) {
  Cache cache;
  for (int i = 0; i < 10; i++) cache.slot({i, 0}, 10);
  limit_executable_cache(35);
  EXPECT_EQ(slots(), 3);
  EXPECT_THROW(limit_executable_cache(-1), Error);
  EXPECT_EQ(executable_cache().limit, 35);
}

TEST_F(BoundedCacheTest, ConcurrentCallersOfOneKeyShareOneSlot) {
  BoundedCache<CacheKey, std::atomic<int>> cache;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; i++) cache.slot({i, static_cast<std::size_t>(i % 5)}, 1)->value++;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(slots(), 200);
  for (int i = 0; i < 200; i++)
    EXPECT_EQ(cache.slot({i, static_cast<std::size_t>(i % 5)}, 1)->value, 8) << i;
}

}  // namespace
}  // namespace rondo::testing
