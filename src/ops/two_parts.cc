#include "ops/two_parts.h"

#include <cstdint>

#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

TwoParts sum_in_parts(const Tensor& a, const Tensor& b) {
  const Tensor sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

TwoParts product_in_parts(const Tensor& a, const Tensor& b) {
  // Products of halves of the digits are exact, so that fusing them with sums changes nothing.
  const auto half = [](const Tensor& x) {
    const Tensor mask = Tensor(static_cast<std::int64_t>(~std::uint64_t{0} << 27));
    return bitcast_convert(bitcast_convert(x, DType::kS64) & mask, DType::kF64);
  };
  const Tensor product = a * b, p = half(a), q = half(b), rest = a - p, less = b - q;
  return {product, ((p * q - product) + p * less + rest * q) + rest * less};
}

TwoParts quotient_in_parts(const Tensor& a, const Tensor& b) {
  const Tensor quotient = a / b;
  const TwoParts product = product_in_parts(quotient, b);
  return {quotient, ((a - product.high) - product.low) / b};
}

TwoParts log_in_parts(const TwoParts& x) {
  // x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); log(1 + f) = 2 atanh(s), s = f / (2 + f).
  const Tensor pattern = bitcast_convert(x.high, DType::kS64);
  const Tensor exponent = shift_right_arithmetic(pattern - std::int64_t{0x3fe6a09e667f3bcd}, 52);
  const Tensor e = convert(exponent, DType::kF64);
  const Tensor f = bitcast_convert(pattern - (exponent << 52), DType::kF64) - 1;
  const TwoParts divisor{2 + f, f - ((2 + f) - 2)};
  TwoParts s = quotient_in_parts(f, divisor.high);
  s.low = s.low - s.high * (divisor.low / divisor.high);
  // 2 s (1 + z / 3 + z^2 / 5 + ...), z = s^2. The first two terms in parts.
  const TwoParts z = product_in_parts(s.high, s.high), cube = product_in_parts(s.high, z.high);
  constexpr double kTwoThirds = 2.0 / 3, kTwoThirdsRest = 3.700743415417188e-17;
  TwoParts second = product_in_parts(cube.high, full(f.type(), kTwoThirds));
  second.low = second.low + (cube.low + s.high * z.low + 3 * z.high * s.low) * kTwoThirds +
               cube.high * kTwoThirdsRest;
  Tensor series = z.high * (2.0 / 29);
  for (int k = 27; k >= 7; k -= 2) series = z.high * (2.0 / k + series);
  const Tensor rest = cube.high * z.high * (2.0 / 5 + series);
  // ln 2 in two parts; the first has 20 bits less than an f64, so that its product is exact.
  const TwoParts first = sum_in_parts(e * 0.6931471803691238, 2 * s.high);
  const TwoParts both = sum_in_parts(first.high, second.high);
  return sum_in_parts(both.high,
                      both.low + (first.low + (2 * s.low + second.low + rest +
                                               (e * 1.9082149292705877e-10 + x.low / x.high))));
}

}  // namespace rondo::ops
