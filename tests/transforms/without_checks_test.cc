// Compiled with NDEBUG, in one program with tests that may not be: jit is traced once here.
#ifndef NDEBUG
#error "tests/CMakeLists.txt defines NDEBUG for this file"
#endif
#include <gtest/gtest.h>

#include <cstdlib>

#include "rondo/rondo.h"

namespace rondo {
namespace {

TEST(CheckCaptures, IsNotMadeWhereJitIsCompiledWithNDebug) {
  if (std::getenv("RONDO_CHECK_CAPTURES")) GTEST_SKIP() << "the environment says it";
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
}

}  // namespace
}  // namespace rondo
