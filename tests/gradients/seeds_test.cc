// Gradients with known values, and those that other systems silently computed wrongly.
#include <cmath>
#include <limits>

#include "gradients/loops.h"
#include "gradients/thermal.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

TEST(SeedGradients, OfASumWhoseLengthDependsOnIt) {
  // The trip count is the derivative.
  for (const Checkpoint policy : kPolicies) {
    SCOPED_TRACE(name_of(policy));
    WhileOptions options;
    options.checkpoint = policy;
    const auto f = [&](Tensor x) {
      return while_loop([](Tensor acc) { return acc < 10; }, [&](Tensor acc) { return acc + x; },
                        zeros(x.type()), options);
    };
    const auto slope = jit(grad(f));
    expect_scalar(slope(1.0), 10.0);
    expect_scalar(slope(0.5), 20.0);
    expect_scalar(slope(3.0), 4.0);
    expect_scalar(slope(1.0f), 10.0f);
    expect_scalar(jvp(f, std::tuple(3.0), std::tuple(1.0)).second, 4.0);
  }
}

TEST(SeedGradients, OfTriplingAreThePowersOfThree) {
  const std::vector<std::pair<int, double>> known{{0, 1.0}, {1, 3.0}, {2, 9.0}, {5, 243.0}};
  const auto triple = [](const Tensor&, const Tensor& x) { return 3 * x; };
  for (const LoopKind kind : kLoops) {
    for (const Checkpoint policy : kPolicies) {
      SCOPED_TRACE(name_of(kind) + " " + name_of(policy));
      if (has_known_length(kind)) {
        for (const auto& [n, power] : known) {
          const auto f = [&, trips = n](Tensor x) {
            return run_loop(kind, {trips}, triple, x, policy);
          };
          expect_scalar(grad(f)(0.7), power);
        }
      } else {
        const auto slope = jit(grad([&](Tensor x, Tensor n) {
          return run_loop(kind, {0, n}, triple, x, policy);
        }));
        for (const auto& [n, power] : known) expect_scalar(slope(0.7, n), power);
      }
    }
  }
}

TEST(SeedGradients, ForwardThroughDoublingThreeTimes) {
  const auto f = [](Tensor x) {
    return fori_loop(
        0, 3, [](Tensor, Tensor x) { return x * 2; }, x);
  };
  const auto [out, tangent] = jvp(f, std::tuple(2.0f), std::tuple(1.0f));
  expect_scalar(out, 16.0f);
  expect_scalar(tangent, 8.0f);
}

TEST(SeedGradients, OfACumulativeSum) {
  const auto loss = [](Tensor init, Tensor xs) {
    const auto [carry, ys] = scan(
        [](Tensor c, Tensor x) {
          const Tensor next = c + x;
          return std::pair(next, next);
        },
        init, xs);
    return sum(carry) + sum(ys);
  };
  const Tensor xs = constant({{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}});
  const auto [of_init, of_xs] = grad<0, 1>(loss)(zeros(f32({2})), xs);
  expect_values<float>(of_init, {2}, {4, 4});
  expect_values<float>(of_xs, {3, 2}, {4, 4, 3, 3, 2, 2});
}

TEST(SeedGradients, OfIntegersAndPredsBesideFloatsAreNone) {
  struct State {
    Tensor i, odd, x, bits;
  };
  const auto f = [](State start) {
    const State end =
        while_loop([](State s) { return s.i < 5; },
                   [](State s) {
                     return State{s.i + 1, !s.odd, where(s.odd, s.x * 3, s.x * 2), s.bits ^ 5};
                   },
                   start);
    return end.x * convert(convert(end.bits, DType::kS32) + end.i, DType::kF64);
  };
  const State slope = grad(f)(State{0, false, 2.0, std::uint8_t{1}});
  expect_scalar(slope.i, 0);
  expect_scalar(slope.odd, false);
  expect_scalar(slope.bits, std::uint8_t{0});
  // x doubles on trips 0, 2, 4 and triples on 1, 3; bits end as 1 ^ 5, i as 5.
  EXPECT_EQ(slope.x.item<double>(), 72.0 * (4 + 5));
}

struct ThermalRow {
  int trips;
  double loss, slab, quanta, tank;
};
constexpr ThermalRow kThermalRows[] = {{20, 35.47135, 11.89496, 0.016431, 0.000178},
                                       {100, 35.60342, 11.86744, 0.062496, 0.003781},
                                       {1000, 38.61646, 12.20945, 0.131274, 0.087704},
                                       {10000, 42.53920, 12.69271, 0.150184, 0.201522}};
constexpr double kFiveDigits = 0.5001e-5, kSixDigits = 0.5001e-6;

