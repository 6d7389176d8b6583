#include "base/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "rondo/literal.h"
#include "support/allocations.h"

namespace rondo {
namespace {

#if !defined(RONDO_TEST_SANITIZED)
using testing::aligned_blocks_made;
using testing::live_aligned_blocks;
#endif

TEST(MemoryMeter, CountsBytesOfTheThread) {
  MemoryMeter meter;
  {
    const MemoryMeterScope scope(meter);
    const Literal a = Literal::zeros(f32({1000}));
    EXPECT_EQ(meter.current, 4000);
    {
      const Literal b = Literal::scalar(1.0);
      const Literal shared = b;  // NOLINT(performance-unnecessary-copy-initialization): counts once
      EXPECT_EQ(meter.current, 4008);
    }
    EXPECT_EQ(meter.current, 4000);
    std::thread([] { Literal::zeros(f32({1 << 20})); }).join();
    EXPECT_EQ(meter.current, 4000);
  }
  EXPECT_EQ(meter.current, 0);
  EXPECT_EQ(meter.peak, 4008);
  const Literal unmetered = Literal::zeros(f32({10}));
  EXPECT_EQ(meter.current, 0);
}

TEST(MemoryMeter, CopyOnWriteCounts) {
  MemoryMeter meter;
  const MemoryMeterScope scope(meter);
  Literal a = Literal::zeros(u8({100}));
  Literal b = a;
  EXPECT_EQ(meter.current, 100);
  b.mutable_bytes();
  EXPECT_EQ(meter.current, 200);
  b = a;
  EXPECT_EQ(meter.current, 100);
  EXPECT_EQ(meter.peak, 200);
}

TEST(MemoryMeter, ReleaseOfAnEarlierLiteralIsNegative) {
  std::optional<Literal> before = Literal::zeros(u8({30}));
  MemoryMeter meter;
  const MemoryMeterScope scope(meter);
  before.reset();
  EXPECT_EQ(meter.current, -30);
  EXPECT_EQ(meter.peak, 0);
}

TEST(MemoryMeter, ScopesNest) {
  MemoryMeter outer;
  MemoryMeter inner;
  const MemoryMeterScope outer_scope(outer);
  const Literal a = Literal::zeros(u8({1}));
  {
    const MemoryMeterScope inner_scope(inner);
    const Literal b = Literal::zeros(u8({10}));
  }
  const Literal c = Literal::zeros(u8({100}));
  EXPECT_EQ(outer.current, 101);
  EXPECT_EQ(inner.peak, 10);
}

TEST(LiteralMemory, BlocksPassBetweenThreads) {
  std::vector<Literal> made;
  std::thread([&] {
    for (int i = 0; i < 3000; ++i) made.push_back(Literal::scalar(i));
  }).join();
  for (int i = 0; i < 3000; ++i) EXPECT_EQ(made[static_cast<std::size_t>(i)].item<int>(), i);
  made.clear();
  for (int i = 0; i < 3000; ++i) made.push_back(Literal::scalar(-i));
  std::thread([&made] { made.clear(); }).join();
}

// A literal in a thread_local that is older than the thread's block cache is released after the
// cache was destroyed.
TEST(LiteralMemory, ReleasedAfterTheCacheIsGone) {
#if !defined(RONDO_TEST_SANITIZED)
  const std::int64_t before = live_aligned_blocks;
#endif
  std::thread([] {
    thread_local std::vector<Literal> late;
    late.reserve(8);  // constructed, but nothing released yet
    { const Literal opens_the_cache = Literal::scalar(1); }
    for (int i = 0; i < 8; ++i) late.push_back(Literal::zeros(f32({std::int64_t{i} * 100})));
  }).join();
#if !defined(RONDO_TEST_SANITIZED)
  EXPECT_EQ(live_aligned_blocks, before);
#endif
}

TEST(SmallBlocks, PassBetweenThreadsAndHoldWhatIsAskedFor) {
  std::vector<std::pair<void*, std::size_t>> blocks;
  std::thread([&] {
    for (std::size_t bytes = 1; bytes <= kLargestSmallBlock + 32; bytes++) {
      blocks.emplace_back(take_small_block(bytes), bytes);
      std::memset(blocks.back().first, static_cast<int>(bytes % 128), bytes);
    }
  }).join();
  for (const auto& [block, bytes] : blocks) {
    const auto* values = static_cast<const unsigned char*>(block);
    EXPECT_EQ(values[0], bytes % 128);
    EXPECT_EQ(values[bytes - 1], bytes % 128);
    give_small_block(block, bytes);
  }
  // Another size of the same step finds a block; it is not given out twice.
  void* const first = take_small_block(33);
  void* const second = take_small_block(48);
  EXPECT_NE(first, second);
  std::memset(first, 1, 33);
  std::memset(second, 2, 48);
  EXPECT_EQ(*static_cast<unsigned char*>(first), 1);
  give_small_block(first, 33);
  give_small_block(second, 48);
  release_cached_memory();
}

#if !defined(RONDO_TEST_SANITIZED)
TEST(LiteralMemory, SmallBlocksAreRecycled) {
  std::thread([] {
    { const Literal first = Literal::scalar(1.0f); }
    const std::int64_t made = aligned_blocks_made;
    for (int i = 0; i < 1000; ++i) {
      const Literal a = Literal::scalar(1.0f);
      EXPECT_EQ(a.item<float>(), 1.0f);
    }
    EXPECT_EQ(aligned_blocks_made, made);
  }).join();
}

TEST(LiteralMemory, TheCacheIsBoundedAndGoesWithItsThread) {
  release_cached_memory();
  const std::int64_t before = live_aligned_blocks;
  std::thread([before] {
    const auto many_of = [](std::int64_t size) {
      std::vector<Literal> many;
      for (int i = 0; i < 3000; ++i) many.push_back(Literal::uninitialized(u8({size})));
    };
    for (const std::int64_t size : {1, 64, 65, 256, 1000, 4096, 4097, 100000}) many_of(size);
    std::int64_t bound = 0;
    for (const std::size_t size : kCachedBlockSizes)
      bound += static_cast<std::int64_t>(kCachedBytesPerSize / size);
    // The process keeps some of the largest size.
    EXPECT_LE(live_aligned_blocks - before,
              bound + static_cast<std::int64_t>(kMostLargeBytes / 100000));
    release_cached_memory();
    EXPECT_EQ(live_aligned_blocks, before);
    many_of(64);
    EXPECT_GT(live_aligned_blocks - before, 0);
    EXPECT_LE(live_aligned_blocks - before, bound);
  }).join();
  EXPECT_EQ(live_aligned_blocks, before);
}

TEST(LiteralMemory, LargeBlocksAreRecycledWithinABound) {
  release_cached_memory();
  const std::int64_t before = live_aligned_blocks;
  { const Literal first = Literal::zeros(f32({512, 512})); }
  const std::int64_t made = aligned_blocks_made;
  for (int i = 0; i < 100; ++i) {
    const Literal a = Literal::uninitialized(f32({512, 512}));
    const Literal slightly_smaller = Literal::uninitialized(f32({510, 512}));
    EXPECT_NE(a.bytes(), slightly_smaller.bytes());
  }
  EXPECT_LE(aligned_blocks_made - made, 1);
  // Blocks beyond the bound are released.
  std::vector<Literal> many;
  for (std::size_t bytes = 0; bytes < 2 * kMostLargeBytes; bytes += std::size_t{1} << 23)
    many.push_back(Literal::uninitialized(u8({std::int64_t{1} << 23})));
  many.clear();
  EXPECT_GT(live_aligned_blocks, before);
  EXPECT_LE(live_aligned_blocks - before, static_cast<std::int64_t>(kMostLargeBytes >> 23) + 2);
  release_cached_memory();
  EXPECT_EQ(live_aligned_blocks, before);
}

TEST(LiteralMemory, AnAllocationThatFailsIsAnExecutionError) {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  ASSERT_GT(pages, 0);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &old), 0);
  rlimit tight = old;
  tight.rlim_cur = static_cast<rlim_t>(pages) * 4096 + (rlim_t{1} << 28);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  std::string message;
  try {
    Literal::uninitialized(f64({1 << 28}));
  } catch (const ExecutionError& error) {
    message = error.what();
  }
  ASSERT_EQ(setrlimit(RLIMIT_AS, &old), 0);
  EXPECT_THAT(message,
              ::testing::HasSubstr("out of memory: f64[268435456] needs 2147483648 bytes"));
}
#endif

}  // namespace
}  // namespace rondo
