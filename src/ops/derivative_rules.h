// Building blocks for the derivative rules of elementwise ops.
#pragma once

#include <vector>

#include "ir/derivative.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

using ir::JvpCall;
using ir::Linear;
using ir::TransposeCall;

/// For `partials`: the derivative by this operand is zero.
struct NoPartial {};

namespace derivative_detail {

template <auto partial>
void add_partial(const JvpCall& call, std::size_t i, Tensor& sum) {
  if constexpr (!std::is_same_v<decltype(partial), const NoPartial>) {
    if (call.has(i)) sum = ir::add_tangents(sum, call.dx(i) * partial(call));
  }
}

}  // namespace derivative_detail

/// The jvp rule of an elementwise op from its partial derivatives, one lambda an operand: each
/// takes the call and gives the factor of that operand's tangent.
///
///     .jvp = partials<[](const JvpCall& c) { return cos(c.x(0)); }>
template <auto... partial>
std::vector<Tensor> partials(const JvpCall& call) {
  Tensor sum;
  std::size_t i = 0;
  (derivative_detail::add_partial<partial>(call, i++, sum), ...);
  return {sum};
}

/// The jvp rule of an op of one operand whose derivative is 1 / divisor(call).
template <auto divisor>
std::vector<Tensor> quotient(const JvpCall& call) {
  return {call.dx(0) / divisor(call)};
}

}  // namespace rondo::ops
