#include "ops/expansions.h"

#include <limits>

#include "ops/elementwise.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace {

double largest_float(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kC128 ? std::numeric_limits<double>::max()
                                                       : std::numeric_limits<float>::max();
}

/// A complex number by its parts.
struct ExpansionParts {
  Tensor re, im;
  explicit ExpansionParts(const Tensor& z) : re(real(z)), im(imag(z)) {}
  ExpansionParts(Tensor real_part, Tensor imaginary_part)
      : re(std::move(real_part)), im(std::move(imaginary_part)) {}
  Tensor number() const { return complex(re, im); }
};

/// -1 for negative numbers, 1 for others and for both zeros.
Tensor sign_side(const Tensor& x) { return where(x < 0, Operand(-1).as(x.dtype()), 1); }

/// exp(|x|)/2 and exp(-|x|)/2, each finite where its value is. The half of the exponent keeps the
/// first from overflowing early.
std::array<Tensor, 2> half_exponentials(const Tensor& x) {
  const Tensor root = exp(abs(x) * 0.5);
  return {0.5 * root * root, 0.5 / root / root};
}

Tensor real_sinh(const Tensor& x) {
  const Tensor e = expm1(abs(x));
  const Tensor small = 0.5 * (e + e / (e + 1));
  const auto [grown, shrunk] = half_exponentials(x);
  return sign(x) * where(abs(x) < 1, small, grown - shrunk);
}

Tensor real_cosh(const Tensor& x) {
  const auto [grown, shrunk] = half_exponentials(x);
  return grown + shrunk;
}

Tensor real_asinh(const Tensor& x) {
  const Tensor a = abs(x);
  const Tensor moderate = log1p(a + a * a / (1 + sqrt(a * a + 1)));
  const Tensor large = log(a) + std::log(2.0);
  return sign(x) * where(a < std::sqrt(largest_float(x.dtype())) / 2, moderate, large);
}

Tensor real_acosh(const Tensor& x) {
  const Tensor over = x - 1;
  const Tensor moderate = log1p(over + sqrt(over) * sqrt(over + 2));
  const Tensor large = log(x) + std::log(2.0);
  return where(x < largest_float(x.dtype()) / 4, moderate, large);
}

Tensor real_atanh(const Tensor& x) {
  const Tensor a = abs(x);
  return sign(x) * (0.5 * log1p(2 * a / (1 - a)));
}

// Complex inverse functions after W. Kahan, "Branch Cuts for Complex Elementary Functions, or Much
// Ado About Nothing's Sign Bit" (1987). Where he lets the sign of a zero choose the side of a cut,
// XLA's square root does not know it; so signs are chosen here and the square roots only give the
// sizes.

/// What asin, acos, acosh and asinh share, of x + iy.
struct InverseSine {
  Tensor asin_re;    // real part of asin, in [-pi/2, pi/2]
  Tensor acos_re;    // real part of acos, in [0, pi]
  Tensor magnitude;  // |imaginary part| of both
  InverseSine(const Tensor& x, const Tensor& y)
      : InverseSine(x, ExpansionParts(sqrt(complex(1 - x, -y))),
                    ExpansionParts(sqrt(complex(1 + x, y)))) {}

 private:
  InverseSine(const Tensor& x, const ExpansionParts& below, const ExpansionParts& above)
      : asin_re(atan2(x, abs(below.re * above.re - below.im * above.im))),
        acos_re(2 * atan2(below.re, above.re)),
        magnitude(asinh(abs(below.re * above.im - below.im * above.re))) {}
};

/// The parts of atanh(x + iy).
ExpansionParts inverse_tanh(const Tensor& x, const Tensor& y) {
  const Tensor a = abs(x);
  const Tensor distance = hypot(1 - a, y);  // to the pole
  const Tensor quotient = 4 * (a / distance) / distance;
  const Tensor re = where(distance > largest_float(x.dtype()), 0 * sign_side(x),
                          sign_side(x) * (0.25 * log1p(quotient)));
  return {re, 0.5 * atan2(2 * y, (1 - a) * (1 + a) - y * y)};
}

/// The product of a large factor and a sine or cosine that may be 0: 0 stays 0 beside infinity.
Tensor times_wave(const Tensor& factor, const Tensor& wave, const Tensor& angle) {
  return where(angle == 0, wave, factor * wave);
}

}  // namespace

Tensor apply_formula(const ir::Node& node, std::span<const Tensor> operands, Formula formula) {
  const ir::LocationScope scope(node.location());
  const DType dtype = node.type().dtype;
  if (is_floating(dtype) && byte_width(dtype) == 2) {
    std::vector<Tensor> wide;
    for (const Tensor& operand : operands) wide.push_back(convert(operand, DType::kF32));
    return convert(formula(wide), dtype);
  }
  return formula(operands);
}

Tensor sinh_formula(std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  if (!is_complex(x.dtype())) return real_sinh(x);
  const ExpansionParts z(x);
  return complex(real_sinh(z.re) * cos(z.im), times_wave(real_cosh(z.re), sin(z.im), z.im));
}

Tensor cosh_formula(std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  if (!is_complex(x.dtype())) return real_cosh(x);
  const ExpansionParts z(x);
  return complex(real_cosh(z.re) * cos(z.im), times_wave(real_sinh(z.re), sin(z.im), z.im));
}

Tensor asin_formula(std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  if (!is_complex(x.dtype())) return atan2(x, sqrt((1 - x) * (1 + x)));
  const ExpansionParts z(x);
  const InverseSine parts(z.re, z.im);
  return complex(parts.asin_re, sign_side(z.im) * parts.magnitude);
}

Tensor acos_formula(std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  if (!is_complex(x.dtype())) return atan2(sqrt((1 - x) * (1 + x)), x);
  const ExpansionParts z(x);
  const InverseSine parts(z.re, z.im);
  return complex(parts.acos_re, -(sign_side(z.im) * parts.magnitude));
}

Tensor acosh_formula(std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  if (!is_complex(x.dtype())) return real_acosh(x);
  const ExpansionParts z(x);
  const InverseSine parts(z.re, z.im);
  return complex(parts.magnitude, sign_side(z.im) * parts.acos_re);
}

Tensor asinh_formula(std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  if (!is_complex(x.dtype())) return real_asinh(x);
  const ExpansionParts z(x);
  const InverseSine parts(z.im, z.re);  // asinh(x + iy) = i conj(asin(y + ix))
  return complex(sign_side(z.re) * parts.magnitude, parts.asin_re);
}

Tensor atanh_formula(std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  if (!is_complex(x.dtype())) return real_atanh(x);
  const ExpansionParts z(x);
  return inverse_tanh(z.re, z.im).number();
}

Tensor atan_formula(std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  if (!is_complex(x.dtype())) return atan2(x, 1);
  const ExpansionParts z(x);
  const ExpansionParts turned = inverse_tanh(z.im, z.re);  // atan(x + iy) = i conj(atanh(y + ix))
  return complex(turned.im, turned.re);
}

Tensor hypot_formula(std::span<const Tensor> operands) {
  const Tensor x = abs(operands[0]), y = abs(operands[1]);
  const Tensor high = maximum(x, y), low = minimum(x, y);
  const Tensor ratio = low / high;
  const Tensor scaled = where(high == 0, 0, high * sqrt(1 + ratio * ratio));
  const Tensor infinity = Operand(std::numeric_limits<double>::infinity()).as(x.dtype());
  return where((x == infinity) | (y == infinity), infinity, scaled);
}

}  // namespace rondo::ops
