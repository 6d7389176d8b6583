#include "ops/functions/helpers.h"

#include "rondo/ops/elementwise.h"

namespace rondo::ops {

Tensor Helper::floating(const Operand& operand) const {
  Tensor x = any(operand);
  if (!is_floating(x.dtype())) {
    fail(fmt::format("takes floats; the operand is {}\n  {}", x.type().str(),
                     is_complex(x.dtype())
                         ? "Take a real number of it: rondo::real(x) or rondo::abs(x)."
                         : "Convert it first: rondo::convert(x, DType::kF32)."));
  }
  return x;
}

Tensor Helper::inexact(const Operand& operand) const {
  Tensor x = any(operand);
  return is_complex(x.dtype()) ? x : floating(operand);
}

Tensor Helper::integer(const Operand& operand) const {
  Tensor x = any(operand);
  if (!is_integer(x.dtype())) {
    fail(
        fmt::format("takes integers; the operand is {}\n  Convert it first: rondo::convert(x, "
                    "DType::kS32).",
                    x.type().str()));
  }
  return x;
}

void Helper::check_rank(const Tensor& x, std::string_view what, std::int64_t rank) const {
  if (x.rank() == rank) return;
  fail(fmt::format("{} is {}; it must have {} {}\n  Reshape it, or take a part of it.", what,
                   x.type().str(), rank, rank == 1 ? "axis" : "axes"));
}

std::int64_t Helper::count(const Tensor& x, const std::vector<std::int64_t>& over) const {
  std::int64_t product = 1;
  for (const std::int64_t axis : axes(over, x)) product *= x.dim(axis);
  return product;
}

DType wide_dtype(DType dtype) {
  return is_floating(dtype) && byte_width(dtype) <= 2 ? DType::kF32 : dtype;
}

Tensor squared_magnitude(const Tensor& x) {
  if (!is_complex(x.dtype())) return x * x;
  const Tensor re = real(x), im = imag(x);
  return re * re + im * im;
}

Tensor flat_at_zero_sqrt(const Tensor& x) {
  const Tensor zero = x == 0;
  return where(zero, 0, sqrt(where(zero, 1, x)));
}

}  // namespace rondo::ops
