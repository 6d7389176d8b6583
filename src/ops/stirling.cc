#include "ops/stirling.h"

#include <array>

#include "lower/special_functions.h"
#include "ops/tensor_number.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"
#include "rondo/ops/special.h"

namespace rondo::ops {

namespace {

constexpr std::array kStirling{1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                               1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};

}  // namespace

Tensor stirling_rest(const Tensor& a) {
  const TensorNumber w{1 / a};
  return (w * lower::math::polynomial(w * w, kStirling)).t;
}

Tensor minus_log(const Tensor& x, const Tensor& ratio) {
  // log(1 + x) = 2 atanh(r) with r = x / (2 + x), and x - 2r = x r.
  const Tensor near = abs(x) < 0.5;
  const Tensor held = where(near, x, 0), r = held / (held + 2), z = r * r;
  Tensor series = z / 35;
  for (int k = 33; k >= 5; k -= 2) series = z * (1.0 / k + series);
  return where(near, held * r - 2 * (r * z) * (1.0 / 3 + series), x - log(ratio));
}

Tensor lgamma1p(const Tensor& a) {
  const Tensor near = a <= 0.25, held = where(near, a, 0);
  const Tensor by_series =
      held * lower::math::polynomial(TensorNumber{held}, lower::math::kLgammaNearTwo).t -
      log1p(held);
  return where(near, by_series, lgamma(1 + a));
}

Tensor lgamma_rise(const Tensor& a, const Tensor& b) {
  // gamma(t + 1) = t gamma(t): 1 + b steps is the product of (t + b) / t.
  Tensor steps = zeros(a.type());
  const Tensor below = a < 8;
  for (int k = 0; k < 8; k++) {
    const Tensor inverse = 1 / (a + k);
    steps = steps + inverse * (1 + b * steps);
  }
  const Tensor t = where(below, a + 8, a), end = t + b;
  // The difference of stirling_rest, divided by b, as that of a polynomial in w^2 is formed.
  const Tensor w = 1 / t, v = 1 / end, square = v * v;
  Tensor value = full(a.type(), kStirling.back()), slope = zeros(a.type());
  for (std::size_t k = kStirling.size() - 1; k-- > 0;) {
    slope = slope * square + value;
    value = value * (w * w) + kStirling[k];
  }
  const Tensor rests = -(v * w) * (value + v * (v + w) * slope);
  return ((t - 0.5) * log1p(b / t) - b) + b * (log(end) + rests) -
         where(below, log1p(b * steps), 0);
}

namespace {

/// x less whole numbers, so that it is in [1, 2) if it was in [2, 8).
struct Reduced {
  Tensor x, product, divisor;
};
/// B(a, b) = B(a - 1, b) (a - 1) / (a + b - 1), for the operand a.
Reduced reduced(const Tensor& a, const Tensor& b) {
  Reduced r{a, ones(a.type()), ones(a.type())};
  for (int k = 1; k <= 6; k++) {
    const Tensor next = a - k, takes = (next >= 1) & (a < 8);
    r.x = where(takes, next, r.x);
    r.product = where(takes, r.product * next, r.product);
    r.divisor = where(takes, r.divisor * (next + b), r.divisor);
  }
  return r;
}

}  // namespace

Tensor betaln_of_positive(const Tensor& a, const Tensor& b) {
  const Reduced first = reduced(a, b), second = reduced(b, first.x);
  const Tensor &p = first.x, &q = second.x, sum = p + q;
  const Tensor steps = log(first.product / first.divisor * (second.product / second.divisor));
  // Both small: three logarithms of numbers below 4.
  const Tensor small = b < 8, both = a >= 8;
  const Tensor of_small = lgamma(p) + lgamma(where(small, q, 1)) - lgamma(where(small, sum, 1));
  // One large: log(gamma(q) / gamma(sum)) by Stirling's series, whose large parts cancel here.
  const Tensor large = where(small, 8, q), ratio = p / large, all = p + large;
  const Tensor rests = stirling_rest(large) - stirling_rest(all);
  const Tensor of_one =
      lgamma(where(both, 1, p)) +
      ((large * minus_log(ratio, 1 + ratio) + 0.5 * log1p(ratio) + rests) - p * log(all));
  // Both large.
  const Tensor less = where(both, p, 8);
  const Tensor of_both = (0.91893853320467274 - 0.5 * log(large) + (stirling_rest(less) + rests)) -
                         (less - 0.5) * log1p(large / less) - large * log1p(less / large);
  return where(small, of_small, where(both, of_both, of_one)) + steps;
}

}  // namespace rondo::ops
