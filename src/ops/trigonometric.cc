// Circular and hyperbolic functions and their inverses.
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "lower/math_functions.h"
#include "ops/complex_formulas.h"
#include "ops/derivative_rules.h"
#include "ops/elementwise.h"
#include "ops/expansions.h"
#include "ops/families.h"
#include "ops/kernels/complex_math.h"
#include "ops/kernels/elementwise_kernels.h"
#include "ops/slopes.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace math {

struct Sin : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::sin(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::sin(x);
  }
  /// Numbers so large that their reduction is left to the C library.
  template <class N>
  static auto rare(N x) {
    return lower::math::is_irreducible(x);
  }
};
struct Cos : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::cos(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::cos(x);
  }
  /// Numbers so large that their reduction is left to the C library.
  template <class N>
  static auto rare(N x) {
    return lower::math::is_irreducible(x);
  }
};
struct Tan : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::tan(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::tan(x);
  }
  /// Numbers so large that their reduction is left to the C library.
  template <lower::Float N>
  requires(!N::kWide) static auto rare(N x) { return lower::math::is_irreducible(to_double(x)); }
};
struct Sinh : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::sinh(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::sinh(x);
  }
};
struct Cosh : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::cosh(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::cosh(x);
  }
};
struct Tanh : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::tanh(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::tanh(x);
  }
};
struct Asin : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::asin(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::asin(std::complex<T>(x.real(), unsigned_zero(x.imag())));
  }
};
struct Acos : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::acos(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::acos(std::complex<T>(x.real(), unsigned_zero(x.imag())));
  }
};
struct Atan : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::atan(x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::atan(x);
  }
};
struct Asinh {
  template <lower::Float N>
  N operator()(N x) const {
    return call(lower::LibraryFunction{std::asinh, std::asinh, "asinhf", "asinh"}, x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::asinh(std::complex<T>(unsigned_zero(x.real()), x.imag()));
  }
};
struct Acosh {
  template <lower::Float N>
  N operator()(N x) const {
    return call(lower::LibraryFunction{std::acosh, std::acosh, "acoshf", "acosh"}, x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::acosh(std::complex<T>(x.real(), unsigned_zero(x.imag())));
  }
};
struct Atanh {
  template <lower::Float N>
  N operator()(N x) const {
    return call(lower::LibraryFunction{std::atanh, std::atanh, "atanhf", "atanh"}, x);
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return std::atanh(x);
  }
};
struct Atan2 {
  template <lower::Float N>
  N operator()(N y, N x) const {
    return call(lower::LibraryFunction2{std::atan2, std::atan2, "atan2f", "atan2"}, y, x);
  }
};
struct Hypot {
  template <lower::Float N>
  N operator()(N x, N y) const {
    return call(lower::LibraryFunction2{std::hypot, std::hypot, "hypotf", "hypot"}, x, y);
  }
};

}  // namespace math

namespace {

// Formulas for texts and compilers without these ops.

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

Tensor tan_partial(const JvpCall& c) { return 1 + c.y() * c.y(); }
/// As (1 + y) (1 - y) would be no more accurate: next to 1 the rounding of y is what counts.
Tensor tanh_partial(const JvpCall& c) { return 1 - c.y() * c.y(); }

/// 1 / sqrt(1 - z^2) = i / (sqrt(z - 1) sqrt(z + 1)) for z in the upper half of the plane and -i /
/// ... in the lower one. The square root of 1 - z^2 itself may be on the wrong side of asin's cuts.
Tensor complex_asin_partial(const Tensor& z) {
  const Tensor im = imag(z);
  const Tensor side = where(im < 0, -ones(im.type()), 1);
  return complex(zeros(im.type()), side) / (sqrt(z - 1) * sqrt(z + 1));
}

Tensor asin_partial(const JvpCall& c) {
  const Tensor& x = c.x(0);
  return is_complex(x.dtype()) ? complex_asin_partial(x) : rsqrt(1 - x * x);
}
Tensor acos_partial(const JvpCall& c) { return -asin_partial(c); }
Tensor atan_divisor(const JvpCall& c) { return 1 + c.x(0) * c.x(0); }
/// Of complex numbers by asinh(x + iy) = i conj(asin(y + ix)).
Tensor asinh_partial(const JvpCall& c) {
  const Tensor& x = c.x(0);
  return is_complex(x.dtype()) ? conj(complex_asin_partial(complex(imag(x), real(x))))
                               : rsqrt(x * x + 1);
}
/// Of complex numbers by two roots, as that of z^2 - 1 has the wrong sign in the left half of the
/// plane.
Tensor acosh_partial(const JvpCall& c) {
  const Tensor& x = c.x(0);
  return is_complex(x.dtype()) ? 1 / (sqrt(x - 1) * sqrt(x + 1)) : rsqrt(x * x - 1);
}
Tensor atanh_divisor(const JvpCall& c) { return (1 - c.x(0)) * (1 + c.x(0)); }

Tensor atan2_y_partial(const JvpCall& c) { return atan2_slope(c.x(1), c.x(0)); }
Tensor atan2_x_partial(const JvpCall& c) { return -atan2_slope(c.x(0), c.x(1)); }

template <std::size_t i>
Tensor hypot_partial(const JvpCall& c) {
  return hypot_slope(c.x(i), c.y());
}

struct Atan2Slope {
  template <lower::Float N>
  N operator()(N x, N y) const {
    return x / multiply_add(x, x, y * y);
  }
};
Tensor atan2_slope_formula(std::span<const Tensor> x) { return x[0] / (x[0] * x[0] + x[1] * x[1]); }

struct HypotSlope {
  template <lower::Float N>
  N operator()(N x, N length) const {
    return select(length == N::of(0), N::of(0.5), x / length);
  }
};
Tensor hypot_slope_formula(std::span<const Tensor> x) {
  const Tensor origin = x[1] == 0;
  return where(origin, 0.5, x[0] / where(origin, 1, x[1]));
}

}  // namespace

const OpDef kSin = elementwise<1, math::Sin, kInexact>(
    {.name = "sin",
     .expansion = {.in_loops = expand_by<complex_sin_of_parts>},
     .derivative = {.jvp = partials<[](const JvpCall& c) { return cos(c.x(0)); }>},
     .text = {.hlo = "sine", .stablehlo = "stablehlo.sine", .c = "sin"}});
const OpDef kCos = elementwise<1, math::Cos, kInexact>(
    {.name = "cos",
     .expansion = {.in_loops = expand_by<complex_cos_of_parts>},
     .derivative = {.jvp = partials<[](const JvpCall& c) { return -sin(c.x(0)); }>},
     .text = {.hlo = "cosine", .stablehlo = "stablehlo.cosine", .c = "cos"}});
const OpDef kTan = elementwise<1, math::Tan, kInexact>(
    {.name = "tan",
     .expansion = {.in_loops = expand_by<complex_tan_of_parts>},
     .derivative = {.jvp = partials<tan_partial>},
     .text = {.hlo = "tan", .stablehlo = "stablehlo.tan", .c = "tan"}});
const OpDef kTanh = elementwise<1, math::Tanh, kInexact>(
    {.name = "tanh",
     .expansion = {.in_loops = expand_by<complex_tanh_of_parts>},
     .derivative = {.jvp = partials<tanh_partial>},
     .text = {.hlo = "tanh", .stablehlo = "stablehlo.tanh", .c = "tanh"}});
const OpDef kAtan2 = elementwise<2, math::Atan2, kFloats>(
    {.name = "atan2",
     .derivative = {.jvp = partials<atan2_y_partial, atan2_x_partial>},
     .text = {.hlo = "atan2", .stablehlo = "stablehlo.atan2", .c = "atan2"}});

// XLA's parser knows names for most of these, but its CPU compiler does not know the ops.
const OpDef kSinh = elementwise<1, math::Sinh, kInexact>(
    {.name = "sinh",
     .expansion = {.rule = expand_by<sinh_formula>, .in_loops = expand_by<complex_sinh_of_parts>},
     .derivative = {.jvp = partials<[](const JvpCall& c) { return cosh(c.x(0)); }>},
     .text = {.stablehlo = "chlo.sinh", .c = "sinh"}});
const OpDef kCosh = elementwise<1, math::Cosh, kInexact>(
    {.name = "cosh",
     .expansion = {.rule = expand_by<cosh_formula>, .in_loops = expand_by<complex_cosh_of_parts>},
     .derivative = {.jvp = partials<[](const JvpCall& c) { return sinh(c.x(0)); }>},
     .text = {.stablehlo = "chlo.cosh", .c = "cosh"}});
// chlo.asin gives 0 for the least normal numbers, so the formula goes into both texts.
const OpDef kAsin =
    elementwise<1, math::Asin, kInexact>({.name = "asin",
                                          .expansion = {.rule = expand_by<asin_formula>},
                                          .derivative = {.jvp = partials<asin_partial>},
                                          .text = {.c = "asin"}});
const OpDef kAcos =
    elementwise<1, math::Acos, kInexact>({.name = "acos",
                                          .expansion = {.rule = expand_by<acos_formula>},
                                          .derivative = {.jvp = partials<acos_partial>},
                                          .text = {.stablehlo = "chlo.acos", .c = "acos"}});
const OpDef kAtan =
    elementwise<1, math::Atan, kInexact>({.name = "atan",
                                          .expansion = {.rule = expand_by<atan_formula>},
                                          .derivative = {.jvp = quotient<atan_divisor>},
                                          .text = {.stablehlo = "chlo.atan", .c = "atan"}});
// chlo.asin gives 0 for the least normal numbers, so the formula goes into both texts.
const OpDef kAsinh =
    elementwise<1, math::Asinh, kInexact>({.name = "asinh",
                                           .expansion = {.rule = expand_by<asinh_formula>},
                                           .derivative = {.jvp = partials<asinh_partial>},
                                           .text = {.stablehlo = "chlo.asinh", .c = "asinh"}});
const OpDef kAcosh =
    elementwise<1, math::Acosh, kInexact>({.name = "acosh",
                                           .expansion = {.rule = expand_by<acosh_formula>},
                                           .derivative = {.jvp = partials<acosh_partial>},
                                           .text = {.stablehlo = "chlo.acosh", .c = "acosh"}});
const OpDef kAtanh =
    elementwise<1, math::Atanh, kInexact>({.name = "atanh",
                                           .expansion = {.rule = expand_by<atanh_formula>},
                                           .derivative = {.jvp = quotient<atanh_divisor>},
                                           .text = {.stablehlo = "chlo.atanh", .c = "atanh"}});
const OpDef kHypot = elementwise<2, math::Hypot, kFloats>(
    {.name = "hypot",
     .structure = {.commutative = true},
     .expansion = {.rule = expand_by<hypot_formula>},
     .derivative = {.jvp = partials<hypot_partial<0>, hypot_partial<1>>},
     .text = {.c = "hypot"}});

const OpDef kAtan2Slope = elementwise<2, Atan2Slope, kFloats>(
    {.name = "atan2_slope", .expansion = {.rule = expand_by<atan2_slope_formula>}});
const OpDef kHypotSlope = elementwise<2, HypotSlope, kFloats>(
    {.name = "hypot_slope", .expansion = {.rule = expand_by<hypot_slope_formula>}});

Tensor atan2_slope(const Tensor& x, const Tensor& y) { return binary_op(kAtan2Slope, x, y); }
Tensor hypot_slope(const Tensor& x, const Tensor& length) {
  return binary_op(kHypotSlope, x, length);
}

std::span<const OpDef* const> trigonometric_records() {
  static constexpr const OpDef* kAll[] = {
      &kSin,  &kCos,  &kTan,   &kTanh,  &kAtan2, &kSinh,  &kCosh,       &kAsin,
      &kAcos, &kAtan, &kAsinh, &kAcosh, &kAtanh, &kHypot, &kAtan2Slope, &kHypotSlope};
  return kAll;
}

}  // namespace rondo::ops

