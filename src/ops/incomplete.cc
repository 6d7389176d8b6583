// The incomplete gamma and beta functions, as loops over all elements until each has converged. The
// series and the fraction of gamma functions are those of M. Abramowitz and I. Stegun, Handbook of
// Mathematical Functions, 1964, 6.5.29 and 6.5.31. In f64.
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "lower/special_functions.h"
#include "ops/derivative_rules.h"
#include "ops/expansions.h"
#include "ops/families.h"
#include "ops/kernels/elementwise_kernels.h"
#include "ops/stirling.h"
#include "ops/tensor_number.h"
#include "ops/two_parts.h"
#include "rondo/gradients.h"
#include "rondo/loops.h"
#include "rondo/ops/arrays.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/special.h"

namespace rondo::ops {

namespace incomplete {

constexpr double kEpsilon = 0x1p-53;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
/// From here on, where x is within 0.4 a of a, gammainc is Temme's expansion: elsewhere loops take
/// some 100 trips.
constexpr double kUniformShape = 20;
/// To here Q is 1 less than a series for a small a; above, the series would cancel.
constexpr double kSmallArgument = 0.6;
/// From here on the derivative by a would take more than 3000 trips.
constexpr double kLargeShape = 1e5;
constexpr double kMaxTrips = 30000;

/// The argument where a value is wanted, else one of which the loop is short.
Tensor held(const Tensor& wanted, const Tensor& x, double otherwise) {
  return where(wanted, x, otherwise);
}

/// a (log(x / a) + 1) - x for a `large` a, else a log(x) - x.
TwoParts gamma_exponent(const Tensor& large, const Tensor& a, const Tensor& x) {
  const TwoParts ratio = quotient_in_parts(x, where(large, a, 1)), log = log_in_parts(ratio);
  const TwoParts power = product_in_parts(a, log.high);
  const TwoParts difference = sum_in_parts(where(large, a, 0), -x);
  const TwoParts sum = sum_in_parts(power.high, difference.high);
  return sum_in_parts(sum.high, sum.low + (power.low + a * log.low + difference.low));
}

/// gamma(a + 1) = steps e^rest by that of a number below 2, for a `large` a (a / e)^a (2 pi a)^1/2
/// e^rest by Stirling's series; `steps` is 1 then.
struct GammaOfNext {
  Tensor large, steps, rest;
};
GammaOfNext gamma_of_next(const Tensor& a) {
  const Tensor large = a >= 8, shape = held(large, a, 8);
  Tensor start = held(!large, a, 1), steps = ones(a.type());
  for (int k = 0; k < 7; k++) {
    const Tensor takes = start >= 1;
    steps = where(takes, steps * start, steps);
    start = where(takes, start - 1, start);
  }
  return {large, steps, where(large, stirling_rest(shape), lgamma1p(start))};
}

/// x^a e^-x / gamma(a + 1).
Tensor gamma_factor(const Tensor& a, const Tensor& x) {
  const GammaOfNext next = gamma_of_next(a);
  const Tensor shape = held(next.large, a, 8), small = held(!next.large, a, 1);
  const Tensor exponent =
      where(next.large, -shape * minus_log((x - shape) / shape, x / shape), xlogy(small, x) - x);
  // Which exp would magnify.
  const TwoParts exact = gamma_exponent(next.large, a, x);
  const Tensor lost = stop_gradient(where(x >= 0x1p-1022, (exact.high - exponent) + exact.low, 0));
  const Tensor rest = expm1(-next.rest), power = exp(exponent);
  const Tensor divisor = where(next.large, sqrt(2 * std::numbers::pi * shape), next.steps);
  return (power + power * (rest + lost * (1 + rest))) / divisor;
}

/// The largest of the numbers of terms that the elements need.
Tensor most_terms(const Tensor& terms) { return maximum(max(round(terms)), 1); }
/// The value of k = 1 of a recurrence from k = `terms` down: rounding errors fade on the way.
template <class Step>
Tensor backward(const Tensor& terms, const Tensor& start, const Step& step, std::string_view name) {
  struct Terms {
    Tensor k, value;
  };
  return while_loop([](Terms t) { return t.k > 0; },
                    [&](Terms t) {
                      return Terms{t.k - 1, step(t.k, t.value)};
                    },
                    Terms{most_terms(terms), start}, {.name = std::string(name)})
      .value;
}

/// P(a, x) e^x x^-a gamma(a + 1), for x up to about a, and up to 0.6 a from a = 20 on:
/// 1 + x / (a + 1) (1 + x / (a + 2) (1 + ...)).
Tensor gamma_series(const Tensor& a, const Tensor& x) {
  return backward(
      20 + minimum(2 * x, 60), ones(a.type()),
      [&](const Tensor& k, const Tensor& sum) { return 1 + x / (a + k) * sum; },
      "gammainc's series");
}

/// Q(a, x) e^x x^-a gamma(a), for x above a and kSmallArgument, and above 1.4 a from a = 20 on: the
/// fraction 1 / (x + 1 - a + 1 (a - 1) / (x + 3 - a + 2 (a - 2) / (x + 5 - a + ...))).
Tensor gamma_fraction(const Tensor& a, const Tensor& x) {
  const Tensor first = x + 1 - a;
  return 1 / (first + backward(
                          22 + 90 / x, zeros(a.type()),
                          [&](const Tensor& k, const Tensor& rest) {
                            return k * (a - k) / (first + 2 * k + rest);
                          },
                          "gammainc's fraction"));
}

/// Q(a, x) for a < 1 and x up to kSmallArgument, where 1 - P would cancel: with u = log(x^a /
/// gamma(a + 1)) it is 1 - e^u - e^u a sum over k > 0 of (-x)^k / ((a + k) k!).
Tensor small_upper(const Tensor& a, const Tensor& x) {
  const Tensor u = xlogy(a, x) - lgamma1p(a);
  Tensor power = ones(x.type()), sum = zeros(x.type());
  for (int k = 1; k <= 20; k++) {
    power = power * (x * (-1.0 / k));
    sum = sum + power / (a + k);
  }
  return -expm1(u) - exp(u) * a * sum;
}

/// The smaller one of P(a, x) and Q(a, x), P for x <= a, for x near a large a: N. M. Temme, "The
/// asymptotic expansion of the incomplete gamma functions", SIAM Journal on Mathematical Analysis
/// 10, 1979.
Tensor uniform_part(const Tensor& a, const Tensor& x) {
  const TwoParts exponent = gamma_exponent(a >= kUniformShape, a, x);
  const Tensor size = maximum(-exponent.high, 0), density = exp(-size);
  const Tensor side = sign(x - a), eta = side * sqrt(2 * size / a), inverse = 1 / a;
  Tensor sum = zeros(a.type());
  for (std::size_t k = lower::math::kUniformGamma.size(); k-- > 0;)
    sum =
        sum * inverse + lower::math::polynomial(TensorNumber{eta}, lower::math::kUniformGamma[k]).t;
  // erfc(z) with z^2 = size, and its slope for what the root lost.
  const Tensor z = sqrt(size);
  const TwoParts square = product_in_parts(z, z);
  const Tensor lost = ((square.high - size) + square.low) + exponent.low;
  const Tensor normal =
      0.5 * erfc(z) + where(z > 0, density * lost * (0.5 * std::numbers::inv_sqrtpi) / z, 0);
  const Tensor correction = density * (1 + exponent.low) / sqrt(2 * std::numbers::pi * a) * sum;
  return where(side > 0, normal + correction, normal - correction);
}

template <bool lower>
Tensor gamma_formula(std::span<const Tensor> operands) {
  const Tensor a = convert(operands[0], DType::kF64), x = convert(operands[1], DType::kF64);
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor inside = (a > 0) & (x > 0) & (a < infinity) & (x < infinity);
  const Tensor uniform = inside & (a >= kUniformShape) & (abs(x - a) <= 0.4 * a);
  const Tensor looping = inside & !uniform, small = inside & (a < 1) & (x <= kSmallArgument);
  const Tensor upper = looping & (x > a) & (x > kSmallArgument), series = looping & !upper;
  const Tensor factor = gamma_factor(held(looping, a, 1), held(looping, x, 1));
  const Tensor p = factor * gamma_series(held(series, a, 1), held(series, x, 1e-20));
  const Tensor q = factor * a * gamma_fraction(held(upper, a, 1), held(upper, x, 1e3));
  const Tensor near = uniform_part(held(uniform, a, 100), held(uniform, x, 100));
  const Tensor part = where(uniform, near, where(upper, q, p));
  const Tensor is_lower = where(uniform, x <= a, series);
  Tensor result = where(lower ? is_lower : !is_lower, part, 1 - part);
  if (!lower) result = where(small, small_upper(held(small, a, 0.5), held(small, x, 0.5)), result);
  const Tensor certain = ((x == infinity) & (a >= 0)) | ((a == 0) & (x > 0));
  result = where(certain, lower ? 1.0 : 0.0, result);
  result = where((x == 0) & (a > 0), lower ? 0.0 : 1.0, result);
  const Tensor invalid =
      !(a >= 0) | !(x >= 0) | ((a == 0) & (x == 0)) | ((a == infinity) & (x < infinity));
  return convert(where(invalid, kNan, result), operands[0].dtype());
}

struct Slope {
  Tensor k, term, psi, sum, size;
};

/// The derivative of P by a, the sum over k of (log x - digamma(a + k + 1)) x^(a + k) e^-x /
/// gamma(a + k + 1); 0 where x is so far above a that P is 1.
Tensor slope_formula(std::span<const Tensor> operands) {
  const Tensor shape = convert(operands[0], DType::kF64), at = convert(operands[1], DType::kF64);
  const Tensor valid = (shape > 0) & (at > 0) & (shape < kLargeShape);
  const Tensor far = valid & (at > shape + 14.2 * sqrt(held(valid, shape, 1)) + 50);
  const Tensor wanted = valid & !far;
  const Tensor a = held(wanted, shape, 1), x = held(wanted, at, 1), log_x = log(x);
  const Tensor none = zeros(a.type());
  const Slope end = while_loop(
      [&](Slope s) {
        return any((a + s.k < x) | (s.term * (1 + abs(log_x - s.psi)) > kEpsilon * s.size)) &
               (s.k < kMaxTrips);
      },
      [&](Slope s) {
        const Tensor part = s.term * (log_x - s.psi), next = a + s.k + 1;
        return Slope{s.k + 1, s.term * x / next, s.psi + 1 / next, s.sum + part,
                     s.size + abs(part)};
      },
      Slope{0.0, gamma_factor(a, x), digamma(a + 1), none, none}, {.name = "gammainc's slope"});
  const Tensor flat = far | ((at == 0) & (shape > 0));
  return convert(where(wanted, end.sum, where(flat, 0, kNan)), operands[0].dtype());
}

/// An argument of the beta function with what its formulas share; `y` is 1 - x, `sum` a + b, and
/// `distance` a y - b x, which is 0 at the mean.
struct Beta {
  Tensor a, b, x;
  TwoParts y, sum;
  Tensor distance;
};
Beta beta_argument(const Tensor& a, const Tensor& b, const Tensor& x) {
  const TwoParts y = sum_in_parts(ones(x.type()), -x);
  const TwoParts below = product_in_parts(a, y.high), above = product_in_parts(b, x);
  const TwoParts distance = sum_in_parts(below.high, -above.high);
  return {a,
          b,
          x,
          y,
          sum_in_parts(a, b),
          distance.high + (distance.low + (below.low - above.low + a * y.low))};
}

/// a log(x factor / divisor).
TwoParts power_exponent(const Tensor& a, const TwoParts& x, const TwoParts& factor,
                        const Tensor& divisor) {
  const TwoParts product = product_in_parts(x.high, factor.high);
  TwoParts ratio = quotient_in_parts(product.high, divisor);
  ratio.low = ratio.low + (product.low + x.high * factor.low + x.low * factor.high) / divisor;
  const Tensor normal = ratio.high >= 0x1p-1022;
  const TwoParts parts = log_in_parts({held(normal, ratio.high, 1), held(normal, ratio.low, 0)});
  TwoParts power = product_in_parts(a, where(normal, parts.high, log(ratio.high)));
  power.low = power.low + where(normal, a * parts.low, 0);
  return power;
}

/// x^a (1 - x)^b / beta(a, b).
Tensor beta_factor(const Beta& c) {
  const GammaOfNext a = gamma_of_next(c.a), b = gamma_of_next(c.b), sum = gamma_of_next(c.sum.high);
  // With (u / e)^u of each gamma(u + 1) of a large u.
  const TwoParts factor{where(sum.large, c.sum.high, 1), where(sum.large, c.sum.low, 0)};
  const TwoParts x = power_exponent(c.a, {c.x, zeros(c.x.type())}, factor, where(a.large, c.a, 1));
  const TwoParts y = power_exponent(c.b, c.y, factor, where(b.large, c.b, 1));
  const TwoParts small =
      sum_in_parts(where(sum.large & !a.large, c.a, 0), where(sum.large & !b.large, c.b, 0));
  const TwoParts both = sum_in_parts(x.high, y.high), all = sum_in_parts(both.high, -small.high);
  // Of a small sum by the slope of lgamma, about a logarithm.
  const Tensor of_sum = where(sum.large, 0, c.sum.low * log(c.sum.high + 0.5));
  const Tensor lost = all.low + (both.low + (x.low + y.low - small.low + of_sum));
  const Tensor rest = expm1(sum.rest - (a.rest + b.rest)), power = exp(all.high);
  // u / gamma(u + 1) of a, b and the sum, apart what is below a root.
  const auto outer = [](const Tensor& u, const GammaOfNext& g) {
    return where(g.large, 1, u / g.steps);
  };
  const auto inner = [](const Tensor& u, const GammaOfNext& g) {
    return where(g.large, u * (0.5 * std::numbers::inv_pi), 1);
  };
  const Tensor factors = outer(c.a, a) * outer(c.b, b) / outer(c.sum.high, sum);
  const Tensor square = inner(c.a, a) / inner(c.sum.high, sum) * inner(c.b, b);
  return (power + power * (rest + lost * (1 + rest))) * (factors * sqrt(square));
}

/// The incomplete beta function divided by beta_factor, for x up to about the mean, and for b < 1
/// up to 1: the fraction of A. R. Didonato and A. H. Morris, ACM Transactions on Mathematical
/// Software 18, 1992, whose terms do not cancel at the mean.
Tensor beta_fraction(const Beta& c) {
  const Tensor &a = c.a, &b = c.b, &x = c.x, &y = c.y.high, &sum = c.sum.high;
  // Measured for numbers from 2^-20 to 2^18.
  const Tensor variance = a / sum * b, beyond = maximum(c.distance, 0);
  const Tensor by_width =
      minimum(1.3 * sqrt(variance / sqrt(y)), 5 * sqrt(b)) / (1 + beyond / variance * beyond / 4);
  const Tensor terms = 26 + minimum(12 / sqrt(y), 90 / (a * y)) + by_width;
  return 1 / (a * (c.distance + 1) / (a + 1) +
              backward(
                  where(terms < kMaxTrips, terms, kMaxTrips), zeros(a.type()),
                  [&](const Tensor& k, const Tensor& rest) {
                    const Tensor before = k - 1, step = a + (k + before);
                    const Tensor part = k * (b - k) * x / step;
                    const Tensor numerator = part * (x * (sum + before) / step) * (a + before);
                    const Tensor denominator =
                        k + part + (a + k) * (c.distance + 1 + k * (1 + y)) / (step + 2);
                    return numerator / (denominator + rest);
                  },
                  "betainc's fraction"));
}

/// For b < 1 and y = 1 - x up to 0.1 and kSmallArgument / a, as small_upper: with u = log(y^b / (b
/// beta(a, b))) it is 1 - e^u - e^u b sum over k > 0 of (1 - a) ... (k - a) y^k / ((b + k) k!).
Tensor small_rest(const Tensor& a, const Tensor& b, const Tensor& y) {
  const Tensor u = b * log(y) + lgamma_rise(a, b) - lgamma1p(b);
  Tensor power = ones(y.type()), sum = zeros(y.type());
  for (int k = 1; k <= 20; k++) {
    power = power * ((k - a) * y * (1.0 / k));
    sum = sum + power / (b + k);
  }
  return -expm1(u) - exp(u) * b * sum;
}

Tensor beta_formula(std::span<const Tensor> operands) {
  const Tensor a = convert(operands[0], DType::kF64), b = convert(operands[1], DType::kF64),
               x = convert(operands[2], DType::kF64);
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor inside = (a > 0) & (b > 0) & (x > 0) & (x < 1) & (a < infinity) & (b < infinity);
  const Tensor y = 1 - x, small = inside & (b < 1) & (y <= 0.1) & (a * y <= kSmallArgument);
  const Tensor looping = inside & !small;
  const Beta c = beta_argument(held(looping, a, 1), held(looping, b, 1), held(looping, x, 0.25));
  // Above the mean the parts are exchanged, unless the result may be much less than 1.
  const Tensor swaps =
      ((c.b >= 1) | (c.a <= c.b)) & (c.x > maximum((c.a + 1) / (c.sum.high + 2), c.a / c.sum.high));
  const Beta from_end{where(swaps, c.b, c.a),
                      where(swaps, c.a, c.b),
                      where(swaps, c.y.high, c.x),
                      {where(swaps, c.x, c.y.high), where(swaps, 0, c.y.low)},
                      c.sum,
                      where(swaps, -c.distance, c.distance)};
  const Tensor part = beta_factor(c) * beta_fraction(from_end);
  const Tensor rest = small_rest(held(small, a, 1), held(small, b, 0.5), held(small, y, 0.1));
  Tensor result = where(small, rest, where(swaps, 1 - part, part));
  const Tensor above = (x == 1) | (a == 0) | (b == infinity),
               below = (x == 0) | (b == 0) | (a == infinity);
  result = where(inside, result, where(above & !below, 1, where(below & !above, 0, kNan)));
  result = where((a >= 0) & (b >= 0) & (x >= 0) & (x <= 1), result, kNan);
  return convert(result, operands[0].dtype());
}

InferredTypes infer(const InferContext& context) {
  check_elementwise(context, kFloats);
  return {context.type(0)};
}

/// An elementwise op that is run as its formula.
template <int arity, Formula formula>
constexpr OpDef described(std::string_view name) {
  OpDef op{.name = name, .arity = arity, .types = {.infer = infer}};
  op.structure.elementwise = true;
  op.expansion.rule = expand_by<formula>;
  return op;
}

Tensor gamma_density(const Tensor& a, const Tensor& x) {
  return exp(xlogy(a - 1, x) - x - lgamma(a));
}

}  // namespace incomplete

extern const OpDef kGammaincSlope;

namespace incomplete {

template <int sign>
std::vector<Tensor> gamma_jvp(const JvpCall& c) {
  Tensor sum;
  if (c.has(0)) {
    const Tensor slope = make(kGammaincSlope, {c.x(0), c.x(1)}, {}, c.at());
    sum = c.dx(0) * (sign * slope);
  }
  if (c.has(1)) sum = ir::add_tangents(sum, c.dx(1) * (sign * gamma_density(c.x(0), c.x(1))));
  return {sum};
}

std::vector<Tensor> beta_jvp(const JvpCall& c) {
  if (c.has(0) || c.has(1)) {
    c.fail(
        "it has a derivative by its last operand only\n  Hold the others fixed: "
        "rondo::stop_gradient(a).");
  }
  const Tensor &a = c.x(0), &b = c.x(1), &x = c.x(2);
  return {c.dx(2) * exp(xlogy(a - 1, x) + (b - 1) * log1p(-x) - betaln(a, b))};
}

constexpr OpDef with_jvp(OpDef op, std::vector<Tensor> (*jvp)(const JvpCall&)) {
  op.derivative.jvp = jvp;
  return op;
}

}  // namespace incomplete

const OpDef kGammaincSlope = incomplete::described<2, incomplete::slope_formula>("gammainc_slope");
const OpDef kGammainc =
    incomplete::with_jvp(incomplete::described<2, incomplete::gamma_formula<true>>("gammainc"),
                         incomplete::gamma_jvp<1>);
const OpDef kGammaincc =
    incomplete::with_jvp(incomplete::described<2, incomplete::gamma_formula<false>>("gammaincc"),
                         incomplete::gamma_jvp<-1>);
const OpDef kBetainc = incomplete::with_jvp(
    incomplete::described<3, incomplete::beta_formula>("betainc"), incomplete::beta_jvp);

std::span<const OpDef* const> incomplete_records() {
  static constexpr const OpDef* kAll[] = {&kGammainc, &kGammaincc, &kGammaincSlope, &kBetainc};
  return kAll;
}

}  // namespace rondo::ops

namespace rondo {

Tensor gammainc(const Operand& a, const Operand& x) { return ops::binary_op(ops::kGammainc, a, x); }
Tensor gammaincc(const Operand& a, const Operand& x) {
  return ops::binary_op(ops::kGammaincc, a, x);
}
Tensor betainc(const Operand& a_operand, const Operand& b_operand, const Operand& x_operand) {
  const SourceLocation at = a_operand.at();
  const Operand& known = !x_operand.is_scalar()   ? x_operand
                         : !a_operand.is_scalar() ? a_operand
                                                  : b_operand;
  std::array<Tensor, 3> all{ops::same_dtype("betainc", a_operand, known)[0],
                            ops::same_dtype("betainc", b_operand, known)[0],
                            ops::same_dtype("betainc", x_operand, known)[0]};
  ops::broadcast_together("betainc", all, at);
  return ir::make(ops::kBetainc, {all[0], all[1], all[2]}, {}, at);
}

}  // namespace rondo
