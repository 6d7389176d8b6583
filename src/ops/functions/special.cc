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

/// The derivative of order n of cot(pi x), divided by pi^n, as a polynomial in c = cot(pi x): c' is
/// -pi (1 + c^2).
std::vector<double> cotangent_derivative(std::int64_t n) {
  std::vector<double> p{0, 1};
  for (; n > 0; n--) {
    std::vector<double> next(p.size() + 1);
    for (std::size_t i = 1; i < p.size(); i++) {
      const double slope = -static_cast<double>(i) * p[i];
      next[i - 1] += slope;
      next[i + 1] += slope;
    }
    p = std::move(next);
  }
  return p;
}

/// In f64. In place of the numbers where it is not asked for, 1/4, so that no derivative is
/// infinite there.
Tensor reflected_polygamma(std::int64_t n, const Tensor& x, const Tensor& wanted) {
  const Tensor fraction = where(wanted, x - round(x), 0.25);
  const Tensor angle = std::numbers::pi * fraction, c = cos(angle) / sin(angle);
  const std::vector<double> p = cotangent_derivative(n);
  Tensor sum = zeros(x.type());
  for (std::size_t i = p.size(); i-- > 0;) sum = sum * c + p[i];
  return std::pow(std::numbers::pi, n + 1) * sum;
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
  const Tensor wide = convert(x, DType::kF64);
  const double factorial = std::tgamma(static_cast<double>(n) + 1), sign = n % 2 == 0 ? -1 : 1;
  const Tensor negative = wide < 0, pole = (wide <= 0) & (wide == floor(wide));
  const Tensor of_positive = factorial * zeta(full(wide.type(), static_cast<double>(n) + 1),
                                              where(negative, 1 - wide, wide));
  // polygamma(n, x) = (-1)^n polygamma(n, 1 - x) - pi d^n/dx^n cot(pi x).
  const Tensor reflected = -of_positive - reflected_polygamma(n, wide, negative & !pole);
  const Tensor inside = where(negative, reflected, sign * of_positive);
  return convert(where(pole, sign * HUGE_VAL, inside), x.dtype());
}

Tensor betaln(const Operand& a_operand, const Operand& b_operand) {
  const ops::Helper helper("betaln", a_operand.at());
  std::array<Tensor, 2> both = ops::matched("betaln", a_operand, b_operand);
  both[0] = helper.floating(both[0]);
  const DType dtype = both[0].dtype();
  const Tensor first = convert(both[0], DType::kF64), second = convert(both[1], DType::kF64);
  const Tensor a = minimum(first, second), b = maximum(first, second);
  const Tensor plain = lgamma(a) + lgamma(b) - lgamma(a + b);
  // For a large b the difference of two large logarithms by Stirling's series.
  const Tensor large = (a > 0) & (b >= 8);
  const Tensor p = where(large, a, 1), q = where(large, b, 8), sum = p + q;
  const Tensor difference = ops::stirling_rest(q) - ops::stirling_rest(sum) -
                            (q - 0.5) * log1p(p / q) - p * (log(sum) - 1);
  return convert(where(large, lgamma(p) + difference, plain), dtype);
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
  const Tensor near = abs(x) < 0.25;
  // The series of sin(y) / y in y^2.
  const Tensor z = square(std::numbers::pi * where(near, x, 0));
  Tensor series = zeros(x.type());
  for (int k = 12; k > 0; k--) series = (1 + series) * (z * (-1.0 / (2 * k * (2 * k + 1))));
  const Tensor far = where(near, 1, x), whole = round(far);
  const Tensor parity = 1 - 2 * abs(rem(whole, 2));
  const Tensor quotient = parity * sin(std::numbers::pi * (far - whole)) / (std::numbers::pi * far);
  return where(near, 1 + series, quotient);
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
