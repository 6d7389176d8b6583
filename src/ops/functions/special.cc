// Special functions that are few ops.
#include "rondo/ops/special.h"

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "ops/elementwise.h"
#include "ops/functions/helpers.h"
#include "ops/stirling.h"
#include "rondo/gradients.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace {

/// What rounding took from the sum 1 + r, |r| <= 1/2.
Tensor lost_by_increment(const Tensor& r, const Tensor& sum) { return r - (sum - 1); }

/// The sum over k >= 0 of 1 / (x + k)^s for negative x in f64: the terms next to x, which is r + m
/// with a whole m, and the sums above and below them, less the one that does not belong.
Tensor zeta_of_negative(int s, const Tensor& x) {
  const Tensor r = x - round(x), order = full(x.type(), static_cast<double>(s));
  // Of q = 1 + r, with the slope for what rounding took from q; it matters near r = -1/2 only.
  const auto above = [&](const Tensor& distance) {
    const Tensor q = 1 + distance, lost = stop_gradient(lost_by_increment(distance, q));
    return zeta(order, q) * (1 - s * lost / q);
  };
  const Tensor below = above(-r) - zeta(order, 1 - x), rest = above(r);
  return pow(r, -s) + (s % 2 == 0 ? rest + below : rest - below);
}

}  // namespace

Tensor polygamma(std::int64_t n, const Operand& operand) {
  const ops::Helper helper("polygamma", operand.at());
  const Tensor x = helper.floating(operand);
  if (n < 0 || n > 170)
    helper.fail(
        fmt::format("the order is {}; it must be from 0 to 170, whose factorial an f64 "
                    "still holds\n  Give the order of the derivative of digamma.",
                    n));
  if (n == 0) return digamma(x);
  const int s = static_cast<int>(n) + 1;
  const double scale = (n % 2 == 0 ? -1 : 1) * std::tgamma(static_cast<double>(s));
  const Tensor wide = convert(x, DType::kF64);
  const Tensor pole = (wide <= 0) & (wide == floor(wide)), negative = (wide < 0) & !pole;
  // In place of the numbers that are not asked for others, so that no derivative is infinite.
  const Tensor of_positive =
      zeta(full(wide.type(), static_cast<double>(s)), where(negative, 1, wide));
  const Tensor inside =
      where(negative, zeta_of_negative(s, where(negative, wide, -0.25)), of_positive);
  return convert(where(pole, (n % 2 == 0 ? -1 : 1) * HUGE_VAL, scale * inside), x.dtype());
}

Tensor betaln(const Operand& a_operand, const Operand& b_operand) {
  const ops::Helper helper("betaln", a_operand.at());
  std::array<Tensor, 2> both = ops::matched("betaln", a_operand, b_operand);
  both[0] = helper.floating(both[0]);
  const DType dtype = both[0].dtype();
  const Tensor first = convert(both[0], DType::kF64), second = convert(both[1], DType::kF64);
  const Tensor a = minimum(first, second), b = maximum(first, second);
  const Tensor result =
      where(a > 0, ops::betaln_of_positive(where(a > 0, a, 1), where(a > 0, b, 1)),
            lgamma(a) + lgamma(b) - lgamma(a + b));
  return convert(result, dtype);
}

Tensor ndtr(const Operand& operand) {
  const ops::Helper helper("ndtr", operand.at());
  const Tensor x = helper.floating(operand);
  const Tensor wide = convert(x, DType::kF64), w = wide / -std::numbers::sqrt2;
  // What rounding took from w, which a large w would multiply, from -x = w sqrt(2). The parts of
  // the factors have few bits, so that their products are exact.
  const Tensor inner = abs(wide) < 64;
  const Tensor all = stop_gradient(where(inner, w, 0));
  const Tensor head = round(all * 0x1p20) * 0x1p-20, rest = all - head;
  constexpr double kHead = 0x1.6a09ep0, kRest = std::numbers::sqrt2 - kHead,
                   kBelow = -9.667293313452913e-17;  // sqrt(2) in three parts
  const Tensor difference =
      ((stop_gradient(where(inner, wide, 0)) + head * kHead) + (head * kRest + rest * kHead)) +
      (rest * kRest + all * kBelow);
  const Tensor lost = difference * (-std::numbers::sqrt2 / 2);
  const Tensor density = std::numbers::inv_sqrtpi * exp(-(w * w));
  return convert(0.5 * erfc(w) - density * lost, x.dtype());
}

Tensor sinc(const Operand& operand) {
  const ops::Helper helper("sinc", operand.at());
  const Tensor x = helper.floating(operand);
  const Tensor wide = byte_width(x.dtype()) == 2 ? convert(x, DType::kF32) : x;
  // The series of sin(y) / y in y^2, for the distance from the nearest whole number.
  const Tensor whole = round(wide), rest = wide - whole;
  const Tensor z = square(rest) * (std::numbers::pi * std::numbers::pi);
  Tensor series = zeros(wide.type());
  for (int k = 12; k > 0; k--) series = (1 + series) * (z * (-1.0 / (2 * k * (2 * k + 1))));
  const Tensor near = whole == 0, sign = 1 - 2 * abs(rem(whole, 2));
  const Tensor quotient = where(near, 1, sign * rest / where(near, 1, wide));
  return convert((1 + series) * quotient, x.dtype());
}

Tensor next_after(const Operand& x_operand, const Operand& y_operand) {
  const ops::Helper helper("next_after", x_operand.at());
  std::array<Tensor, 2> both = ops::matched("next_after", x_operand, y_operand);
  both[0] = helper.floating(both[0]);
  const auto& [x, y] = both;
  // On bits, as comparisons of floats may take denormal numbers for 0.
  const std::int64_t width = 8 * byte_width(x.dtype());
  const DType bits = width == 16 ? DType::kU16 : width == 32 ? DType::kU32 : DType::kU64;
  const Tensor from = bitcast_convert(x, bits), to = bitcast_convert(y, bits);
  const Tensor one = ones({bits, {}}), sign = one << (width - 1);
  const Tensor size = from & ~sign, size_of_goal = to & ~sign;
  const Tensor turns = ((from ^ to) & sign) != 0;
  const Tensor step = where(turns | (size > size_of_goal), from - one, from + one);
  const Tensor moved = where(size == 0, (to & sign) | one, step);
  const Tensor equal = (from == to) | ((size | size_of_goal) == 0);
  return where(is_nan(x) | is_nan(y), x + y, bitcast_convert(where(equal, to, moved), x.dtype()));
}

}  // namespace rondo
