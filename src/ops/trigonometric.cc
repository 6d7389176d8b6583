// Circular and hyperbolic functions and their inverses.
#include <cmath>

#include "ops/complex_math.h"
#include "ops/element_math.h"
#include "ops/elementwise.h"
#include "ops/elementwise_kernels.h"
#include "ops/expansions.h"
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

const OpDef kSin = elementwise<1, math::Sin, kInexact>(
    {.name = "sin", .hlo = "sine", .stablehlo = "stablehlo.sine"});
const OpDef kCos = elementwise<1, math::Cos, kInexact>(
    {.name = "cos", .hlo = "cosine", .stablehlo = "stablehlo.cosine"});
const OpDef kTan = elementwise<1, math::Tan, kInexact>(
    {.name = "tan", .hlo = "tan", .stablehlo = "stablehlo.tan"});
const OpDef kTanh = elementwise<1, math::Tanh, kInexact>(
    {.name = "tanh", .hlo = "tanh", .stablehlo = "stablehlo.tanh"});
const OpDef kAtan2 = elementwise<2, math::Atan2, kFloats>(
    {.name = "atan2", .hlo = "atan2", .stablehlo = "stablehlo.atan2"});

// XLA's parser knows names for most of these, but its CPU compiler does not know the ops.
const OpDef kSinh = elementwise<1, math::Sinh, kInexact>(
    {.name = "sinh", .stablehlo = "chlo.sinh", .expand = expand_by<sinh_formula>});
const OpDef kCosh = elementwise<1, math::Cosh, kInexact>(
    {.name = "cosh", .stablehlo = "chlo.cosh", .expand = expand_by<cosh_formula>});
// chlo.asin gives 0 for the least normal numbers, so the formula goes into both texts.
const OpDef kAsin = elementwise<1, math::Asin, kInexact>(
    {.name = "asin", .expand = expand_by<asin_formula>});
const OpDef kAcos = elementwise<1, math::Acos, kInexact>(
    {.name = "acos", .stablehlo = "chlo.acos", .expand = expand_by<acos_formula>});
const OpDef kAtan = elementwise<1, math::Atan, kInexact>(
    {.name = "atan", .stablehlo = "chlo.atan", .expand = expand_by<atan_formula>});
const OpDef kAsinh = elementwise<1, math::Asinh, kInexact>(
    {.name = "asinh", .stablehlo = "chlo.asinh", .expand = expand_by<asinh_formula>});
const OpDef kAcosh = elementwise<1, math::Acosh, kInexact>(
    {.name = "acosh", .stablehlo = "chlo.acosh", .expand = expand_by<acosh_formula>});
const OpDef kAtanh = elementwise<1, math::Atanh, kInexact>(
    {.name = "atanh", .stablehlo = "chlo.atanh", .expand = expand_by<atanh_formula>});
const OpDef kHypot = elementwise<2, math::Hypot, kFloats>(
    {.name = "hypot", .expand = expand_by<hypot_formula>, .commutative = true});

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
