// The Arenstorf orbit: a satellite around Earth and Moon, by the method of Dormand and Prince
// (1980) with an adaptive step, in one while (Hairer, Norsett and Wanner, "Solving Ordinary
// Differential Equations I", II.0).
#include <array>
#include <cmath>

#include "seeds/ways.h"

namespace rondo {
namespace {

using testing::each_way;
using testing::Eager;
using testing::whiles_in;

using Values = std::vector<Literal>;

constexpr double kMoon = 0.012277471, kEarth = 1 - kMoon;
constexpr double kPeriod = 17.0652165601579625589;
constexpr double kSpeed = -2.00158510637908252240537862224;

template <class T>
using Point = std::array<T, 4>;  // x, y, and their derivatives

template <class T>
Point<T> rates(const Point<T>& p) {
  using std::sqrt;
  const auto [x, y, u, v] = p;
  auto cubed_distance = [&y = y](const T& from) {
    const T squared = from * from + y * y;
    return T(squared * sqrt(squared));
  };
  const T earth = cubed_distance(x + kMoon), moon = cubed_distance(x - kEarth);
  return {u, v, x + 2.0 * v - kEarth * (x + kMoon) / earth - kMoon * (x - kEarth) / moon,
          y - 2.0 * u - kEarth * y / earth - kMoon * y / moon};
}

constexpr double kStages[6][6] = {
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
/// The solution of fifth order minus that of fourth.
constexpr double kError[7] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                              -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

template <class T>
struct Step {
  Point<T> to;
  T error;  // relative to the tolerance: at most 1 is accepted
};

template <class T>
Step<T> dormand_prince(const Point<T>& from, const T& h, double tolerance) {
  using std::abs;
  using std::sqrt;
  std::array<Point<T>, 7> k;
  k[0] = rates(from);
  Point<T> to = from;
  for (std::size_t stage = 0; stage < 6; stage++) {
    for (std::size_t i = 0; i < 4; i++) {
      T slope = kStages[stage][0] * k[0][i];
      for (std::size_t j = 1; j <= stage; j++) slope = slope + kStages[stage][j] * k[j][i];
      to[i] = from[i] + h * slope;
    }
    k[stage + 1] = rates(to);
  }
  T squares = 0.0;
  for (std::size_t i = 0; i < 4; i++) {
    T error = kError[0] * k[0][i];
    for (std::size_t j = 1; j < 7; j++) error = error + kError[j] * k[j][i];
    const T scaled = h * error / (tolerance * (1.0 + abs(from[i])));
    squares = squares + scaled * scaled;
  }
  return {to, T(sqrt(squares / 4.0))};
}

struct Flight {
  Tensor time, step;
  Point<Tensor> at;
  Tensor accepted, rejected;
};

/// One orbit, or `most` steps of it.
auto fly(double tolerance) {
  return [tolerance](Tensor most) {
    return while_loop(
        [&](Flight f) { return (f.time < kPeriod) & (f.accepted + f.rejected < most); },
        [&](Flight f) {
          const Tensor h = minimum(f.step, kPeriod - f.time);
          const Step<Tensor> step = dormand_prince(f.at, h, tolerance);
          const Tensor fine = step.error <= 1.0;
          Point<Tensor> at;
          for (std::size_t i = 0; i < 4; i++) at[i] = where(fine, step.to[i], f.at[i]);
          const Tensor factor = clamp(0.2, 0.9 * pow(maximum(step.error, 1e-10), -0.2), 5.0);
          // The last step ends exactly on the period, without rounding error.
          const Tensor time = where(h < f.step, kPeriod, f.time + h);
          return Flight{where(fine, time, f.time), h * factor, at,
                        f.accepted + convert(fine, DType::kS32),
                        f.rejected + convert(!fine, DType::kS32)};
        },
        Flight{0.0, 1e-3, {0.994, 0.0, 0.0, kSpeed}, 0, 0}, {.name = "flight"});
  };
}

struct PlainFlight {
  double time = 0;
  Point<double> at = {0.994, 0.0, 0.0, kSpeed};
  int accepted = 0, rejected = 0;
};

PlainFlight plain_flight(double tolerance, int most) {
  PlainFlight f;
  double step = 1e-3;
  while (f.time < kPeriod && f.accepted + f.rejected < most) {
    const double h = std::min(step, kPeriod - f.time);
    const Step<double> tried = dormand_prince(f.at, h, tolerance);
    if (tried.error <= 1) {
      f.time = h < step ? kPeriod : f.time + h;
      f.at = tried.to;
      f.accepted++;
    } else {
      f.rejected++;
    }
    step = h * std::clamp(0.9 * std::pow(std::max(tried.error, 1e-10), -0.2), 0.2, 5.0);
  }
  return f;
}

TEST(SeedArenstorf, ClosesAfterOnePeriod) {
  const double tolerance = 1e-13;
  const PlainFlight plain = plain_flight(tolerance, 100'000);
  each_way(
      Eager::kNo,
      [&](const Values& v) {
        EXPECT_EQ(v.at(0).item<double>(), kPeriod);
        EXPECT_NEAR(v.at(2).item<double>(), 0.994, 1e-5);
        EXPECT_NEAR(v.at(3).item<double>(), 0, 1e-5);
        // The same decisions as in plain C++, up to rounding: no more than a step or two differ.
        EXPECT_NEAR(v.at(6).item<int>(), plain.accepted, 2);
        EXPECT_NEAR(v.at(7).item<int>(), plain.rejected, 2);
        EXPECT_GT(v.at(7).item<int>(), 0) << "the step is meant to be refused now and then";
      },
      fly(tolerance), 100'000);
}

TEST(SeedArenstorf, FirstStepsAreThePlainOnes) {
  const PlainFlight plain = plain_flight(1e-6, 12);
  each_way(
      Eager::kYes,
      [&](const Values& v) {
        EXPECT_NEAR(v.at(0).item<double>(), plain.time, 1e-12);
        for (std::size_t i = 0; i < 4; i++)
          EXPECT_NEAR(v.at(2 + i).item<double>(), plain.at[i], 1e-10) << i;
        EXPECT_EQ(v.at(6).item<int>(), plain.accepted);
        EXPECT_EQ(v.at(7).item<int>(), plain.rejected);
      },
      fly(1e-6), 12);
}

TEST(SeedArenstorf, IsOneWhile) { EXPECT_EQ(whiles_in(to_hlo_text(trace(fly(1e-10), s32()))), 1); }

}  // namespace
}  // namespace rondo
