// The memory that an executable reports to hold.
#include <vector>

#include "gtest/gtest.h"
#include "rondo/rondo.h"

namespace rondo::testing {
namespace {

Executable chain(int ops) {
  return compile(trace(
      [&](Tensor x) {
        for (int i = 0; i < ops; i++) x = sin(x);
        return x;
      },
      f32()));
}

TEST(Footprint, GrowsWithTheOps) {
  EXPECT_EQ(Executable().bytes(), 0);
  const std::int64_t small = chain(100).bytes(), large = chain(1000).bytes();
  EXPECT_GT(small, 100 * 100) << "a node and its instruction take more than 100 bytes";
  EXPECT_GT(large, 8 * small);
  EXPECT_LT(large, 12 * small);
}

TEST(Footprint, CountsConstantsWhereverTheyStand) {
  const std::vector<float> values(1 << 18, 1.5f);
  const Literal array = Literal::from(values);
  const Executable inside = compile(trace(
      [&](Tensor x) {
        return fori_loop(
            0, 3, [&](Tensor, Tensor y) { return y * Tensor(array); }, x);
      },
      f32({1 << 18})));
  EXPECT_GE(inside.bytes(), 1 << 20);
  EXPECT_LT(inside.bytes(), 4 << 20);
}

}  // namespace
}  // namespace rondo::testing
