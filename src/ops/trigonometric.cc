// Circular and hyperbolic functions and their inverses.
#include <cmath>

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

struct Sin {
  template <class T>
  T operator()(T x) const {
    return std::sin(x);
  }
};
struct Cos {
  template <class T>
  T operator()(T x) const {
    return std::cos(x);
  }
};
struct Tan {
  template <class T>
  T operator()(T x) const {
    return std::tan(x);
  }
};
struct Sinh {
  template <class T>
  T operator()(T x) const {
    return std::sinh(x);
  }
};
struct Cosh {
  template <class T>
  T operator()(T x) const {
    return std::cosh(x);
  }
};
struct Tanh {
  template <class T>
  T operator()(T x) const {
    return std::tanh(x);
  }
};
struct Asin {
  template <class T>
  T operator()(T x) const {
    if constexpr (is_complex_number<T>)
      return std::asin(T(x.real(), unsigned_zero(x.imag())));
    else
      return std::asin(x);
  }
};
struct Acos {
  template <class T>
  T operator()(T x) const {
    if constexpr (is_complex_number<T>)
      return std::acos(T(x.real(), unsigned_zero(x.imag())));
    else
      return std::acos(x);
  }
};
struct Atan {
  template <class T>
  T operator()(T x) const {
    return std::atan(x);
  }
};
struct Asinh {
  template <class T>
  T operator()(T x) const {
    if constexpr (is_complex_number<T>)
      return std::asinh(T(unsigned_zero(x.real()), x.imag()));
    else
      return std::asinh(x);
  }
};
struct Acosh {
  template <class T>
  T operator()(T x) const {
    if constexpr (is_complex_number<T>)
      return std::acosh(T(x.real(), unsigned_zero(x.imag())));
    else
      return std::acosh(x);
  }
};
struct Atanh {
  template <class T>
  T operator()(T x) const {
    return std::atanh(x);
  }
};
struct Atan2 {
  template <class T>
  T operator()(T y, T x) const {
    return std::atan2(y, x);
  }
};
struct Hypot {
  template <class T>
  T operator()(T x, T y) const {
    return std::hypot(x, y);
  }
};

}  // namespace math

namespace {

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

}  // namespace

const OpDef kSin = elementwise<1, math::Sin, kInexact>(
    {.name = "sin",
     .structure = {.element = element_of<lower::sin>},
     .derivative = {.jvp = partials<[](const JvpCall& c) { return cos(c.x(0)); }>},
     .text = {.hlo = "sine", .stablehlo = "stablehlo.sine"}});
const OpDef kCos = elementwise<1, math::Cos, kInexact>(
    {.name = "cos",
     .structure = {.element = element_of<lower::cos>},
     .derivative = {.jvp = partials<[](const JvpCall& c) { return -sin(c.x(0)); }>},
     .text = {.hlo = "cosine", .stablehlo = "stablehlo.cosine"}});
const OpDef kTan =
    elementwise<1, math::Tan, kInexact>({.name = "tan",
                                         .structure = {.element = element_of<lower::tan>},
                                         .derivative = {.jvp = partials<tan_partial>},
                                         .text = {.hlo = "tan", .stablehlo = "stablehlo.tan"}});
const OpDef kTanh =
    elementwise<1, math::Tanh, kInexact>({.name = "tanh",
                                          .structure = {.element = element_of<lower::tanh>},
                                          .derivative = {.jvp = partials<tanh_partial>},
                                          .text = {.hlo = "tanh", .stablehlo = "stablehlo.tanh"}});
const OpDef kAtan2 = elementwise<2, math::Atan2, kFloats>(
    {.name = "atan2",
     .structure = {.element =
                       libm_element<atan2f, static_cast<double (*)(double, double)>(::atan2)>},
     .derivative = {.jvp = partials<atan2_y_partial, atan2_x_partial>},
     .text = {.hlo = "atan2", .stablehlo = "stablehlo.atan2"}});

