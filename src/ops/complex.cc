// Complex numbers and their parts.
#include <complex>

#include "ops/derivative_rules.h"
#include "ops/elementwise.h"
#include "ops/families.h"
#include "ops/kernels/elementwise_kernels.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace math {

struct Real {
  template <class N>
  N operator()(lower::Complex<N> x) const {
    return x.re;
  }
};
struct Imag {
  template <class N>
  N operator()(lower::Complex<N> x) const {
    return x.im;
  }
};
struct MakeComplex {
  template <lower::Float N>
  lower::Complex<N> operator()(N re, N im) const {
    return {re, im};
  }
};

}  // namespace math

namespace {

// No conjugation: the cotangent of z = x + iy is that of x minus i times that of y.
std::vector<Tensor> real_transpose(const TransposeCall& c) {
  return {complex(c.ct(), zeros(c.ct().type()))};
}
std::vector<Tensor> imag_transpose(const TransposeCall& c) {
  return {complex(zeros(c.ct().type()), -c.ct())};
}
std::vector<Tensor> complex_transpose(const TransposeCall& c) {
  return {c.linear[0] ? real(c.ct()) : Tensor(), c.linear[1] ? -imag(c.ct()) : Tensor()};
}

}  // namespace

const OpDef kReal = elementwise<1, math::Real, kComplexes>(
    {.name = "real",
     .derivative = {.linear = Linear::kJointly, .transpose = real_transpose},
     .text = {.hlo = "real", .stablehlo = "stablehlo.real"}});
const OpDef kImag = elementwise<1, math::Imag, kComplexes>(
    {.name = "imag",
     .derivative = {.linear = Linear::kJointly, .transpose = imag_transpose},
     .text = {.hlo = "imag", .stablehlo = "stablehlo.imag"}});
const OpDef kComplex = elementwise<2, math::MakeComplex, kFullFloats>(
    {.name = "complex",
     .derivative = {.linear = Linear::kJointly, .transpose = complex_transpose},
     .text = {.hlo = "complex", .stablehlo = "stablehlo.complex"}});

std::span<const OpDef* const> complex_records() {
  static constexpr const OpDef* kAll[] = {&kReal, &kImag, &kComplex};
  return kAll;
}

}  // namespace rondo::ops

namespace rondo {

Tensor real(const Operand& x) {
  const Tensor tensor = ir::checked(x.any(), "real", x.at());
  return is_complex(tensor.dtype()) ? ops::unary_op(ops::kReal, {tensor, x.at()}) : tensor;
}

Tensor imag(const Operand& x) {
  const Tensor tensor = ir::checked(x.any(), "imag", x.at());
  if (is_complex(tensor.dtype())) return ops::unary_op(ops::kImag, {tensor, x.at()});
  return ops::broadcast(Operand(0, x.at()).as(tensor.dtype()), tensor.shape(), x.at());
}

Tensor conj(const Operand& x) {
  Tensor tensor = ir::checked(x.any(), "conj", x.at());
  if (!is_complex(tensor.dtype())) return tensor;
  const Tensor im = ops::unary_op(ops::kNegate, {imag({tensor, x.at()}), x.at()});
  return ops::binary_op(ops::kComplex, {real({tensor, x.at()}), x.at()}, {im, x.at()});
}

Tensor complex(const Operand& re, const Operand& im) {
  return ops::binary_op(ops::kComplex, re, im);
}

}  // namespace rondo
