// Powers, exponentials, logarithms, the error function.
#include <cmath>

#include "ops/complex_math.h"
#include "ops/element_math.h"
#include "ops/elementwise.h"
#include "ops/elementwise_kernels.h"
#include "ops/expansions.h"
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
struct Cbrt {
  template <class T>
  T operator()(T x) const {
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
struct Erfc {
  template <class T>
  T operator()(T x) const {
    return std::erfc(x);
  }
};

}  // namespace math

const OpDef kExp = elementwise<1, math::Exp, kInexact>(
    {.name = "exp", .hlo = "exponential", .stablehlo = "stablehlo.exponential"});
const OpDef kExpm1 =
    elementwise<1, math::Expm1, kInexact>({.name = "expm1",
                                           .hlo = "exponential-minus-one",
                                           .stablehlo = "stablehlo.exponential_minus_one"});
const OpDef kLog = elementwise<1, math::Log, kInexact>(
    {.name = "log", .hlo = "log", .stablehlo = "stablehlo.log"});
const OpDef kLog1p = elementwise<1, math::Log1p, kInexact>(
    {.name = "log1p", .hlo = "log-plus-one", .stablehlo = "stablehlo.log_plus_one"});
const OpDef kSqrt = elementwise<1, math::Sqrt, kInexact>(
    {.name = "sqrt", .hlo = "sqrt", .stablehlo = "stablehlo.sqrt"});
const OpDef kRsqrt = elementwise<1, math::Rsqrt, kInexact>(
    {.name = "rsqrt", .hlo = "rsqrt", .stablehlo = "stablehlo.rsqrt"});
const OpDef kCbrt = elementwise<1, math::Cbrt, kFloats>(
    {.name = "cbrt", .hlo = "cbrt", .stablehlo = "stablehlo.cbrt"});
const OpDef kLogistic = elementwise<1, math::Logistic, kInexact>(
    {.name = "logistic", .hlo = "logistic", .stablehlo = "stablehlo.logistic"});
const OpDef kPower = elementwise<2, math::Power, kNumbers>(
    {.name = "pow", .hlo = "power", .stablehlo = "stablehlo.power"});
const OpDef kErf =
    elementwise<1, math::Erf, kFloats>({.name = "erf", .hlo = "erf", .stablehlo = "chlo.erf"});
const OpDef kErfc = elementwise<1, math::Erfc, kFloats>(
    {.name = "erfc", .stablehlo = "chlo.erfc", .expand = expand_by<erfc_formula>});

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
