// periodic(p) on a while whose number of trips is promised.
#include <gtest/gtest.h>

#include "rondo/rondo.h"

namespace rondo {
namespace {

auto periodic_squares(std::int64_t limit, std::int64_t period) {
  return [=](Tensor x) {
    return while_loop(
        [](Tensor a) { return a < 100.0; }, [](Tensor a) { return a * a + 0.5; }, x,
        {.max_trip_count = limit, .checkpoint = Checkpoint::periodic(period), .name = "squares"});
  };
}

/// 4 trips from 1.1: the first and second derivative, by the chain rule.
struct Slopes {
  double first = 1, second = 0;
};
Slopes expected(double x) {
  Slopes slopes;
  while (x < 100) {
    slopes.second = 2 * slopes.first * slopes.first + 2 * x * slopes.second;
    slopes.first *= 2 * x;
    x = x * x + 0.5;
  }
  return slopes;
}

TEST(PeriodicWhile, GivesTheGradientWhateverThePeriod) {
  const Slopes slopes = expected(1.1);
  for (const std::int64_t limit : {4, 5, 7, 20}) {
    for (const std::int64_t period : {1, 2, 3, 4, 7}) {
      const auto f = periodic_squares(limit, period);
      EXPECT_NEAR(jit(grad(f))(1.1).item<double>(), slopes.first, 1e-9 * slopes.first)
          << limit << " trips promised, period " << period;
    }
  }
  EXPECT_NEAR(hessian(periodic_squares(10, 3))(1.1).item<double>(), slopes.second,
              1e-9 * slopes.second);
}

TEST(PeriodicWhile, NoTripIsTheIdentity) {
  EXPECT_EQ(jit(grad(periodic_squares(10, 3)))(200.0).item<double>(), 1);
}

TEST(PeriodicWhile, ABrokenPromiseIsAnError) {
  for (const std::int64_t limit : {2, 3}) {
    for (const std::int64_t period : {1, 2}) {
      try {
        jit(grad(periodic_squares(limit, period)))(1.1);
        FAIL() << limit << " trips promised, period " << period;
      } catch (const ExecutionError& error) {
        EXPECT_NE(std::string(error.what()).find("squares"), std::string::npos) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace rondo
