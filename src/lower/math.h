// Element code of mathematical functions: each writes arithmetic that computes f(x) for an f32 or
// f64 value and gives the result. Errors are at most 2 ulp (lower/math_functions.h).
#pragma once

#include "lower/builder.h"

namespace rondo::lower {

Value exp(Builder& builder, Value x);
Value expm1(Builder& builder, Value x);
Value log(Builder& builder, Value x);
Value log1p(Builder& builder, Value x);
Value logistic(Builder& builder, Value x);
Value sin(Builder& builder, Value x);
Value cos(Builder& builder, Value x);
Value tan(Builder& builder, Value x);
Value asin(Builder& builder, Value x);
Value acos(Builder& builder, Value x);
Value atan(Builder& builder, Value x);
Value sinh(Builder& builder, Value x);
Value cosh(Builder& builder, Value x);
Value tanh(Builder& builder, Value x);
Value erf(Builder& builder, Value x);
/// x to the power of y, both of one type.
Value power(Builder& builder, Value x, Value y);

}  // namespace rondo::lower
