// Compares programs on several threads with one thread.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "rondo/rondo.h"
#include "support/processor_time.h"

namespace rondo::testing {

inline RunOptions on_threads(int threads) {
  RunOptions options;
  options.threads = threads;
  return options;
}

/// Results and trips on 1, 2, 3 and 7 threads are the same, bit by bit.
inline void expect_same_on_threads(const Function& f, const std::vector<Literal>& arguments) {
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Executable run = compile(f, {.executor = executor});
    RunStats one;
    const std::vector<Literal> want = run.run(arguments, {.stats = &one});
    for (const int threads : {2, 3, 7}) {
      RunStats stats;
      RunOptions options = on_threads(threads);
      options.stats = &stats;
      const std::vector<Literal> got = run.run(arguments, options);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < got.size(); i++)
        EXPECT_TRUE(got[i].identical(want[i])) << i << " on " << threads << " threads\n"
                                               << run.program();
      ASSERT_EQ(stats.loops.size(), one.loops.size());
      for (std::size_t i = 0; i < one.loops.size(); i++)
        EXPECT_EQ(stats.loops[i].trips, one.loops[i].trips);
    }
  }
}

/// Runs the program until other threads than this one have done a tenth of the work, or the given
/// share: runs between guard pages copy all arguments on the calling thread. A single run may be
/// over before the system starts another thread.
inline void expect_others_to_help(const Function& f, const std::vector<Literal>& arguments,
                                  double least = 0.1) {
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Executable run = compile(f, {.executor = executor});
    run.run(arguments, on_threads(2));
    const double own_start = thread_seconds(), all_start = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
    const double give_up = 10'000 * work_seconds();
    double own = 0, others = 0;
    do {
      run.run(arguments, on_threads(2));
      own = thread_seconds() - own_start;
      others = seconds_on(CLOCK_PROCESS_CPUTIME_ID) - all_start - own;
    } while (others < least * own && own < give_up);
    EXPECT_GE(others, least * own);
  }
}

}  // namespace rondo::testing
