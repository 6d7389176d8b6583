// Sums, products, extremes, rounding.
#include <cmath>

#include "ops/element_math.h"
#include "ops/elementwise.h"
#include "ops/elementwise_kernels.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace math {

struct Floor {
  template <class T>
  T operator()(T x) const {
    return std::floor(x);
  }
};
struct Ceil {
  template <class T>
  T operator()(T x) const {
    return std::ceil(x);
  }
};
struct Round {
  template <class T>
  T operator()(T x) const {
    return std::nearbyint(x);  // halves to even: the rounding mode is never changed
  }
};

}  // namespace math

const OpDef kAdd = elementwise<2, math::Add, kPreds | kNumbers>(
    {.name = "add", .hlo = "add", .stablehlo = "stablehlo.add", .commutative = true});
const OpDef kSubtract = elementwise<2, math::Subtract, kNumbers>(
    {.name = "subtract", .hlo = "subtract", .stablehlo = "stablehlo.subtract"});
const OpDef kMultiply =
    elementwise<2, math::Multiply, kPreds | kNumbers>({.name = "multiply",
                                                       .hlo = "multiply",
                                                       .stablehlo = "stablehlo.multiply",
                                                       .commutative = true});
const OpDef kDivide = elementwise<2, math::Divide, kNumbers>(
    {.name = "divide", .hlo = "divide", .stablehlo = "stablehlo.divide"});
const OpDef kRemainder = elementwise<2, math::Remainder, kIntegers | kFloats>(
    {.name = "remainder", .hlo = "remainder", .stablehlo = "stablehlo.remainder"});
const OpDef kMaximum = elementwise<2, math::Maximum, kOrdered>(
    {.name = "maximum", .hlo = "maximum", .stablehlo = "stablehlo.maximum", .commutative = true});
const OpDef kMinimum = elementwise<2, math::Minimum, kOrdered>(
    {.name = "minimum", .hlo = "minimum", .stablehlo = "stablehlo.minimum", .commutative = true});
const OpDef kClamp = elementwise<3, math::Clamp, kIntegers | kFloats>(
    {.name = "clamp", .hlo = "clamp", .stablehlo = "stablehlo.clamp"});

const OpDef kNegate = elementwise<1, math::Negate, kNumbers>(
    {.name = "negate", .hlo = "negate", .stablehlo = "stablehlo.negate"});
const OpDef kAbs = elementwise<1, math::Abs, kSigned | kInexact>(
    {.name = "abs", .hlo = "abs", .stablehlo = "stablehlo.abs"});
const OpDef kSign = elementwise<1, math::Sign, kSigned | kInexact>(
    {.name = "sign", .hlo = "sign", .stablehlo = "stablehlo.sign"});
const OpDef kFloor = elementwise<1, math::Floor, kFloats>(
    {.name = "floor", .hlo = "floor", .stablehlo = "stablehlo.floor"});
const OpDef kCeil = elementwise<1, math::Ceil, kFloats>(
    {.name = "ceil", .hlo = "ceil", .stablehlo = "stablehlo.ceil"});
const OpDef kRound = elementwise<1, math::Round, kFloats>(
    {.name = "round", .hlo = "round-nearest-even", .stablehlo = "stablehlo.round_nearest_even"});

}  // namespace rondo::ops

namespace rondo {

Tensor operator+(const Operand& a, const Operand& b) { return ops::binary_op(ops::kAdd, a, b); }
Tensor operator-(const Operand& a, const Operand& b) {
  return ops::binary_op(ops::kSubtract, a, b);
}
Tensor operator*(const Operand& a, const Operand& b) {
  return ops::binary_op(ops::kMultiply, a, b);
}
Tensor operator/(const Operand& a, const Operand& b) { return ops::binary_op(ops::kDivide, a, b); }
Tensor operator%(const Operand& a, const Operand& b) {
  return ops::binary_op(ops::kRemainder, a, b);
}
Tensor rem(const Operand& a, const Operand& b) { return ops::binary_op(ops::kRemainder, a, b); }
Tensor maximum(const Operand& a, const Operand& b) { return ops::binary_op(ops::kMaximum, a, b); }
Tensor minimum(const Operand& a, const Operand& b) { return ops::binary_op(ops::kMinimum, a, b); }

Tensor operator-(const Operand& x) { return ops::unary_op(ops::kNegate, x); }
Tensor operator+(const Operand& x) { return ir::checked(x.any(), "+", x.at()); }
Tensor floor(const Operand& x) { return ops::unary_op(ops::kFloor, x); }
Tensor ceil(const Operand& x) { return ops::unary_op(ops::kCeil, x); }
Tensor round(const Operand& x) { return ops::unary_op(ops::kRound, x); }

Tensor abs(const Operand& x) {
  const Tensor tensor = ir::checked(x.any(), "abs", x.at());
  return is_unsigned_integer(tensor.dtype()) ? tensor : ops::unary_op(ops::kAbs, {tensor, x.at()});
}

Tensor sign(const Operand& x) {
  const Tensor tensor = ir::checked(x.any(), "sign", x.at());
  if (is_unsigned_integer(tensor.dtype()))
    return convert(Operand(ne({tensor, x.at()}, 0), x.at()), tensor.dtype());
  return ops::unary_op(ops::kSign, {tensor, x.at()});
}

Tensor square(const Operand& x) {
  const Tensor tensor = x.any();
  return ops::binary_op(ops::kMultiply, {tensor, x.at()}, {tensor, x.at()});
}

Tensor reciprocal(const Operand& x) {
  const Tensor tensor = ir::checked(x.any(), "reciprocal", x.at());
  if (!is_floating(tensor.dtype()) && !is_complex(tensor.dtype())) {
    ops::fail(
        "reciprocal",
        fmt::format(
            "takes floats and complex numbers; the operand is {}\n  Convert it to a float first: "
            "rondo::convert(x, DType::kF32).",
            tensor.type().str()),
        x.at());
  }
  return ops::binary_op(ops::kDivide, {1, x.at()}, {tensor, x.at()});
}

Tensor clamp(const Operand& lo, const Operand& x, const Operand& hi) {
  std::array<Tensor, 3> all;
  if (lo.is_scalar() && x.is_scalar() && hi.is_scalar()) {
    // The dtype that holds all three holds two pairs of them.
    const DType lower = ops::same_dtype("clamp", lo, x)[0].dtype(),
                upper = ops::same_dtype("clamp", x, hi)[0].dtype();
    const DType outer = ops::same_dtype("clamp", lo, hi)[0].dtype();
    const DType dtype = lower == upper || lower == outer ? lower : upper;
    all = {lo.as(dtype), x.as(dtype), hi.as(dtype)};
  } else {
    const Operand& known = !x.is_scalar() ? x : !lo.is_scalar() ? lo : hi;
    all = {ops::same_dtype("clamp", lo, known)[0], ops::same_dtype("clamp", x, known)[0],
           ops::same_dtype("clamp", hi, known)[0]};
  }
  ops::broadcast_together("clamp", all, x.at());
  return ops::make(ops::kClamp, {all[0], all[1], all[2]}, {}, x.at());
}

}  // namespace rondo
