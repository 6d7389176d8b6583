// Black and Scholes's prices, a Kalman filter and a least-squares fit: published numbers that need
// no derivative of Rondo's.
#include <cmath>
#include <numbers>

#include "seeds/ways.h"

namespace rondo {
namespace {

using testing::each_way;
using testing::Eager;
using testing::whiles_in;

using Values = std::vector<Literal>;

// Options: Hull, "Options, Futures, and Other Derivatives", the example of a stock at 42.

Tensor normal_cdf(Tensor x) { return 0.5 * erfc(-x / std::numbers::sqrt2); }

struct Option {
  Tensor spot, strike, rate, volatility, years;
};
struct Prices {
  Tensor call, put;
};

Prices black_scholes(Option o) {
  const Tensor spread = o.volatility * sqrt(o.years);
  const Tensor d1 =
      (log(o.spot / o.strike) + (o.rate + o.volatility * o.volatility / 2) * o.years) / spread;
  const Tensor d2 = d1 - spread, discounted = o.strike * exp(-o.rate * o.years);
  return {o.spot * normal_cdf(d1) - discounted * normal_cdf(d2),
          discounted * normal_cdf(-d2) - o.spot * normal_cdf(-d1)};
}

TEST(SeedBlackScholes, CallAndPut) {
  each_way(
      Eager::kYes,
      [](const Values& v) {
        EXPECT_NEAR(v.at(0).item<double>(), 4.7594, 0.5e-4);
        EXPECT_NEAR(v.at(1).item<double>(), 0.8086, 0.5e-4);
        const double parity = 42 - 40 * std::exp(-0.1 * 0.5);
        EXPECT_NEAR(v.at(0).item<double>() - v.at(1).item<double>(), parity, 1e-13);
      },
      black_scholes, Option{42.0, 40.0, 0.1, 0.2, 0.5});
}

TEST(SeedBlackScholes, ImpliedVolatilityByBisection) {
  // A while that inverts the formula finds the implied volatility.
  auto implied = [](Tensor price) {
    auto [low, high] = while_loop(
        [](Tensor low, Tensor high) { return high - low > 1e-12; },
        [&](Tensor low, Tensor high) {
          const Tensor middle = 0.5 * (low + high);
          const Tensor expensive = black_scholes({42.0, 40.0, 0.1, middle, 0.5}).call > price;
          return std::tuple(where(expensive, low, middle), where(expensive, middle, high));
        },
        std::tuple(0.01, 2.0));
    return 0.5 * (low + high);
  };
  const double price = jit(black_scholes)(Option{42.0, 40.0, 0.1, 0.2, 0.5}).call.item<double>();
  each_way(
      Eager::kYes, [](const Values& v) { EXPECT_NEAR(v.at(0).item<double>(), 0.2, 1e-11); },
      implied, price);
}

// The annual flow of the Nile at Aswan, 1871 to 1970, 10^8 m^3, with the local level model: Durbin
// and Koopman, "Time Series Analysis by State Space Methods", chapter 2.

const std::vector<double>& nile() {
  static const std::vector<double> flows = {
      1120, 1160, 963, 1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110, 994,  1020,
      960,  1180, 799, 958,  1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774,  840,
      874,  694,  940, 833,  701,  916,  692,  1020, 1050, 969,  831,  726,  456,  824,  702,
      1120, 1100, 832, 764,  821,  768,  845,  864,  862,  698,  845,  744,  796,  1040, 759,
      781,  865,  845, 944,  984,  897,  822,  1010, 771,  676,  649,  846,  812,  742,  801,
      1040, 860,  874, 848,  890,  744,  749,  838,  1050, 918,  986,  797,  923,  975,  815,
      1020, 906,  901, 1170, 912,  746,  919,  718,  714,  740};
  return flows;
}

struct Level {
  Tensor mean, variance, likelihood;
};

/// The diffuse log-likelihood: the first observation only starts the filter.
Tensor log_likelihood(Tensor flows, Tensor noise, Tensor drift) {
  const Level start{flows[0], noise + drift, 0.0};
  const std::int64_t n = flows.dim(0);
  auto step = [&](Level level, Tensor flow) {
    const Tensor surprise = flow - level.mean, spread = level.variance + noise;
    const Tensor gain = level.variance / spread;
    return std::pair(Level{level.mean + gain * surprise, level.variance * (1 - gain) + drift,
                           level.likelihood - 0.5 * (log(spread) + surprise * surprise / spread)},
                     std::tuple<>());
  };
  const Level end = scan(step, start, slice(flows, {1}, {n}), {.name = "filter"}).first;
  return end.likelihood - 0.5 * static_cast<double>(n - 1) * std::log(2 * std::numbers::pi);
}

TEST(SeedKalman, NileAtThePublishedVariances) {
  const Literal flows = Literal::from(nile(), {100});
  each_way(
      Eager::kYes, [](const Values& v) { EXPECT_NEAR(v.at(0).item<double>(), -632.5456, 1e-4); },
      log_likelihood, flows, 15098.5, 1469.18);
  // They are the maximum-likelihood estimates.
  auto run = jit(log_likelihood);
  const double best = run(flows, 15098.5, 1469.18).item<double>();
  for (const double factor : {0.9, 0.99, 1.01, 1.1}) {
    EXPECT_LT(run(flows, 15098.5 * factor, 1469.18).item<double>(), best);
    EXPECT_LT(run(flows, 15098.5, 1469.18 * factor).item<double>(), best);
  }
}

// NIST StRD, Misra1a: y = b1 (1 - exp(-b2 x)), with the derivatives written out.

struct Fit {
  Tensor trip, b1, b2, damping, residual, change;
};

Fit misra1a(Tensor x, Tensor y, Tensor b1, Tensor b2) {
  auto residuals = [&](Tensor b1, Tensor b2) { return y - b1 * (1 - exp(-b2 * x)); };
  auto squares = [&](Tensor r) { return sum(r * r); };
  return while_loop([](Fit f) { return (f.change > 1e-14) & (f.trip < 500); },
                    [&](Fit f) {
                      const Tensor r = residuals(f.b1, f.b2);
                      const Tensor by_b1 = 1 - exp(-f.b2 * x), by_b2 = f.b1 * x * exp(-f.b2 * x);
                      // Marquardt's scaled normal equations of two unknowns.
                      const Tensor a = sum(by_b1 * by_b1) * (1 + f.damping), b = sum(by_b1 * by_b2),
                                   d = sum(by_b2 * by_b2) * (1 + f.damping);
                      const Tensor p = sum(by_b1 * r), q = sum(by_b2 * r), det = a * d - b * b;
                      const Tensor step1 = (d * p - b * q) / det, step2 = (a * q - b * p) / det;
                      const Tensor tried = squares(residuals(f.b1 + step1, f.b2 + step2));
                      // Near the end the sum of squares is constant to its last digits, while the
                      // step still helps.
                      const Tensor better = tried <= f.residual * (1 + 1e-13);
                      return Fit{f.trip + 1,
                                 where(better, f.b1 + step1, f.b1),
                                 where(better, f.b2 + step2, f.b2),
                                 where(better, f.damping / 10, f.damping * 10),
                                 where(better, tried, f.residual),
                                 where(better, maximum(abs(step1 / f.b1), abs(step2 / f.b2)), 1.0)};
                    },
                    Fit{0, b1, b2, 1e-3, squares(residuals(b1, b2)), 1.0}, {.name = "fit"});
}

TEST(SeedMisra1a, FromBothStartingPoints) {
  const Literal x = Literal::from<double>({77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4,
                                           434.8, 477.3, 536.8, 593.1, 689.1, 760.0},
                                          {14});
  const Literal y = Literal::from<double>({10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82,
                                           50.76, 55.05, 61.01, 66.40, 75.47, 81.78},
                                          {14});
  const std::vector<std::pair<double, double>> starts = {{500, 0.0001}, {250, 0.0005}};
  for (const auto& [b1, b2] : starts) {
    SCOPED_TRACE(b1);
    each_way(
        Eager::kYes,
        [](const Values& v) {
          EXPECT_LT(v.at(0).item<int>(), 500);
          EXPECT_NEAR(v.at(1).item<double>(), 238.94212918, 1e-8);
          EXPECT_NEAR(v.at(2).item<double>(), 5.5015643181e-04, 1e-14);
          EXPECT_NEAR(v.at(4).item<double>(), 0.12455138894, 1e-11);
        },
        misra1a, x, y, b1, b2);
  }
  EXPECT_EQ(whiles_in(to_hlo_text(trace(misra1a, x, y, f64(), f64()))), 1);
}

}  // namespace
}  // namespace rondo
