// Complex numbers and their parts.
#include <complex>

#include "ops/elementwise.h"
#include "ops/elementwise_kernels.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace math {

struct Real {
  template <class T>
  T operator()(std::complex<T> x) const {
    return x.real();
  }
};
struct Imag {
  template <class T>
  T operator()(std::complex<T> x) const {
    return x.imag();
  }
};
struct MakeComplex {
  template <class T>
  std::complex<T> operator()(T re, T im) const {
    return {re, im};
  }
};

}  // namespace math

const OpDef kReal = elementwise<1, math::Real, kComplexes>(
    {.name = "real", .hlo = "real", .stablehlo = "stablehlo.real"});
const OpDef kImag = elementwise<1, math::Imag, kComplexes>(
    {.name = "imag", .hlo = "imag", .stablehlo = "stablehlo.imag"});
const OpDef kComplex = elementwise<2, math::MakeComplex, kFullFloats>(
    {.name = "complex", .hlo = "complex", .stablehlo = "stablehlo.complex"});

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
  const Tensor tensor = ir::checked(x.any(), "conj", x.at());
  if (!is_complex(tensor.dtype())) return tensor;
  const Tensor im = ops::unary_op(ops::kNegate, {imag({tensor, x.at()}), x.at()});
  return ops::binary_op(ops::kComplex, {real({tensor, x.at()}), x.at()}, {im, x.at()});
}

Tensor complex(const Operand& re, const Operand& im) {
  return ops::binary_op(ops::kComplex, re, im);
}

}  // namespace rondo
