// Partial derivatives that take several ops, each as an op of its own, beside that whose derivative
// it is: one pass over the elements in every executor, its formula in text and in further
// derivatives.
#pragma once

#include "ir/node.h"

namespace rondo::ops {

extern const ir::OpDef kMaximumSlope, kRemainderQuotient, kPowerBaseSlope, kPowerExponentSlope,
    kAtan2Slope, kHypotSlope;

/// What of maximum(x, y) is x: 1 where it is the greater one, 1/2 where both are equal, so that
/// they share a cotangent, else 0.
Tensor maximum_slope(const Tensor& x, const Tensor& y);
/// The whole number n of x - n y = x % y: x / y without its fraction.
Tensor remainder_quotient(const Tensor& x, const Tensor& y);
/// y x^(y-1), and 0 for 0^0.
Tensor power_base_slope(const Tensor& x, const Tensor& y);
/// `power` log(x), where `power` is x^y; its multiple of log(1) for x = 0, as JAX has it.
Tensor power_exponent_slope(const Tensor& x, const Tensor& power);
/// x / (x^2 + y^2): the derivative of atan2(y, x) in y, and of -atan2(x, y) in y.
Tensor atan2_slope(const Tensor& x, const Tensor& y);
/// x / length; at the origin 1/2, as JAX has it.
Tensor hypot_slope(const Tensor& x, const Tensor& length);

}  // namespace rondo::ops
