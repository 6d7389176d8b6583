// Lesson 28: when to exercise. An American put by least-squares Monte Carlo.
//
// F. Longstaff and E. Schwartz, "Valuing American options by simulation: a simple least-squares
// approach" (2001): from the last date backwards, a regression over all paths gives the value of
// waiting as a function of the price. The dates are a reverse scan; each of its trips fits a
// quadratic by Cholesky's factorisation. The paper's example of eight paths comes first, then a row
// of its table, with the sensitivities that grad gives.
#include <cmath>
#include <cstdio>
#include <vector>

#include "rondo/rondo.h"

using rondo::Tensor;

/// The x for which matmul(l, matmul(transpose(l), x)) = b, l lower triangular.
Tensor solve_factored(Tensor l, Tensor b) {
  const auto down = [&](Tensor i, Tensor z) {
    return update(z, i, (b[i] - dot(l[i], z)) / rondo::at(l, {i, i}));
  };
  const Tensor z = rondo::fori_loop(0, b.dim(0), down, zeros(b.type()));
  const auto up = [&](Tensor i, Tensor x) {
    return update(x, i, (z[i] - dot(rondo::column(l, i), x)) / rondo::at(l, {i, i}));
  };
  return rondo::fori_loop(0, b.dim(0), up, zeros(b.type()), {.reverse = true});
}

/// The coefficients of 1, x and x^2 that fit y best where `counts`.
Tensor quadratic_fit(Tensor x, Tensor y, Tensor counts) {
  const Tensor weight = convert(counts, x.dtype());
  const Tensor basis = rondo::stack({ones(x.type()), x, square(x)}, 0);
  return solve_factored(cholesky(matmul(basis * weight, transpose(basis))),
                        matmul(basis, y * weight));
}

struct Put {
  Tensor value;  // today
  Tensor fits;   // the coefficients at each date before the last
};

/// `paths` is f64[dates, paths]; the first date is today, `discount` that from date to date.
Put american_put(Tensor paths, Tensor strike, Tensor discount) {
  const auto earlier = [&](Tensor cash, Tensor price) {
    const Tensor waiting = cash * discount, now = maximum(strike - price, 0);
    const Tensor in_the_money = strike > price;
    // Which paths are exercised is a decision, which has no derivative.
    const Tensor fit = stop_gradient(quadratic_fit(price, waiting, in_the_money));
    const Tensor worth = fit[0] + fit[1] * price + fit[2] * square(price);
    return std::pair(where(in_the_money & (now > worth), now, waiting), fit);
  };
  const std::int64_t dates = paths.dim(0);
  const Tensor at_the_end = maximum(strike - paths[-1], 0);
  const auto [cash, fits] =
      rondo::scan(earlier, at_the_end, slice(paths, {1, 0}, {dates - 1, paths.dim(1)}),
                  {.reverse = true, .name = "exercise"});
  return Put{mean(cash) * discount, fits};
}

struct Market {
  Tensor spot, rate, volatility;
};

int main() {
  const Tensor paths = rondo::constant({{1.00, 1.00, 1.00, 1.00, 1.00, 1.00, 1.00, 1.00},
                                        {1.09, 1.16, 1.22, 0.93, 1.11, 0.76, 0.92, 0.88},
                                        {1.08, 1.26, 1.07, 0.97, 1.56, 0.77, 0.84, 1.22},
                                        {1.34, 1.54, 1.03, 0.92, 1.52, 0.90, 1.01, 1.34}});
  const Put small = rondo::jit(american_put)(paths, 1.10, std::exp(-0.06));
  std::printf("eight paths    %8.4f (the paper: .1144)\n", small.value.item<double>());
  for (int date = 2; date >= 1; date--) {
    const Tensor fit = small.fits[date - 1];
    std::printf("waiting at %d   %.3f %+.3f x %+.3f x^2\n", date, fit[0].item<double>(),
                fit[1].item<double>(), fit[2].item<double>());
  }

  // A stock at 36, a strike of 40, a year of 50 dates; each path with its mirror image.
  constexpr std::int64_t kPairs = 1000, kDates = 50;
  const auto value = [](Market m) {
    const double dt = 1.0 / kDates;
    const Tensor half = rondo::random::normal(rondo::random::key(4), rondo::f64({kDates, kPairs}));
    const Tensor noise = rondo::concatenate({half, -half}, 1);
    const Tensor growth =
        (m.rate - square(m.volatility) / 2) * dt + m.volatility * std::sqrt(dt) * noise;
    const Tensor moved = exp(rondo::pad(cumsum(growth, 0), 0, {1, 0}, {0, 0}));
    return american_put(m.spot * moved, 40.0, exp(-m.rate * dt)).value;
  };
  const auto [put, by] = rondo::jit(rondo::value_and_grad(value))(Market{36.0, 0.06, 0.2});
  std::printf("2000 paths     %8.3f (the paper, 100000 paths: 4.472)\n", put.item<double>());
  std::printf("  delta        %8.3f\n  vega         %8.3f\n  rho          %8.3f\n",
              by.spot.item<double>(), by.volatility.item<double>(), by.rate.item<double>());
}
