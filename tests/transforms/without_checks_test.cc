// Compiled with NDEBUG, in one program with tests that may not be: jit traces once here.
#ifndef NDEBUG
#error "tests/CMakeLists.txt defines NDEBUG for this file"
#endif
#include <gtest/gtest.h>

#include <cstdlib>

#include "rondo/rondo.h"

namespace rondo {
namespace {

/// Ends the process with status 0 if it holds.
void expect_no_check() {
  unsetenv("RONDO_CHECK_CAPTURES");
  int traces = 0;
  float k = 2;
  const auto f = jit([&](Tensor x) {
    traces++;
    return x * k;
  });
  EXPECT_EQ(f(3.0f).item<float>(), 6);
  k = 4;
  for (int i = 0; i < 4; i++) EXPECT_EQ(f(3.0f).item<float>(), 6);
  EXPECT_EQ(traces, 1);
  std::exit(::testing::Test::HasFailure() ? 1 : 0);
}

TEST(CheckCapturesDeathTest, IsNotMadeWhereJitIsCompiledWithNDebug) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not read its environment
  EXPECT_EXIT(expect_no_check(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace rondo
