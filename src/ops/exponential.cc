// Powers, exponentials, logarithms, the error function.
#include <cmath>
#include <numbers>

#include "ops/complex_math.h"
#include "ops/derivative_rules.h"
#include "ops/element_math.h"
#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/elementwise_kernels.h"
#include "ops/expansions.h"
#include "ops/families.h"
#include "ops/slopes.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace math {

struct Exp {
  template <class T>
  T operator()(T x) const {
    return std::exp(x);
  }
};
struct Expm1 {
  template <class T>
  T operator()(T x) const {
    if constexpr (is_complex_number<T>)
      return complex_expm1(x);
    else
      return std::expm1(x);
  }
};
struct Log {
  template <class T>
  T operator()(T x) const {
    return std::log(x);
  }
};
struct Log1p {
  template <class T>
  T operator()(T x) const {
    if constexpr (is_complex_number<T>)
      return complex_log1p(x);
    else
      return std::log1p(x);
  }
};
struct Sqrt {
  template <class T>
  T operator()(T x) const {
    if constexpr (is_complex_number<T>)
      return complex_sqrt(x);
    else
      return std::sqrt(x);
  }
};
struct Rsqrt {
  template <class T>
  T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};
/// That of libm is up to 4 ulp off, which a step of Newton's method mends.
inline double cube_root(double x) {
  const double y = std::cbrt(x);
  return y == 0 || !std::isfinite(y) ? y : y - (y - x / (y * y)) / 3;
}
struct Cbrt {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_same_v<T, double>)
      return cube_root(x);
    else
      return std::cbrt(x);
  }
};
struct Logistic {
  template <class T>
  T operator()(T x) const {
    if constexpr (is_complex_number<T>) {
      return complex_logistic(x);
    } else {
      const T e = std::exp(-std::abs(x));  // at most 1, so nothing overflows
      return (x < 0 ? e : T(1)) / (1 + e);
    }
  }
};
struct Power {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (is_complex_number<T>)
      return complex_power(x, y);
    else if constexpr (std::is_integral_v<T>)
      return integer_power(x, y);
    else
      return std::pow(x, y);
  }
};
struct Erf {
  template <class T>
  T operator()(T x) const {
    return std::erf(x);
  }
};
/// That of libm is up to 3 (f32) and 5 ulp (f64) off, so that twice the precision is rounded here.
inline float complementary_error(float x) {
  return static_cast<float>(std::erfc(static_cast<double>(x)));
}
inline double complementary_error(double x) {
  return static_cast<double>(std::erfc(static_cast<Wider<double>>(x)));
}
struct Erfc {
  template <class T>
  T operator()(T x) const {
    return complementary_error(x);
  }
};

}  // namespace math

namespace {

Value reciprocal_root(lower::Builder& b, Value x) {
  return b.divide(b.number(b.type(x), 1), b.sqrt(x));
}

Tensor expm1_partial(const JvpCall& c) { return c.y() + 1; }
Tensor log1p_divisor(const JvpCall& c) { return c.x(0) + 1; }
Tensor sqrt_partial(const JvpCall& c) { return 0.5 / c.y(); }
Tensor rsqrt_partial(const JvpCall& c) { return -0.5 * (c.y() / c.x(0)); }
/// Two divisions: a square would be 0 at 0 and make the second derivative NaN.
Tensor cbrt_partial(const JvpCall& c) { return 1.0 / 3 / c.y() / c.y(); }
Tensor logistic_partial(const JvpCall& c) { return c.y() * (1 - c.y()); }

Tensor power_base_partial(const JvpCall& c) { return power_base_slope(c.x(0), c.x(1)); }
Tensor power_exponent_partial(const JvpCall& c) { return power_exponent_slope(c.x(0), c.y()); }

/// 2 / sqrt(pi) exp(-x^2), or less that.
template <int sign>
Tensor erf_partial(const JvpCall& c) {
  return sign * 2 * std::numbers::inv_sqrtpi * exp(-(c.x(0) * c.x(0)));
}

}  // namespace

const OpDef kExp =
    elementwise<1, math::Exp, kInexact>({.name = "exp",
                                         .element = element_of<lower::exp>,
                                         .hlo = "exponential",
                                         .stablehlo = "stablehlo.exponential",
                                         .jvp = partials<[](const JvpCall& c) { return c.y(); }>});
const OpDef kExpm1 =
    elementwise<1, math::Expm1, kInexact>({.name = "expm1",
                                           .element = element_of<lower::expm1>,
                                           .hlo = "exponential-minus-one",
                                           .stablehlo = "stablehlo.exponential_minus_one",
                                           .jvp = partials<expm1_partial>});
