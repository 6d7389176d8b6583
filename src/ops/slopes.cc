#include "ops/slopes.h"

#include <cmath>

#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/expansions.h"
#include "ops/families.h"
#include "ops/kernels/complex_math.h"
#include "ops/kernels/element_math.h"
#include "ops/kernels/elementwise_kernels.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

struct MaximumSlope {
  template <class T>
  T operator()(T x, T y) const {
    return x > y ? T(1) : x == y ? T(0.5) : T(0);
  }
};
Tensor maximum_slope_formula(std::span<const Tensor> x) {
  const Tensor half = Operand(0.5).as(x[0].dtype());
  return where(x[0] > x[1], 1, where(x[0] == x[1], half, 0));
}

struct RemainderQuotient {
  template <class T>
  T operator()(T x, T y) const {
    return std::trunc(x / y);
  }
};
Tensor remainder_quotient_formula(std::span<const Tensor> x) {
  const Tensor quotient = x[0] / x[1];
  return sign(quotient) * floor(abs(quotient));
}

struct PowerBaseSlope {
  template <class T>
  T operator()(T x, T y) const {
    const T exponent = x == T(0) && y == T(0) ? T(1) : y - T(1);
    if constexpr (math::is_complex_number<T>)
      return y * math::complex_power(x, exponent);
    else
      return y * std::pow(x, exponent);
  }
};
/// For 0^0 the exponent is not -1, so that no infinity stands where this or a further derivative
/// multiplies it by 0.
Tensor power_base_slope_formula(std::span<const Tensor> x) {
  const Tensor corner = (x[0] == 0) & (x[1] == 0);
  return x[1] * pow(x[0], where(corner, 1, x[1] - 1));
}

struct PowerExponentSlope {
  template <class T>
  T operator()(T x, T power) const {
    return std::log(x == T(0) ? T(1) : x) * power;
  }
};
Tensor power_exponent_slope_formula(std::span<const Tensor> x) {
  return log(where(x[0] == 0, 1, x[0])) * x[1];
}

struct Atan2Slope {
  template <class T>
  T operator()(T x, T y) const {
    return x / (x * x + y * y);
  }
};
Tensor atan2_slope_formula(std::span<const Tensor> x) { return x[0] / (x[0] * x[0] + x[1] * x[1]); }

struct HypotSlope {
  template <class T>
  T operator()(T x, T length) const {
    return length == 0 ? T(0.5) : x / length;
  }
};
Tensor hypot_slope_formula(std::span<const Tensor> x) {
  const Tensor origin = x[1] == 0;
  return where(origin, 0.5, x[0] / where(origin, 1, x[1]));
}

// The same as element code.
Value number(lower::Builder& b, Value like, double value) { return b.number(b.type(like), value); }
Value maximum_slope_element(lower::Builder& b, Value x, Value y) {
  const Value half = b.select(b.equal(x, y), number(b, x, 0.5), number(b, x, 0));
  return b.select(b.greater(x, y), number(b, x, 1), half);
}
Value remainder_quotient_element(lower::Builder& b, Value x, Value y) {
  return b.unary(lower::Opcode::kTruncate, b.divide(x, y));
}
Value power_base_slope_element(lower::Builder& b, Value x, Value y) {
  const Value zero = number(b, x, 0), one = number(b, x, 1);
  const Value corner = b.bit_and(b.equal(x, zero), b.equal(y, zero));
  return b.multiply(y, lower::power(b, x, b.select(corner, one, b.subtract(y, one))));
}
Value power_exponent_slope_element(lower::Builder& b, Value x, Value power) {
  const Value at_zero = b.equal(x, number(b, x, 0));
  return b.multiply(lower::log(b, b.select(at_zero, number(b, x, 1), x)), power);
}
Value atan2_slope_element(lower::Builder& b, Value x, Value y) {
  return b.divide(x, b.multiply_add(x, x, b.multiply(y, y)));
}
Value hypot_slope_element(lower::Builder& b, Value x, Value length) {
  return b.select(b.equal(length, number(b, x, 0)), number(b, x, 0.5), b.divide(x, length));
}

}  // namespace

const OpDef kMaximumSlope = elementwise<2, MaximumSlope, kFloats>(
    {.name = "maximum_slope",
     .structure = {.element = element_of<maximum_slope_element>},
     .expansion = {.rule = expand_by<maximum_slope_formula>},
     .derivative = {.zero = true}});
const OpDef kRemainderQuotient = elementwise<2, RemainderQuotient, kFloats>(
    {.name = "remainder_quotient",
     .structure = {.element = element_of<remainder_quotient_element>},
     .expansion = {.rule = expand_by<remainder_quotient_formula>},
     .derivative = {.zero = true}});
const OpDef kPowerBaseSlope = elementwise<2, PowerBaseSlope, kInexact>(
    {.name = "power_base_slope",
     .structure = {.element = element_of<power_base_slope_element>},
     .expansion = {.rule = expand_by<power_base_slope_formula>}});
const OpDef kPowerExponentSlope = elementwise<2, PowerExponentSlope, kInexact>(
    {.name = "power_exponent_slope",
     .structure = {.element = element_of<power_exponent_slope_element>},
     .expansion = {.rule = expand_by<power_exponent_slope_formula>}});
const OpDef kAtan2Slope =
    elementwise<2, Atan2Slope, kFloats>({.name = "atan2_slope",
                                         .structure = {.element = element_of<atan2_slope_element>},
                                         .expansion = {.rule = expand_by<atan2_slope_formula>}});
const OpDef kHypotSlope =
    elementwise<2, HypotSlope, kFloats>({.name = "hypot_slope",
                                         .structure = {.element = element_of<hypot_slope_element>},
                                         .expansion = {.rule = expand_by<hypot_slope_formula>}});

Tensor maximum_slope(const Tensor& x, const Tensor& y) { return binary_op(kMaximumSlope, x, y); }
Tensor remainder_quotient(const Tensor& x, const Tensor& y) {
  return binary_op(kRemainderQuotient, x, y);
}
Tensor power_base_slope(const Tensor& x, const Tensor& y) {
  return binary_op(kPowerBaseSlope, x, y);
}
Tensor power_exponent_slope(const Tensor& x, const Tensor& power) {
  return binary_op(kPowerExponentSlope, x, power);
}
Tensor atan2_slope(const Tensor& x, const Tensor& y) { return binary_op(kAtan2Slope, x, y); }
Tensor hypot_slope(const Tensor& x, const Tensor& length) {
  return binary_op(kHypotSlope, x, length);
}

std::span<const OpDef* const> slope_records() {
  static constexpr const OpDef* kAll[] = {&kMaximumSlope,   &kRemainderQuotient,
                                          &kPowerBaseSlope, &kPowerExponentSlope,
                                          &kAtan2Slope,     &kHypotSlope};
  return kAll;
}

}  // namespace rondo::ops
