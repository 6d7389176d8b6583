// A Tensor of f64 as a number that templates take (lower/number.h): each step is an op, so that the
// mathematics of a record is its formula too.
#pragma once

#include <span>
#include <utility>

#include "lower/special_functions.h"
#include "ops/expansions.h"
#include "ops/two_parts.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

struct TensorMask {
  Tensor t;
  friend TensorMask operator&(const TensorMask& a, const TensorMask& b) { return {a.t & b.t}; }
  friend TensorMask operator|(const TensorMask& a, const TensorMask& b) { return {a.t | b.t}; }
  friend TensorMask operator!(const TensorMask& a) { return {!a.t}; }
};

struct TensorNumber {
  static constexpr bool kIsFloat = true, kWide = true;
  using Mask = TensorMask;
  using N = const TensorNumber&;

  Tensor t;

  static TensorNumber of(double constant) { return {Tensor(constant)}; }

  friend TensorNumber operator+(N a, N b) { return {a.t + b.t}; }
  friend TensorNumber operator-(N a, N b) { return {a.t - b.t}; }
  friend TensorNumber operator*(N a, N b) { return {a.t * b.t}; }
  friend TensorNumber operator/(N a, N b) { return {a.t / b.t}; }
  friend TensorNumber operator-(N a) { return {-a.t}; }
  friend TensorMask operator==(N a, N b) { return {a.t == b.t}; }
  friend TensorMask operator!=(N a, N b) { return {a.t != b.t}; }
  friend TensorMask operator<(N a, N b) { return {a.t < b.t}; }
  friend TensorMask operator<=(N a, N b) { return {a.t <= b.t}; }
  friend TensorMask operator>(N a, N b) { return {a.t > b.t}; }
  friend TensorMask operator>=(N a, N b) { return {a.t >= b.t}; }
  friend TensorNumber fma(N a, N b, N c) { return {a.t * b.t + c.t}; }
  friend TensorNumber abs(N a) { return {rondo::abs(a.t)}; }
  friend TensorNumber sqrt(N a) { return {rondo::sqrt(a.t)}; }
  friend TensorNumber floor(N a) { return {rondo::floor(a.t)}; }
  friend TensorNumber round_even(N a) { return {rondo::round(a.t)}; }
  friend TensorNumber exp(N a) { return {rondo::exp(a.t)}; }
  friend TensorNumber log(N a) { return {rondo::log(a.t)}; }
  /// As the logarithm that texts have.
  friend lower::math::LogInParts<TensorNumber> log_in_parts(N a) { return {log(a), of(0)}; }
  friend TensorNumber power(N a, N b) { return {rondo::pow(a.t, b.t)}; }
  friend TensorNumber select(const TensorMask& p, N a, N b) { return {where(p.t, a.t, b.t)}; }
  /// What rounding took from 1 / x; here fma rounds twice.
  friend TensorNumber lost_by_inverse(N x, N inverse) {
    const TwoParts product = product_in_parts(inverse.t, x.t);
    const Tensor lost = inverse.t * ((1 - product.high) - product.low);
    return {where(rondo::abs(inverse.t) < 0x1p900, lost, 0.0)};
  }
  friend TensorNumber copy_sign(N a, N sign) {
    const Tensor bit = Tensor(static_cast<std::int64_t>(std::uint64_t{1} << 63));
    const Tensor size = bitcast_convert(a.t, DType::kS64) & ~bit;
    return {bitcast_convert(size | (bitcast_convert(sign.t, DType::kS64) & bit), DType::kF64)};
  }
};

/// The functor F on f64 as a formula for operands of any dtype of floats.
template <class F, int arity>
Tensor formula_of(std::span<const Tensor> operands) {
  const auto wide = [&](std::size_t i) { return TensorNumber{convert(operands[i], DType::kF64)}; };
  Tensor result;
  if constexpr (arity == 1)
    result = F::in_double(wide(0)).t;
  else
    result = F::in_double(wide(0), wide(1)).t;
  return convert(result, operands[0].dtype());
}

}  // namespace rondo::ops
