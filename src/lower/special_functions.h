// The gamma function and its relatives, Bessel functions and the quantiles of the normal
// distribution, as arithmetic on a number N in f64 (lower/number.h): what narrower floats take is
// computed in f64 and rounded. tests/ops/special_test.cc has the errors.
//
// Sources. Asymptotic series, recurrences and reflection: M. Abramowitz and I. Stegun, Handbook of
// Mathematical Functions, 1964, chapters 6, 9 and 23. The polynomials are those of
// scripts/special_coefficients.py.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "lower/math_functions.h"
#include "lower/special_coefficients.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#endif

namespace rondo::lower::math {

/// log(x) of a positive x in two parts: `high` has so few bits that sums of a few are exact.
template <class N>
struct LogInParts {
  N high, low;
};
template <class N>
LogInParts<N> log_in_parts(const N& x) {
  const LogParts<N> parts = log_parts(x);
  const N low = parts.e * N::of(1.9082149292705877e-10);
  return {parts.e * N::of(0.6931471803691238), log_of_parts(LogParts<N>{N::of(0), parts.f}, low)};
}

/// log |gamma(x)|.
template <class N>
N lgamma(const N& x) {
  const N a = abs(x), one = N::of(1);
  const auto near_zero = a < N::of(0.25), below = a < N::of(1.25), small = a < N::of(8);
  // lgamma(2 + z) with z from -3/4 to 1/4, after steps of gamma(t + 1) = t gamma(t).
  N product = select(below, a, one), z = a - select(below, one, N::of(2));
  for (int j = 1; j <= 6; j++) {
    const N factor = a - N::of(j);
    const auto takes = factor >= N::of(1.25);
    product = select(takes, product * factor, product);
    z = select(takes, factor - N::of(2), z);
  }
  product = select(near_zero, abs(x * (one + x)), product);
  z = select(near_zero, x, z);
  // gamma(a) gamma(-a) = -pi / (a sin(pi a)), and |sin(pi a)| / pi = |r| sinc(r), r being a less a
  // whole number; for a small a in one logarithm with the steps.
  const auto reflects = (x < N::of(0)) & !near_zero;
  const N r = a - round_even(a),
          sine = abs(r) * fma(r * r, polynomial(fma(r * r, N::of(8), -one), kSincRest), one);
  const N reflected = sine * select(below, one, a * product);
  const LogInParts<N> parts = log_in_parts(select(small, select(reflects, reflected, product), a));
  const N logarithm = parts.high + parts.low;
  const N near_two = z * polynomial(z, kLgammaNearTwo);
  const N by_steps = select(reflects, -(logarithm + near_two),
                            select(below, near_two - logarithm, near_two + logarithm));
  // Stirling's series.
  const N w = one / a;
  const N series =
      w * polynomial(w * w, std::array{1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                                       -691.0 / 360360, 1.0 / 156, -3617.0 / 122400});
  const N half_less = a - N::of(0.5), rest = series + N::of(0.41893853320467274);
  const N far = fma(half_less, logarithm - one, rest);
  // With both logarithms in parts, as their large parts cancel near poles.
  const LogInParts<N> reflection = log_in_parts(a * sine);
  const N factor = parts.high - one, shift = N::of(0x1.8p20);
  const N product_high = (half_less * factor + shift) - shift;
  const N product_low = fma(half_less, factor, -product_high);
  const N reflected_far = fma(half_less, parts.low, reflection.high + product_high) +
                          (product_low + (reflection.low + rest));
  const N result = select(small, by_steps, select(reflects, -reflected_far, far));
  const auto infinite = (a == N::of(HUGE_VAL)) | ((x <= N::of(0)) & (x == floor(x)));
  return select(infinite, N::of(HUGE_VAL), result);
}

/// What rounding took from the sum a + b, 0 if it is infinite.
template <class N>
N lost_by_sum(const N& a, const N& b, const N& sum) {
  const N part = sum - a;
  return select(abs(sum) < N::of(HUGE_VAL), (a - (sum - part)) + (b - part), N::of(0));
}
/// What rounding took from the quotient 1 / x, 0 if it is infinite.
template <class N>
N lost_by_inverse(const N& x, const N& inverse) {
  return select(abs(inverse) < N::of(0x1p1000), inverse * fma(-inverse, x, N::of(1)), N::of(0));
}

/// The derivative of lgamma; NaN at the poles. Sums are kept with what rounding took from them.
template <class N>
N digamma(const N& x) {
  const N zero = N::of(0), one = N::of(1), y = abs(x);
  const auto negative = x < zero, below = y < one;
  // digamma of v in [1, 2], by its root, after steps of digamma(t + 1) = digamma(t) + 1 / t; of a
  // negative x with 1 / y that reflection adds.
  const N first = one / y;
  const auto adds = (negative | below) & !(negative & below);
  const N sign = select(negative, one, -one);
  N sum = select(adds, sign * first, zero);
  N rest = select(adds, sign * lost_by_inverse(y, first), zero);
  N v = select(below, y + one, y);
  const N lost = select(below, y - (v - one), zero);
  for (int j = 1; j <= 6; j++) {
    const N t = y - N::of(j), inverse = one / t, next = sum + inverse;
    const auto takes = t >= one;
    rest =
        select(takes, rest + (lost_by_sum(sum, inverse, next) + lost_by_inverse(t, inverse)), rest);
    sum = select(takes, next, sum);
    v = select(takes, t, v);
  }
  const N from_root = ((v - N::of(kDigammaRoot)) - N::of(kDigammaRootRest)) + lost;
  rest = fma(from_root, polynomial(v - N::of(1.5), kDigammaByRoot), rest);
  const N square = first * first;
  const N series =
      square *
      polynomial(square, std::array{1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132,
                                    -691.0 / 32760, 1.0 / 12, -3617.0 / 8160, 43867.0 / 14364});
  const auto small = y < N::of(8);
  sum = select(small, sum, log(y));
  rest = select(small, rest, fma(first * sign, N::of(0.5), -series));
  // digamma(-y) = digamma(y) + 1 / y + pi cot(pi y), and with r, y less a whole number,
  // pi cot(pi r) = 1 / r - 4 r + (r - 4 r^3) C(r^2), so that all vanishes where r is 1/2.
  const N r = y - round_even(y), inverse = one / r, four = N::of(4) * r;
  const N difference = inverse - four, both = sum + difference;
  const N cotangent_rest =
      (r - four * (r * r)) * polynomial(fma(r * r, N::of(8), -one), kCotangent);
  const N lost_by_both =
      lost_by_sum(inverse, -four, difference) + lost_by_sum(sum, difference, both);
  const N reflected =
      both + (lost_by_both + (lost_by_inverse(r, inverse) + (rest + cotangent_rest)));
  const N result = select(negative, reflected, sum + rest);
  const auto pole = (x <= zero) & (x == floor(x));
  return select(pole, N::of(std::numeric_limits<double>::quiet_NaN()), result);
}

/// The sum over k >= 0 of 1 / (q + k)^s, for s > 1: ten terms, and the rest by Euler and Maclaurin.
/// A negative q is for a whole s, and not below -8, where the rest would need more terms.
template <class N>
N zeta(const N& s, const N& q) {
  constexpr int kTerms = 10;
  const N one = N::of(1), nan = N::of(std::numeric_limits<double>::quiet_NaN());
  // (q + k)^-s, with the slope for what rounding took from the sum.
  const auto power_of_sum = [&](const N& sum, int k) {
    return power(sum, -s) * (one - s * (lost_by_sum(q, N::of(k), sum) / sum));
  };
  const N a = q + N::of(kTerms);
  const N last = power_of_sum(a, kTerms);
  // The factors of the terms grow with s, but where they are large `last` is 0.
  const N limited = select(s > N::of(1e4), N::of(1e4), s);
  const N by_square = one / (a * a);
  N term = last * limited / a, tail = N::of(0);
  for (std::size_t k = 0; k < kBernoulli.size(); k++) {
    tail = tail + N::of(kBernoulli[k]) * term;
    const double next = 2 * static_cast<double>(k) + 1;
    term = term * (limited + N::of(next)) * (limited + N::of(next + 1)) * by_square;
  }
  // The small terms first.
  N sum = fma(last, N::of(0.5), tail);
  for (int k = kTerms - 1; k > 0; k--) sum = sum + power_of_sum(q + N::of(k), k);
  sum = (sum + a * last / (s - one)) + power(q, -s);
  sum = select(q == N::of(HUGE_VAL), N::of(0) * s, sum);
  const auto invalid = (s < one) | ((q < N::of(0)) & !(s == floor(s))) | (q < N::of(-8));
  N result = select(invalid, nan, sum);
  result = select((q <= N::of(0)) & (q == floor(q)) & (s > one), N::of(HUGE_VAL), result);
  return select((s == one) & (q == q), N::of(HUGE_VAL), result);
}

/// Coefficients of the series of I0 (`order` 0) and 2 / x I1 (1) in x^2 / 4, for x < 8.
template <int order>
inline constexpr std::array<double, 22> kBesselNear = [] {
  std::array<double, 22> c{};
  double product = 1;
  for (int k = 0; k < 22; k++) {
    if (k > 0) product *= static_cast<double>(k) * (k + order);
    c[static_cast<std::size_t>(k)] = 1 / product;
  }
  return c;
}();

/// e^-|x| I0(x) and e^-|x| I1(x).
template <class N>
N bessel_i0e(const N& x) {
  const N a = abs(x);
  const N near = polynomial(a * a * N::of(0.25), kBesselNear<0>) * exp(-a);
  const N far = polynomial(N::of(16) / a - N::of(1), kBessel0Far) / sqrt(a);
  return select(a < N::of(8), near, far);
}
template <class N>
N bessel_i1e(const N& x) {
  const N a = abs(x);
  const N near = a * N::of(0.5) * polynomial(a * a * N::of(0.25), kBesselNear<1>) * exp(-a);
  const N far = polynomial(N::of(16) / a - N::of(1), kBessel1Far) / sqrt(a);
  return copy_sign(select(a < N::of(8), near, far), x);
}

/// x of which p is the normal distribution function.
template <class N>
N ndtri(const N& p) {
  const N q = p - N::of(0.5), magnitude = abs(q);
  const N centre = q * polynomial(fma(q * q, N::of(1 / 0.066503045), N::of(-1)), kNdtriCentre);
  const N least = select(q > N::of(0), N::of(1) - p, p);
  const N t = sqrt(N::of(-2) * log(least)), log_t = log(t);
  const N middle =
      polynomial((log_t - N::of(1.3862943611198906)) * N::of(std::numbers::log2e), kNdtriMiddle);
  const N outer =
      polynomial((log_t - N::of(2.8715015939047412)) * N::of(1 / 0.79206005222490525), kNdtriFar);
  const N tail = t - (log_t + select(t < N::of(8), middle, outer)) / t;
  const N beyond = select(least == N::of(0), N::of(HUGE_VAL), tail);
  return select(magnitude <= N::of(0.3646), centre, select(q < N::of(0), -beyond, beyond));
}

}  // namespace rondo::lower::math

#ifdef __clang__
#pragma clang attribute pop
#endif
