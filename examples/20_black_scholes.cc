// Lesson 20: the Greeks of an option: the derivatives of its price.
//
// F. Black and M. Scholes' price of European options (1973) with the figures of J. Hull, "Options,
// Futures, and Other Derivatives": spot 42, strike 40, rate 10 %, volatility 20 %, half a year. The
// call costs 4.76 and the put 0.81. One grad gives delta, vega, theta and rho together; the
// second-order Greeks are in the Hessian.
#include <cmath>
#include <cstdio>
#include <numbers>

#include "rondo/rondo.h"

using rondo::Tensor;

struct Option {
  Tensor spot, strike, rate, volatility, years;
};

/// The standard normal distribution function.
Tensor normal_cdf(Tensor x) { return 0.5 * erfc(-x / std::numbers::sqrt2); }

/// `sign` is 1 for a call, -1 for a put.
Tensor price(const Option& o, double sign) {
  const Tensor spread = o.volatility * sqrt(o.years);
  const Tensor d1 =
      (log(o.spot / o.strike) + (o.rate + square(o.volatility) / 2) * o.years) / spread;
  const Tensor d2 = d1 - spread;
  return sign * (o.spot * normal_cdf(sign * d1) -
                 o.strike * exp(-o.rate * o.years) * normal_cdf(sign * d2));
}
Tensor call(Option o) { return price(o, 1); }
Tensor put(Option o) { return price(o, -1); }

double cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

int main() {
  const Option option{42.0, 40.0, 0.1, 0.2, 0.5};
  // The closed formulas, as in every textbook.
  const double s = 42, k = 40, r = 0.1, v = 0.2, t = 0.5;
  const double d1 = (std::log(s / k) + (r + v * v / 2) * t) / (v * std::sqrt(t));
  const double d2 = d1 - v * std::sqrt(t), discounted = k * std::exp(-r * t);
  const double density = std::exp(-d1 * d1 / 2) / std::sqrt(2 * std::numbers::pi);
  const double vega = s * density * std::sqrt(t);

  std::printf("%-12s %12s %12s\n", "", "rondo", "formula");
  auto row = [](const char* name, const Tensor& ours, double formula) {
    std::printf("%-12s %12.6f %12.6f\n", name, ours.item<double>(), formula);
  };

  // The gradient has the fields of the option. Theta is the change as time passes, so that less of
  // it remains.
  auto [call_price, by_call] = rondo::jit(rondo::value_and_grad(call))(option);
  row("call", call_price, s * cdf(d1) - discounted * cdf(d2));
  row("  delta", by_call.spot, cdf(d1));
  row("  vega", by_call.volatility, vega);
  row("  theta", -by_call.years, -s * density * v / (2 * std::sqrt(t)) - r * discounted * cdf(d2));
  row("  rho", by_call.rate, t * discounted * cdf(d2));
  auto [put_price, by_put] = rondo::jit(rondo::value_and_grad(put))(option);
  row("put", put_price, discounted * cdf(-d2) - s * cdf(-d1));
  row("  delta", by_put.spot, cdf(d1) - 1);
  row("  vega", by_put.volatility, vega);
  row("  theta", -by_put.years, -s * density * v / (2 * std::sqrt(t)) + r * discounted * cdf(-d2));
  row("  rho", by_put.rate, -t * discounted * cdf(-d2));

  // Second order, by the Hessian of the call in spot and volatility.
  auto of_two = [&](Tensor x) {
    Option o = option;
    o.spot = x[0];
    o.volatility = x[1];
    return call(o);
  };
  const Tensor h = rondo::jit(rondo::hessian(of_two))(rondo::constant({s, v}));
  std::printf("second order\n");
  row("  gamma", h[0][0], density / (s * v * std::sqrt(t)));
  row("  vanna", h[0][1], -density * d2 / v);
  row("  volga", h[1][1], vega * d1 * d2 / v);

  // The implied volatility of a price, by Newton's method with vega: a while around a gradient.
  struct Guess {
    Tensor volatility, change;
  };
  auto implied = rondo::jit([&](Tensor quoted) {
    auto newton = [&](Guess g) {
      auto price_at = [&](Tensor volatility) {
        Option o = option;
        o.volatility = volatility;
        return call(o);
      };
      auto [value, vega] = rondo::value_and_grad(price_at)(g.volatility);
      const Tensor change = (quoted - value) / vega;
      return Guess{g.volatility + change, change};
    };
    return rondo::while_loop([](Guess g) { return abs(g.change) > 1e-12; }, newton, Guess{0.5, 1.0})
        .volatility;
  });
  std::printf("implied volatility\n");
  row("  at 4.7594", implied(call_price), v);
  // Its derivative is a gradient through that loop, and equals 1 / vega.
  row("  slope", rondo::jit(rondo::grad(implied))(call_price), 1 / vega);
}