namespace rondo {

Tensor sin(const Operand& x) { return ops::unary_op(ops::kSin, x); }
Tensor cos(const Operand& x) { return ops::unary_op(ops::kCos, x); }
Tensor tan(const Operand& x) { return ops::unary_op(ops::kTan, x); }
Tensor sinh(const Operand& x) { return ops::unary_op(ops::kSinh, x); }
Tensor cosh(const Operand& x) { return ops::unary_op(ops::kCosh, x); }
Tensor tanh(const Operand& x) { return ops::unary_op(ops::kTanh, x); }
Tensor asin(const Operand& x) { return ops::unary_op(ops::kAsin, x); }
Tensor acos(const Operand& x) { return ops::unary_op(ops::kAcos, x); }
Tensor atan(const Operand& x) { return ops::unary_op(ops::kAtan, x); }
Tensor asinh(const Operand& x) { return ops::unary_op(ops::kAsinh, x); }
Tensor acosh(const Operand& x) { return ops::unary_op(ops::kAcosh, x); }
Tensor atanh(const Operand& x) { return ops::unary_op(ops::kAtanh, x); }
Tensor atan2(const Operand& y, const Operand& x) { return ops::binary_op(ops::kAtan2, y, x); }
Tensor hypot(const Operand& x, const Operand& y) { return ops::binary_op(ops::kHypot, x, y); }

}  // namespace rondo