// XLA's parser knows names for most of these, but its CPU compiler does not know the ops.
const OpDef kSinh = elementwise<1, math::Sinh, kInexact>(
    {.name = "sinh",
     .structure = {.element = element_of<lower::sinh>},
     .expansion = {.rule = expand_by<sinh_formula>},
     .derivative = {.jvp = partials<[](const JvpCall& c) { return cosh(c.x(0)); }>},
     .text = {.stablehlo = "chlo.sinh"}});
const OpDef kCosh = elementwise<1, math::Cosh, kInexact>(
    {.name = "cosh",
     .structure = {.element = element_of<lower::cosh>},
     .expansion = {.rule = expand_by<cosh_formula>},
     .derivative = {.jvp = partials<[](const JvpCall& c) { return sinh(c.x(0)); }>},
     .text = {.stablehlo = "chlo.cosh"}});
// chlo.asin gives 0 for the least normal numbers, so the formula goes into both texts.
const OpDef kAsin =
    elementwise<1, math::Asin, kInexact>({.name = "asin",
                                          .structure = {.element = element_of<lower::asin>},
                                          .expansion = {.rule = expand_by<asin_formula>},
                                          .derivative = {.jvp = partials<asin_partial>}});
const OpDef kAcos =
    elementwise<1, math::Acos, kInexact>({.name = "acos",
                                          .structure = {.element = element_of<lower::acos>},
                                          .expansion = {.rule = expand_by<acos_formula>},
                                          .derivative = {.jvp = partials<acos_partial>},
                                          .text = {.stablehlo = "chlo.acos"}});
const OpDef kAtan =
    elementwise<1, math::Atan, kInexact>({.name = "atan",
                                          .structure = {.element = element_of<lower::atan>},
                                          .expansion = {.rule = expand_by<atan_formula>},
                                          .derivative = {.jvp = quotient<atan_divisor>},
                                          .text = {.stablehlo = "chlo.atan"}});
// chlo.asin gives 0 for the least normal numbers, so the formula goes into both texts.
const OpDef kAsinh = elementwise<1, math::Asinh, kInexact>(
    {.name = "asinh",
     .structure = {.element = libm_element<asinhf, static_cast<double (*)(double)>(::asinh)>},
     .expansion = {.rule = expand_by<asinh_formula>},
     .derivative = {.jvp = partials<asinh_partial>},
     .text = {.stablehlo = "chlo.asinh"}});
const OpDef kAcosh = elementwise<1, math::Acosh, kInexact>(
    {.name = "acosh",
     .structure = {.element = libm_element<acoshf, static_cast<double (*)(double)>(::acosh)>},
     .expansion = {.rule = expand_by<acosh_formula>},
     .derivative = {.jvp = partials<acosh_partial>},
     .text = {.stablehlo = "chlo.acosh"}});
const OpDef kAtanh = elementwise<1, math::Atanh, kInexact>(
    {.name = "atanh",
     .structure = {.element = libm_element<atanhf, static_cast<double (*)(double)>(::atanh)>},
     .expansion = {.rule = expand_by<atanh_formula>},
     .derivative = {.jvp = quotient<atanh_divisor>},
     .text = {.stablehlo = "chlo.atanh"}});
const OpDef kHypot = elementwise<2, math::Hypot, kFloats>(
    {.name = "hypot",
     .structure = {.element =
                       libm_element<hypotf, static_cast<double (*)(double, double)>(::hypot)>,
                   .commutative = true},
     .expansion = {.rule = expand_by<hypot_formula>},
     .derivative = {.jvp = partials<hypot_partial<0>, hypot_partial<1>>}});

std::span<const OpDef* const> trigonometric_records() {
  static constexpr const OpDef* kAll[] = {&kSin,   &kCos,   &kTan,   &kTanh, &kAtan2,
                                          &kSinh,  &kCosh,  &kAsin,  &kAcos, &kAtan,
                                          &kAsinh, &kAcosh, &kAtanh, &kHypot};
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
