// Loops over small arrays in registers that write or read growing tapes.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

/// Trips of a damped rotation, until |y|² is below `end`; y is f64[2].
auto spiral(Checkpoint policy) {
  return [policy](Tensor y, Tensor end) {
    const auto turn = [](Tensor y) {
      const Tensor norm = sum(y * y);
      return stack({0.99 * y[0] - 0.1 * y[1] - 0.05 * norm * y[0],
                    0.99 * y[1] + 0.1 * y[0] - 0.05 * norm * y[1]},
                   0);
    };
    const Tensor last = while_loop([&](Tensor y) { return sum(y * y) > end; }, turn, y,
                                   {.checkpoint = policy, .name = "spiral"});
    return last[0] + 2.0 * last[1];
  };
}

/// The same in plain C++, with the derivative with respect to y.
std::vector<double> spiral_slope(double a, double b, double end) {
  double m[2][2] = {{1, 0}, {0, 1}};  // of the state with respect to the start
  while (a * a + b * b > end) {
    const double n = a * a + b * b;
    const double j[2][2] = {{0.99 - 0.05 * (n + 2 * a * a), -0.1 - 0.1 * a * b},
                            {0.1 - 0.1 * a * b, 0.99 - 0.05 * (n + 2 * b * b)}};
    double next[2][2];
    for (int r = 0; r < 2; r++) {
      for (int c = 0; c < 2; c++) next[r][c] = j[r][0] * m[0][c] + j[r][1] * m[1][c];
    }
    std::copy(&next[0][0], &next[0][0] + 4, &m[0][0]);
    const double x = 0.99 * a - 0.1 * b - 0.05 * n * a;
    b = 0.99 * b + 0.1 * a - 0.05 * n * b;
    a = x;
  }
  return {m[0][0] + 2 * m[1][0], m[0][1] + 2 * m[1][1]};
}

TEST(TapesInRegisters, LoopsAroundThemKeepTheirSmallArraysThere) {
  const Function slope = trace(grad(spiral(Checkpoint::tape())), f64({2}), f64());
  const Lowered lowered(slope);
  EXPECT_EQ(lowered.loops_in_registers(), 2);
  EXPECT_GE(lowered.count(lower::Opcode::kTapeWrite), 1);
  // Rows are stored element by element; the tape's initial array is copied.
  EXPECT_LE(lowered.copies(16), 1);
}

TEST(TapesInRegisters, GiveTheGradientOfAPlainLoop) {
  const Function slope = trace(grad(spiral(Checkpoint::tape())), f64({2}), f64());
  for (const double end : {100.0, 1.0, 0.5, 0.01, 0.003}) {
    SCOPED_TRACE(end);
    const auto got =
        expect_agreement(slope, {Literal::from(std::vector{1.0, 0.6}, {2}), Literal::scalar(end)});
    const std::vector<double> want = spiral_slope(1.0, 0.6, end);
    for (std::size_t i = 0; i < 2; i++)
      EXPECT_NEAR(got[0].data<double>()[i], want[i], 1e-12 * (1 + std::abs(want[i])));
  }
}

TEST(TapesInRegisters, HaveTheSameBitsUnderLimits) {
  const Executable run = compile(trace(grad(spiral(Checkpoint::tape())), f64({2}), f64()));
  const std::vector<Literal> arguments{Literal::from(std::vector{1.0, 0.6}, {2}),
                                       Literal::scalar(0.01)};
  RunStats stats;
  const Literal whole = run.run(arguments, {.stats = &stats})[0];
  ASSERT_EQ(stats.loops.size(), 2u);
  const std::int64_t trips = stats.loops[0].trips;
  EXPECT_GT(trips, 100);
  EXPECT_EQ(stats.loops[1].trips, trips);
  EXPECT_TRUE(run.run(arguments, {.max_iterations = trips})[0].identical(whole));
  EXPECT_THROW(run.run(arguments, {.max_iterations = trips - 1}), ExecutionError);
}

TEST(TapesInRegisters, BeginAnewInALoopAround) {
  const auto f = [](Tensor y, Tensor ends) {
    const auto slope = grad(spiral(Checkpoint::tape()));
    return scan([&](Tensor total, Tensor end) { return std::pair(total + slope(y, end), end); },
                zeros(f64({2})), ends)
        .first;
  };
  const Function program = trace(f, f64({2}), f64({3}));
  const auto got = expect_agreement(program, {Literal::from(std::vector{1.0, 0.6}, {2}),
                                              Literal::from(std::vector{0.003, 0.5, 0.1}, {3})});
  std::vector<double> want(2);
  for (const double end : {0.003, 0.5, 0.1}) {
    const std::vector<double> one = spiral_slope(1.0, 0.6, end);
    for (std::size_t i = 0; i < 2; i++) want[i] += one[i];
  }
  for (std::size_t i = 0; i < 2; i++) EXPECT_NEAR(got[0].data<double>()[i], want[i], 1e-12);
}

TEST(TapesInRegisters, PassSecondDerivatives) {
  const auto f = spiral(Checkpoint::tape());
  const Function bend = trace(
      [&](Tensor y, Tensor end) {
        return grad([&](Tensor y) { return sum(square(grad(f)(y, end))); })(y);
      },
      f64({2}), f64());
  const Literal start = Literal::from(std::vector{1.0, 0.6}, {2});
  const auto got = expect_agreement(bend, {start, Literal::scalar(0.05)});
  const auto value = [&](double a, double b) {
    const std::vector<double> slope = spiral_slope(a, b, 0.05);
    return slope[0] * slope[0] + slope[1] * slope[1];
  };
  const double h = 1e-5;
  EXPECT_NEAR(got[0].data<double>()[0], (value(1 + h, 0.6) - value(1 - h, 0.6)) / (2 * h), 1e-6);
  EXPECT_NEAR(got[0].data<double>()[1], (value(1, 0.6 + h) - value(1, 0.6 - h)) / (2 * h), 1e-6);
}

}  // namespace
}  // namespace rondo::testing