TEST(ThermalLoop, EndsAtTheKnownTemperatures) {
  const auto run = jit([](House start, Tensor n) { return thermal(start, n); });
  const House end = run(House{20.0, 20.0, 70.0}, 20);
  EXPECT_NEAR(end.slab.item<double>(), 20.000749, kSixDigits);
  EXPECT_NEAR(end.quanta.item<double>(), 21.035739, kSixDigits);
  EXPECT_NEAR(end.tank.item<double>(), 69.181626, kSixDigits);
  const std::string text = to_hlo_text(trace(
      [](House start, Tensor n) { return thermal(start, n); }, House{20.0f, 20.0f, 70.0f}, s32()));
  std::size_t whiles = 0;
  for (std::size_t at = 0; (at = text.find(" while(", at)) != std::string::npos; at++) whiles++;
  EXPECT_EQ(whiles, 1u);
}

TEST(ThermalLoop, LossesInSinglePrecision) {
  // Rounding each step to f32 changes the last digit or two of these.
  const auto loss = jit([](House start, Tensor n) { return thermal_loss(thermal(start, n)); });
  for (const auto& [trips, expected] : {std::pair(20, 35.47133), std::pair(100, 35.60341),
                                        std::pair(1000, 38.61520), std::pair(10000, 42.51913)})
    EXPECT_NEAR(loss(House{33.3f, 33.3f, 70.0f}, trips).item<float>(), expected, 2e-4 * expected);
}

void expect_thermal_gradients(const WhileOptions& options, int most_trips) {
  const auto both = jit(value_and_grad(
      [&](House start, Tensor n) { return thermal_loss(thermal(start, n, options)); }));
  for (const ThermalRow& row : kThermalRows) {
    if (row.trips > most_trips) break;
    SCOPED_TRACE(row.trips);
    const auto [loss, slope] = both(House{33.3, 33.3, 70.0}, row.trips);
    // The known target has six decimals: half of the last one changes the loss by 6e-6.
    EXPECT_NEAR(loss.item<double>(), row.loss, kFiveDigits + 6e-6);
    EXPECT_NEAR(slope.slab.item<double>(), row.slab, kFiveDigits);
    EXPECT_NEAR(slope.quanta.item<double>(), row.quanta, kSixDigits);
    EXPECT_NEAR(slope.tank.item<double>(), row.tank, kSixDigits);
  }
}

TEST(ThermalLoop, GradientsOfAWhileOfUnknownLength) { expect_thermal_gradients({}, 10000); }

TEST(ThermalLoop, GradientsOfAWhileOfPromisedLength) {
  WhileOptions options;
  options.max_trip_count = 10000;
  expect_thermal_gradients(options, 10000);
}

TEST(ThermalLoop, GradientsWithEightSlots) {
  WhileOptions options;
  options.checkpoint = Checkpoint::online(8);
  expect_thermal_gradients(options, 1000);
}

TEST(ThermalLoop, GradientsOfLoopsOfKnownLength) {
  for (const ThermalRow& row : kThermalRows) {
    if (row.trips > 1000) break;
    for (const Checkpoint policy : {Checkpoint::tape(), Checkpoint::periodic(32)}) {
      SCOPED_TRACE(name_of(policy) + " " + std::to_string(row.trips));
      ForiOptions options;
      options.checkpoint = policy;
      const House slope = jit(grad([&](House start) {
        return thermal_loss(fori_loop(
            0, row.trips, [](Tensor, House h) { return thermal_step(h); }, start, options));
      }))(House{33.3, 33.3, 70.0});
      EXPECT_NEAR(slope.slab.item<double>(), row.slab, kFiveDigits);
      EXPECT_NEAR(slope.quanta.item<double>(), row.quanta, kSixDigits);
      EXPECT_NEAR(slope.tank.item<double>(), row.tank, kSixDigits);
    }
  }
}

TEST(ThermalLoop, ForwardModeAgrees) {
  const auto along = jit([](House start, House direction, Tensor n) {
    return jvp([&](House h) { return thermal_loss(thermal(h, n)); }, std::tuple(start),
               std::tuple(direction))
        .second;
  });
  for (const ThermalRow& row : kThermalRows) {
    const House start{33.3, 33.3, 70.0};
    const double slab = along(start, House{1.0, 0.0, 0.0}, row.trips).item<double>();
    const double tank = along(start, House{0.0, 0.0, 1.0}, row.trips).item<double>();
    EXPECT_NEAR(slab, row.slab, kFiveDigits);
    EXPECT_NEAR(tank, row.tank, kSixDigits);
  }
}

}  // namespace
}  // namespace rondo::testing
