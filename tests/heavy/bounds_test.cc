// Body evaluations of reverse mode through a hundred thousand trips with few slots, against the
// bounds of the binomial split beyond the reach of the slots (the backward pass of A. Griewank and
// A. Walther's "revolve", 2000, after Q. Wang, P. Moin and G. Iaccarino's forward schedule, 2009).
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "gradients/loops.h"
#include "rondo/rondo.h"

namespace rondo::testing {
namespace {

TEST(OnlineBounds, OfAHundredThousandTrips) {
  constexpr int kTrips = 100'000;
  double x = 0.5, slope = 1;
  for (int i = 0; i < kTrips; i++) {
    slope *= 1 - 1e-5 * std::cos(x);
    x -= 1e-5 * std::sin(x);
  }
  struct Row {
    int slots;
    double bodies_per_trip;
  };
  for (const Row& row : {Row{4, 31.15}, Row{8, 11.65}, Row{100, 4.035}}) {
    SCOPED_TRACE(std::to_string(row.slots) + " slots");
    const auto f = [&](Tensor x, Tensor n) {
      return run_loop(
          LoopKind::kWhile, {.given = n}, [](Tensor, Tensor x) { return x - 1e-5 * sin(x); }, x,
          Checkpoint::online(row.slots));
    };
    const Executable program = compile(trace(grad(f), f64(), s32()));
    const Literal gradient = program.run({Literal::scalar(0.5), Literal::scalar(kTrips)})[0];
    EXPECT_NEAR(gradient.item<double>(), slope, 1e-10);
    // A trip of the forward loop, of the advances and of the backward pass evaluates one body each.
    std::int64_t bodies = 0;
    for (const LoopStats& loop : program.stats().loops) {
      if (!loop.name.ends_with("_schedule")) bodies += loop.trips;
    }
    EXPECT_LE(static_cast<double>(bodies) / kTrips, row.bodies_per_trip);
    EXPECT_GE(bodies, 3 * kTrips);
  }
}

}  // namespace
}  // namespace rondo::testing