const OpDef kLog =
    elementwise<1, math::Log, kInexact>({.name = "log",
                                         .element = element_of<lower::log>,
                                         .hlo = "log",
                                         .stablehlo = "stablehlo.log",
                                         .jvp = quotient<[](const JvpCall& c) { return c.x(0); }>});
const OpDef kLog1p = elementwise<1, math::Log1p, kInexact>({.name = "log1p",
                                                            .element = element_of<lower::log1p>,
                                                            .hlo = "log-plus-one",
                                                            .stablehlo = "stablehlo.log_plus_one",
                                                            .jvp = quotient<log1p_divisor>});
const OpDef kSqrt = elementwise<1, math::Sqrt, kInexact>({.name = "sqrt",
                                                          .element = unary_element<code::kSqrt>,
                                                          .hlo = "sqrt",
                                                          .stablehlo = "stablehlo.sqrt",
                                                          .jvp = partials<sqrt_partial>});
const OpDef kRsqrt = elementwise<1, math::Rsqrt, kInexact>({.name = "rsqrt",
                                                            .element = element_of<reciprocal_root>,
                                                            .hlo = "rsqrt",
                                                            .stablehlo = "stablehlo.rsqrt",
                                                            .jvp = partials<rsqrt_partial>});
const OpDef kCbrt =
    elementwise<1, math::Cbrt, kFloats>({.name = "cbrt",
                                         .element = libm_element<cbrtf, math::cube_root>,
                                         .hlo = "cbrt",
                                         .stablehlo = "stablehlo.cbrt",
                                         .jvp = partials<cbrt_partial>});
const OpDef kLogistic =
    elementwise<1, math::Logistic, kInexact>({.name = "logistic",
                                              .element = element_of<lower::logistic>,
                                              .hlo = "logistic",
                                              .stablehlo = "stablehlo.logistic",
                                              .jvp = partials<logistic_partial>});
const OpDef kPower = elementwise<2, math::Power, kNumbers>(
    {.name = "pow",
     .element = element_of<lower::power>,
     .element_dtypes = ir::kFloatDTypes,
     .hlo = "power",
     .stablehlo = "stablehlo.power",
     .jvp = partials<power_base_partial, power_exponent_partial>});
const OpDef kErf = elementwise<1, math::Erf, kFloats>({.name = "erf",
                                                       .element = element_of<lower::erf>,
                                                       .hlo = "erf",
                                                       .stablehlo = "chlo.erf",
                                                       .jvp = partials<erf_partial<1>>});
const OpDef kErfc = elementwise<1, math::Erfc, kFloats>(
    {.name = "erfc",
     .element = libm_element<static_cast<float (*)(float)>(math::complementary_error),
                             static_cast<double (*)(double)>(math::complementary_error)>,
     .stablehlo = "chlo.erfc",
     .expand = expand_by<erfc_formula>,
     .jvp = partials<erf_partial<-1>>});

std::span<const OpDef* const> exponential_records() {
  static constexpr const OpDef* kAll[] = {&kExp,  &kExpm1,    &kLog,   &kLog1p, &kSqrt, &kRsqrt,
                                          &kCbrt, &kLogistic, &kPower, &kErf,   &kErfc};
  return kAll;
}

}  // namespace rondo::ops

namespace rondo {

Tensor exp(const Operand& x) { return ops::unary_op(ops::kExp, x); }
Tensor expm1(const Operand& x) { return ops::unary_op(ops::kExpm1, x); }
Tensor log(const Operand& x) { return ops::unary_op(ops::kLog, x); }
Tensor log1p(const Operand& x) { return ops::unary_op(ops::kLog1p, x); }
Tensor sqrt(const Operand& x) { return ops::unary_op(ops::kSqrt, x); }
Tensor rsqrt(const Operand& x) { return ops::unary_op(ops::kRsqrt, x); }
Tensor cbrt(const Operand& x) { return ops::unary_op(ops::kCbrt, x); }
Tensor logistic(const Operand& x) { return ops::unary_op(ops::kLogistic, x); }
Tensor pow(const Operand& x, const Operand& y) { return ops::binary_op(ops::kPower, x, y); }
Tensor erf(const Operand& x) { return ops::unary_op(ops::kErf, x); }
Tensor erfc(const Operand& x) { return ops::unary_op(ops::kErfc, x); }

}  // namespace rondo
