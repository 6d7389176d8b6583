// Lesson 18: maximum likelihood. The variances of a Kalman filter, estimated by Newton's method.
//
// The annual flow of the Nile at Aswan, 1871 to 1970, as a random-walk level that is observed with
// noise: J. Durbin, S. J. Koopman, "Time Series Analysis by State Space Methods", chapter 2. The
// filter is a scan; the gradient and Hessian of its likelihood are computed inside the while that
// maximises it.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "rondo/rondo.h"

using rondo::Tensor;

const std::vector<double> kFlow{
    1120, 1160, 963, 1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110, 994,  1020,
    960,  1180, 799, 958,  1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774,  840,
    874,  694,  940, 833,  701,  916,  692,  1020, 1050, 969,  831,  726,  456,  824,  702,
    1120, 1100, 832, 764,  821,  768,  845,  864,  862,  698,  845,  744,  796,  1040, 759,
    781,  865,  845, 944,  984,  897,  822,  1010, 771,  676,  649,  846,  812,  742,  801,
    1040, 860,  874, 848,  890,  744,  749,  838,  1050, 918,  986,  797,  923,  975,  815,
    1020, 906,  901, 1170, 912,  746,  919,  718,  714,  740};  // 10^8 cubic metres a year

struct Level {
  Tensor mean, variance;  // of the level, before this year's observation
  Tensor likelihood;      // its logarithm, so far
};

/// The diffuse log-likelihood: that of the years after the first, given the first.
Tensor log_likelihood(Tensor log_variances) {
  const Tensor noise = exp(log_variances[0]), drift = exp(log_variances[1]);
  const Tensor flow = rondo::constant(kFlow, {100});
  auto year = [&](Level l, Tensor y) {
    const Tensor variance = l.variance + noise, surprise = y - l.mean;
    const Tensor gain = l.variance / variance;
    const Level next{l.mean + gain * surprise, l.variance * (1 - gain) + drift,
                     l.likelihood - 0.5 * (std::log(2 * std::numbers::pi) + log(variance) +
                                           square(surprise) / variance)};
    return std::pair(next, std::tuple<>());
  };
  const Level first{flow[0], noise + drift, 0.0};
  auto [last, none] = rondo::scan(year, first, slice(flow, {1}, {100}), {.name = "filter"});
  return last.likelihood;
}

struct Search {
  Tensor at, value, gradient;
  Tensor damping, steps;
};

/// One step of Newton's method, (d I - H) step = g with the Hessian H. The damping d shrinks while
/// the likelihood rises; a step that would lower it is rejected.
Search newton(const Search& s) {
  const Tensor h = rondo::hessian(log_likelihood)(s.at);
  const Tensor a = s.damping - h[0][0], b = -h[0][1], c = s.damping - h[1][1];
  const Tensor g = s.gradient[0], k = s.gradient[1];
  const Tensor step = rondo::stack({c * g - b * k, a * k - b * g}, 0) / (a * c - b * b);
  const auto [value, gradient] = rondo::value_and_grad(log_likelihood)(s.at + step);
  const Tensor rises = value > s.value - 1e-9;  // or is equal up to rounding
  return Search{where(rises, s.at + step, s.at), where(rises, value, s.value),
                where(rises, gradient, s.gradient), where(rises, s.damping / 10, s.damping * 10),
                s.steps + 1};
}

int main() {
  auto maximise = rondo::jit([](Tensor start, Tensor most) {
    auto [value, gradient] = rondo::value_and_grad(log_likelihood)(start);
    auto climbs = [&](Search s) { return (max(abs(s.gradient)) > 1e-6) & (s.steps < most); };
    const Search first{start, value, gradient, 1.0, 0};
    return rondo::while_loop(climbs, newton, first, {.name = "newton"});
  });

  // From an uninformed start: half of the variance of the data for each.
  const Tensor start = log(rondo::constant({14000.0, 14000.0}));
  std::printf("step  noise variance  drift variance  log-likelihood\n");
  for (int most : {0, 1, 2, 3, 4, 100}) {
    const Search s = maximise(start, most);
    const Tensor variances = exp(s.at);
    std::printf("%4d  %14.2f  %14.3f  %14.4f\n", s.steps.item<int>(), variances[0].item<double>(),
                variances[1].item<double>(), s.value.item<double>());
  }
  std::printf("book         15098.5         1469.18       -632.5456\n");
}
