#include "passes/promise.h"

#include <algorithm>
#include <complex>
#include <limits>
#include <utility>

#include "base/for_dtype.h"
#include "control_flow/while.h"
#include "ir/function_data.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::passes {

namespace {

using control_flow::WhileAttributes;

bool can_be_nan(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

Literal nan_of(DType dtype) {
  return for_dtype(dtype, [&]<class T>() {
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

bool has_open_promise(const ir::Node& node) {
  const auto* attributes = node.attributes.try_as<WhileAttributes>();
  if (!attributes || !attributes->max_trip_count || attributes->ends_by_itself) return false;
  return !attributes->trip_count || *attributes->trip_count > *attributes->max_trip_count;
}

bool must_check_promise(const ir::Node& node) {
  if (!has_open_promise(node)) return false;
  return std::any_of(node.types.begin(), node.types.end(),
                     [](const TensorType& t) { return can_be_nan(t.dtype); });
}

std::vector<Tensor> check_promise(const ir::Node& node, std::span<const Tensor> operands) {
  const SourceLocation at = node.location();
  WhileAttributes attributes = node.attrs<WhileAttributes>();
  const std::int64_t most = *std::exchange(attributes.max_trip_count, std::nullopt);
  attributes.trip_count = std::nullopt;
  const std::size_t carries = node.types.size();
  const std::span<const Tensor> invariants = operands.subspan(carries);
  const auto number = [&](std::int64_t n) { return ir::make_constant(Literal::scalar(n), at); };
  const auto call = [&](std::size_t region, std::span<const Tensor> state) {
    std::vector<Tensor> arguments(state.begin(),
                                  state.begin() + static_cast<std::ptrdiff_t>(carries));
    arguments.insert(arguments.end(), invariants.begin(), invariants.end());
    return ir::Replay::inline_call(node.regions[region], arguments);
  };

  // The number of trips is the last carry.
  const detail::RegionCallable cond = [&](std::span<const Tensor> state) {
    const Tensor left = Operand(state.back(), at) < Operand(number(most), at);
    return detail::Leaves{{logical_and(Operand(call(0, state)[0], at), Operand(left, at))},
                          {"cond"}};
  };
  detail::Leaves init{{operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(carries)},
                      {}};
  for (std::size_t i = 0; i < carries; i++) {
    init.paths.push_back(
        node.regions[1].parameters()[i].node()->attrs<ir::ParameterAttributes>().name);
  }
  init.values.push_back(number(0));
  init.paths.push_back("trips");
  const detail::RegionCallable body = [&](std::span<const Tensor> state) {
    detail::Leaves next{call(1, state), init.paths};
    next.values.push_back(Operand(state.back(), at) + Operand(number(1), at));
    return next;
  };
  std::vector<Tensor> last =
      control_flow::traced_while(cond, body, init, std::move(attributes), at);

  const Tensor broken = call(0, last)[0];
  last.pop_back();
  for (Tensor& value : last) {
    if (!can_be_nan(value.dtype())) continue;
    const Tensor nan = ir::make_constant(nan_of(value.dtype()), at);
    value = where(Operand(broken, at), Operand(nan, at), Operand(value, at));
  }
  return last;
}

}  // namespace rondo::passes
