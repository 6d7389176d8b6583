#include "control_flow/promise.h"

#include <algorithm>
#include <complex>
#include <limits>
#include <utility>

#include "base/for_dtype.h"
#include "control_flow/extend.h"
#include "ir/function_data.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

namespace {

bool can_be_nan(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

Literal nan_of(DType dtype) {
  return for_any_dtype(dtype, [&]<class T>() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if constexpr (is_complex(dtype_of<T>)) {
      return Literal::scalar(
          T(static_cast<typename T::value_type>(nan), static_cast<typename T::value_type>(nan)));
    } else {
      return Literal::scalar(static_cast<T>(nan));
    }
  });
}

}  // namespace

bool promise_needs_no_check(const ir::Node& node) {
  return !ir::region_layout(&node)->has_open_promise() ||
         std::none_of(node.types.begin(), node.types.end(),
                      [](const TensorType& type) { return can_be_nan(type.dtype); });
}

std::vector<Tensor> while_with_checked_promise(const ir::Node& node,
                                               std::span<const Tensor> operands) {
  const SourceLocation at = node.location();
  ir::RegionLayout layout = *ir::region_layout(&node);
  const std::int64_t most = *std::exchange(layout.max_trip_count, std::nullopt);
  layout.trip_count = std::nullopt;
  const auto number = [&](std::int64_t n) { return ir::make_constant(Literal::scalar(n), at); };
  const auto go_on = [&](std::span<const Tensor> own) {
    return ir::Replay::inline_call(node.regions[*layout.condition], own)[0];
  };
  const ExtendedResults last = extend(
      layout, operands, {{{number(0)}, {"trips"}}, {}},
      [&](const ExtendedParameters& now) -> ExtendedResults {
        return {ir::Replay::inline_call(node.regions[layout.body()], now.own),
                {Operand(now.carries[0], at) + Operand(number(1), at)},
                {}};
      },
      [&](const ExtendedParameters& now) {
        const Tensor left = Operand(now.carries[0], at) < Operand(number(most), at);
        return logical_and(Operand(go_on(now.own), at), Operand(left, at));
      });
  std::vector<Tensor> after = last.own;
  after.insert(after.end(), layout.invariants_of(operands).begin(),
               layout.invariants_of(operands).end());
  const Tensor broken = go_on(after);
  std::vector<Tensor> results = last.own;
  for (Tensor& value : results) {
    if (!can_be_nan(value.dtype())) continue;
    const Tensor nan = ir::make_constant(nan_of(value.dtype()), at);
    value = where(Operand(broken, at), Operand(nan, at), Operand(value, at));
  }
  return results;
}

}  // namespace rondo::control_flow
