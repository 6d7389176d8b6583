// Powers, exponentials, logarithms, the error function.
#include <cmath>
#include <numbers>

#include "ops/derivative_rules.h"
#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/expansions.h"
#include "ops/families.h"
#include "ops/kernels/complex_math.h"
#include "ops/kernels/element_math.h"
#include "ops/kernels/elementwise_kernels.h"
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

const OpDef kExp = elementwise<1, math::Exp, kInexact>(
    {.name = "exp",
     .structure = {.element = element_of<lower::exp>},
     .derivative = {.jvp = partials<[](const JvpCall& c) { return c.y(); }>},
     .text = {.hlo = "exponential", .stablehlo = "stablehlo.exponential"}});
const OpDef kExpm1 = elementwise<1, math::Expm1, kInexact>(
    {.name = "expm1",
     .structure = {.element = element_of<lower::expm1>},
     .derivative = {.jvp = partials<expm1_partial>},
     .text = {.hlo = "exponential-minus-one", .stablehlo = "stablehlo.exponential_minus_one"}});
const OpDef kLog = elementwise<1, math::Log, kInexact>(
    {.name = "log",
     .structure = {.element = element_of<lower::log>},
     .derivative = {.jvp = quotient<[](const JvpCall& c) { return c.x(0); }>},
     .text = {.hlo = "log", .stablehlo = "stablehlo.log"}});
const OpDef kLog1p = elementwise<1, math::Log1p, kInexact>(
    {.name = "log1p",
     .structure = {.element = element_of<lower::log1p>},
     .derivative = {.jvp = quotient<log1p_divisor>},
     .text = {.hlo = "log-plus-one", .stablehlo = "stablehlo.log_plus_one"}});
const OpDef kSqrt =
    elementwise<1, math::Sqrt, kInexact>({.name = "sqrt",
                                          .structure = {.element = unary_element<code::kSqrt>},
                                          .derivative = {.jvp = partials<sqrt_partial>},
                                          .text = {.hlo = "sqrt", .stablehlo = "stablehlo.sqrt"}});
const OpDef kRsqrt = elementwise<1, math::Rsqrt, kInexact>(
    {.name = "rsqrt",
     .structure = {.element = element_of<reciprocal_root>},
     .derivative = {.jvp = partials<rsqrt_partial>},
     .text = {.hlo = "rsqrt", .stablehlo = "stablehlo.rsqrt"}});
const OpDef kCbrt = elementwise<1, math::Cbrt, kFloats>(
    {.name = "cbrt",
     .structure = {.element = libm_element<cbrtf, math::cube_root>},
     .derivative = {.jvp = partials<cbrt_partial>},
     .text = {.hlo = "cbrt", .stablehlo = "stablehlo.cbrt"}});
const OpDef kLogistic = elementwise<1, math::Logistic, kInexact>(
    {.name = "logistic",
     .structure = {.element = element_of<lower::logistic>},
     .derivative = {.jvp = partials<logistic_partial>},
     .text = {.hlo = "logistic", .stablehlo = "stablehlo.logistic"}});
const OpDef kPower = elementwise<2, math::Power, kNumbers>(
    {.name = "pow",
     .structure = {.element = element_of<lower::power>, .element_dtypes = ir::kFloatDTypes},
     .derivative = {.jvp = partials<power_base_partial, power_exponent_partial>},
     .text = {.hlo = "power", .stablehlo = "stablehlo.power"}});
const OpDef kErf =
    elementwise<1, math::Erf, kFloats>({.name = "erf",
                                        .structure = {.element = element_of<lower::erf>},
                                        .derivative = {.jvp = partials<erf_partial<1>>},
                                        .text = {.hlo = "erf", .stablehlo = "chlo.erf"}});
const OpDef kErfc = elementwise<1, math::Erfc, kFloats>(
    {.name = "erfc",
     .structure = {.element =
                       libm_element<static_cast<float (*)(float)>(math::complementary_error),
                                    static_cast<double (*)(double)>(math::complementary_error)>},
     .expansion = {.rule = expand_by<erfc_formula>},
     .derivative = {.jvp = partials<erf_partial<-1>>},
     .text = {.stablehlo = "chlo.erfc"}});

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
