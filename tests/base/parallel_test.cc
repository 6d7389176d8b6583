// Work split over threads.
#include "base/parallel.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace rondo {
namespace {

TEST(ParallelThreads, DoEachPieceOnce) {
  for (const int threads : {1, 2, 5}) {
    for (const std::int64_t pieces : {0, 1, 2, 100}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(pieces));
      parallel_for(pieces, threads, [&](std::int64_t i) { done[static_cast<std::size_t>(i)]++; });
      for (const auto& times : done) EXPECT_EQ(times, 1);
    }
  }
}

TEST(ParallelThreads, EndWithTheFirstFailure) {
  for (const int threads : {1, 4}) {
    std::atomic<int> begun = 0;
    EXPECT_THROW(parallel_for(1000, threads,
                              [&](std::int64_t i) {
                                begun++;
                                if (i == 3) throw std::runtime_error("piece 3");
                                while (i > 3 && !earlier_piece_failed()) std::this_thread::yield();
                              }),
                 std::runtime_error);
    EXPECT_LE(begun, 3 + threads);
  }
}

TEST(ParallelThreads, ThrowTheFailureOfTheLeastPiece) {
  for (int round = 0; round < 200; round++) {
    std::atomic<bool> later_failed = false;
    try {
      parallel_for(64, 4, [&](std::int64_t i) {
        if (i != 0 && i % 16 == 0) {
          later_failed = true;
          throw std::runtime_error("a later piece");
        }
        if (i != 3) return;
        // Long enough that pieces of other threads fail first.
        for (int look = 0; look < 1000 && !later_failed; look++) std::this_thread::yield();
        EXPECT_FALSE(earlier_piece_failed());
        throw std::runtime_error("piece 3");
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "piece 3");
    }
  }
}

TEST(ParallelThreads, ServeSeveralCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<std::int64_t> sum = 0;
  for (int caller = 0; caller < 8; caller++) {
    callers.emplace_back([&] {
      for (int round = 0; round < 20; round++)
        parallel_for(10, 3, [&](std::int64_t i) { sum += i; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 8 * 20 * 45);
}

TEST(ParallelThreads, StayOnTheirThreadInsideAPiece) {
  std::atomic<int> elsewhere = 0, done = 0;
  parallel_for(8, 4, [&](std::int64_t) {
    const auto here = std::this_thread::get_id();
    parallel_for(50, 4, [&](std::int64_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      elsewhere += std::this_thread::get_id() == here ? 0 : 1;
      done++;
    });
  });
  EXPECT_EQ(elsewhere, 0);
  EXPECT_EQ(done, 8 * 50);
}

TEST(ParallelThreads, TakeTurnsInOrder) {
  for (const int threads : {1, 2, 5}) {
    OrderedSection turns;
    std::vector<std::int64_t> order;
    parallel_for(
        200, threads,
        [&](std::int64_t i) {
          if (i % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
          ASSERT_TRUE(turns.wait(i));
          order.push_back(i);
          turns.pass(i);
        },
        true);
    ASSERT_EQ(order.size(), 200u);
    for (std::size_t i = 0; i < order.size(); i++) EXPECT_EQ(order[i], static_cast<int>(i));
  }
}

TEST(ParallelThreads, WaitForNoTurnAfterAFailure) {
  for (const int threads : {1, 2, 5}) {
    OrderedSection turns;
    std::atomic<int> passed = 0;
    EXPECT_THROW(parallel_for(
                     200, threads,
                     [&](std::int64_t i) {
                       if (i == 5) {
                         std::this_thread::sleep_for(std::chrono::milliseconds(1));
                         turns.end();
                         throw std::runtime_error("piece 5");
                       }
                       if (!turns.wait(i)) return;
                       passed++;
                       turns.pass(i);
                     },
                     true),
                 std::runtime_error);
    EXPECT_LE(passed, 5);
  }
}

/// Ends the process with 0 if all pieces were done, on at least `least` threads: the first pieces
/// wait for these, however long the system takes to start them.
[[noreturn]] void end_after_work(std::size_t least) {
  ::alarm(60);
  int done = 0;
  std::mutex mutex;
  std::condition_variable another;
  std::set<std::thread::id> seen;
  for (int round = 0; round < 3; round++) {
    parallel_for(40, 4, [&](std::int64_t) {
      std::unique_lock lock(mutex);
      seen.insert(std::this_thread::get_id());
      another.notify_all();
      another.wait(lock, [&] { return seen.size() >= least; });
      done++;
    });
  }
  std::_Exit(done == 3 * 40 ? 0 : 1);
}

// The name excludes them from the tests of the thread sanitizer, which does not support fork.
TEST(HelpersDeathTest, AreStartedAnewInAChild) {
  parallel_for(8, 4, [](std::int64_t) {});
  EXPECT_EXIT(end_after_work(2), ::testing::ExitedWithCode(0), "");
}

TEST(HelpersDeathTest, AreDoneWithoutWhereTheSystemStartsNone) {
  EXPECT_EXIT(
      {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, std::size_t{1} << 47);  // not available
        if (pthread_setattr_default_np(&attributes) != 0) std::_Exit(2);
        end_after_work(1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace rondo
