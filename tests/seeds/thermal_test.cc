// The thermal loop: a floor slab, the water in its pipe and a tank, in explicit Euler steps.
#include <cmath>
#include <limits>
#include <numbers>

#include "seeds/ways.h"

namespace rondo {
namespace {

using testing::each_way;
using testing::Eager;
using testing::whiles_in;

using Values = std::vector<Literal>;

constexpr double kStep = 0.1;
constexpr double kArea = std::numbers::pi * 0.019 * (100 / 0.50292);
constexpr double kFluid = kArea * 0.019 / 4 * 1000;
constexpr double kConductance = kArea / (0.35 * 0.0023);

/// One step in numbers or tensors; C++ scalars take the dtype of the other operand.
template <class T, class Constant>
void step(T& slab, T& quanta, T& tank, Constant constant) {
  const T power = (tank - quanta) * constant(0.6309) * constant(4184);
  const T flow = (quanta - slab) * constant(kConductance);
  slab = slab + flow * constant(kStep) / constant(880 * 22650.058);
  quanta = quanta + (power - flow) * constant(kStep) / constant(4184 * kFluid);
  tank = tank - power * constant(kStep) / constant(4184 * 75.708);
}

struct House {
  Tensor iter, slab, quanta, tank;
};

House simulate(Tensor slab, Tensor quanta, Tensor tank, Tensor steps) {
  return while_loop([&](House h) { return h.iter < steps; },
                    [](House h) {
                      step(h.slab, h.quanta, h.tank, [](double x) { return x; });
                      h.iter = h.iter + 1;
                      return h;
                    },
                    House{0, slab, quanta, tank}, {.name = "heating"});
}

/// The plain loop in numbers of type T.
template <class T>
std::vector<T> plain(T slab, T quanta, T tank, int steps) {
  for (int i = 0; i < steps; i++)
    step(slab, quanta, tank, [](double x) { return static_cast<T>(x); });
  return {slab, quanta, tank};
}

double loss(double slab) { return (slab - 27.344767) * (slab - 27.344767); }

/// Simulates in every way, and compares with the plain loop up to rounding.
template <class T, class Check>
void expect_plain(T slab, T quanta, T tank, int steps, const Check& check) {
  SCOPED_TRACE(steps);
  const std::vector<T> want = plain(slab, quanta, tank, steps);
  each_way(
      steps <= 20 ? Eager::kYes : Eager::kNo,
      [&](const Values& v) {
        EXPECT_EQ(v.at(0).item<int>(), steps);
        for (std::size_t i = 0; i < 3; i++) {
          EXPECT_NEAR(v.at(i + 1).item<T>(), want[i],
                      4 * std::numeric_limits<T>::epsilon() * std::abs(want[i]));
        }
        check(v);
      },
      simulate, slab, quanta, tank, steps);
}

TEST(SeedThermal, TwentyStepsFrom20) {
  expect_plain(20.0, 20.0, 70.0, 20, [](const Values& v) {
    EXPECT_NEAR(v.at(1).item<double>(), 20.000749, 0.5e-6);
    EXPECT_NEAR(v.at(2).item<double>(), 21.035739, 0.5e-6);
    EXPECT_NEAR(v.at(3).item<double>(), 69.181626, 0.5e-6);
  });
}

TEST(SeedThermal, LossesInF64) {
  const std::vector<std::pair<int, double>> rows = {
      {20, 35.47135}, {100, 35.60342}, {1000, 38.61646}, {10000, 42.53920}};
  for (const auto& [steps, want] : rows) {
    const double printed = want;
    expect_plain(33.3, 33.3, 70.0, steps, [&](const Values& v) {
      EXPECT_NEAR(loss(v.at(1).item<double>()), printed, 1e-5);
    });
  }
}

TEST(SeedThermal, LossesInF32) {
  // After 10000 steps rounding errors have accumulated: 42.53920 is the loss in f64. Every order of
  // the multiplications, fused or not, gives the slab 33.86545944 in f32, on real XLA too.
  const std::vector<std::pair<int, double>> rows = {
      {20, 35.47133}, {100, 35.60341}, {1000, 38.61520}, {10000, 42.51943}};
  for (const auto& [steps, want] : rows) {
    const double printed = want;
    expect_plain(33.3f, 33.3f, 70.0f, steps,
                 [&](const Values& v) { EXPECT_NEAR(loss(v.at(1).item<float>()), printed, 1e-5); });
  }
}

TEST(SeedThermal, IsOneWhile) {
  for (const TensorType& type : {f32(), f64()}) {
    const Function f = trace(simulate, type, type, type, s32());
    EXPECT_EQ(whiles_in(to_hlo_text(f)), 1);
    EXPECT_EQ(whiles_in(to_hlo_text(f, {.optimize = true})), 1);
    EXPECT_EQ(f.stats().loops, 1);
  }
}

}  // namespace
}  // namespace rondo
