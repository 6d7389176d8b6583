// A C++ variable that a body changes is a constant of the program.
#include <gtest/gtest.h>

#include <string>

#include "rondo/rondo.h"

namespace rondo {
namespace {

TEST(CppCounter, StandsStillAndTheEndlessLoopSaysSo) {
  int k = 0;
  const auto f = jit([&](Tensor x) {
    return while_loop([&](Tensor c) { return c < x + k + 1; },
                      [&](Tensor c) {
                        k++;
                        return c - 1;
                      },
                      0);
  });
  std::string message;
  try {
    f.with({.max_iterations = 50})(3);
  } catch (const TooManyIterations& error) {
    message = error.what();
  }
  EXPECT_LT(k, 5);
  EXPECT_NE(
      message.find("A C++ variable in it keeps one value (k++ runs once): put what changes into "
                   "the carry."),
      std::string::npos)
      << message;
}

TEST(CppCounter, InTheCarryMoves) {
  const Tensor x = jit([](Tensor first) {
    return std::get<1>(while_loop([](Tensor k, Tensor) { return k < 9; },
                                  [](Tensor k, Tensor c) { return std::tuple(k + 1, c * 2); },
                                  std::tuple(0, first)));
  })(3.0f);
  EXPECT_EQ(x.item<float>(), 3.0f * 512);
}

}  // namespace
}  // namespace rondo
