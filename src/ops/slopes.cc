#include "ops/slopes.h"

#include <cmath>

#include "lower/math_functions.h"
#include "ops/elementwise.h"
#include "ops/expansions.h"
#include "ops/families.h"
#include "ops/kernels/complex_math.h"
#include "ops/kernels/elementwise_kernels.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

struct MaximumSlope {
  template <lower::Float N>
  N operator()(N x, N y) const {
    return select(x > y, N::of(1), select(x == y, N::of(0.5), N::of(0)));
  }
};
Tensor maximum_slope_formula(std::span<const Tensor> x) {
  const Tensor half = Operand(0.5).as(x[0].dtype());
  return where(x[0] > x[1], 1, where(x[0] == x[1], half, 0));
}

struct RemainderQuotient {
  template <lower::Float N>
  N operator()(N x, N y) const {
    return truncate(x / y);
  }
};
Tensor remainder_quotient_formula(std::span<const Tensor> x) {
  const Tensor quotient = x[0] / x[1];
  return sign(quotient) * floor(abs(quotient));
}

struct PowerBaseSlope : UsesFma {
  template <lower::Float N>
  N operator()(N x, N y) const {
    const auto corner = (x == N::of(0)) & (y == N::of(0));
    return y * lower::math::power(x, select(corner, N::of(1), y - N::of(1)));
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x, std::complex<T> y) const {
    const bool corner = x == T(0) && y == T(0);
    return y * math::complex_power(x, corner ? std::complex<T>(1) : y - T(1));
  }
};
/// For 0^0 the exponent is not -1, because this or a further derivative would multiply
/// an infinity by 0.
Tensor power_base_slope_formula(std::span<const Tensor> x) {
  const Tensor corner = (x[0] == 0) & (x[1] == 0);
  return x[1] * pow(x[0], where(corner, 1, x[1] - 1));
}

struct PowerExponentSlope : UsesFma {
  template <lower::Float N>
  N operator()(N x, N power) const {
    return lower::math::log(select(x == N::of(0), N::of(1), x)) * power;
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x, std::complex<T> power) const {
    return std::log(x == T(0) ? std::complex<T>(1) : x) * power;
  }
};
Tensor power_exponent_slope_formula(std::span<const Tensor> x) {
  return log(where(x[0] == 0, 1, x[0])) * x[1];
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

const OpDef kMaximumSlope =
    elementwise<2, MaximumSlope, kFloats>({.name = "maximum_slope",
                                           .expansion = {.rule = expand_by<maximum_slope_formula>},
                                           .derivative = {.zero = true}});
const OpDef kRemainderQuotient = elementwise<2, RemainderQuotient, kFloats>(
    {.name = "remainder_quotient",
     .expansion = {.rule = expand_by<remainder_quotient_formula>},
     .derivative = {.zero = true}});
const OpDef kPowerBaseSlope = elementwise<2, PowerBaseSlope, kInexact>(
    {.name = "power_base_slope", .expansion = {.rule = expand_by<power_base_slope_formula>}});
const OpDef kPowerExponentSlope = elementwise<2, PowerExponentSlope, kInexact>(
    {.name = "power_exponent_slope",
     .expansion = {.rule = expand_by<power_exponent_slope_formula>}});
const OpDef kAtan2Slope = elementwise<2, Atan2Slope, kFloats>(
    {.name = "atan2_slope", .expansion = {.rule = expand_by<atan2_slope_formula>}});
const OpDef kHypotSlope = elementwise<2, HypotSlope, kFloats>(
    {.name = "hypot_slope", .expansion = {.rule = expand_by<hypot_slope_formula>}});

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
