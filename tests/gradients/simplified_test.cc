// Programs are simplified before they are differentiated; that must not change a derivative.
#include <gtest/gtest.h>

#include "rondo/rondo.h"

namespace rondo {
namespace {

double slope(Tensor (*f)(Tensor), double x) { return grad(f)(x).item<double>(); }

TEST(Simplified, NothingPassesThroughBits) {
  const auto there_and_back = [](Tensor x) {
    return bitcast_convert(bitcast_convert(x, DType::kS64), DType::kF64);
  };
  EXPECT_EQ(slope(there_and_back, 2.5), 0);
}

TEST(Simplified, NothingPassesThroughIntegers) {
  EXPECT_EQ(slope([](Tensor x) { return convert(convert(x, DType::kS32), DType::kF64); }, 2.0), 0);
  EXPECT_EQ(slope([](Tensor x) { return floor(floor(x)); }, 2.0), 0);
}

TEST(Simplified, EqualOperandsCountTwice) {
  EXPECT_EQ(slope([](Tensor x) { return maximum(x, x); }, 3.0), 1);
  EXPECT_EQ(slope([](Tensor x) { return x - x; }, 3.0), 0);
  EXPECT_EQ(slope([](Tensor x) { return where(x > 0, x, x); }, 3.0), 1);
  EXPECT_EQ(slope([](Tensor x) { return x * x + x * x; }, 3.0), 12);
}

}  // namespace
}  // namespace rondo
