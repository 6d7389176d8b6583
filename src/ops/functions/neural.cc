#include "rondo/ops/neural.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "ops/functions/helpers.h"
#include "rondo/gradients.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace {

/// x minus its maximum along the axis, which is constant for derivatives.
Tensor shifted(const Tensor& x, std::int64_t axis) {
  return x - stop_gradient(max(x, {axis}, true));
}

}  // namespace

Tensor softmax(const Operand& operand, std::int64_t axis) {
  const ops::Helper helper("softmax", operand.at());
  Tensor x = helper.floating(operand);
  axis = helper.axis(axis, x);
  if (x.dim(axis) == 0) return x;
  const Tensor e = exp(shifted(x, axis));
  return e / sum(e, {axis}, true);
}

Tensor log_softmax(const Operand& operand, std::int64_t axis) {
  const ops::Helper helper("log_softmax", operand.at());
  Tensor x = helper.floating(operand);
  axis = helper.axis(axis, x);
  if (x.dim(axis) == 0) return x;
  const Tensor y = shifted(x, axis);
  return y - log(sum(exp(y), {axis}, true));
}

Tensor logsumexp(const Operand& operand, const Axes& axes, bool keepdims) {
  const ops::Helper helper("logsumexp", operand.at());
  const Tensor x = helper.floating(operand);
  if (helper.count(x, axes) == 0) return log(sum(x, axes, keepdims));
  const Tensor greatest = stop_gradient(max(x, axes, true));
  const Tensor shift = where(is_finite(greatest), greatest, 0);
  const Tensor total = log(sum(exp(x - shift), axes, true)) + shift;
  return keepdims ? total : squeeze(total, helper.axes(axes, x));
}

Tensor relu(const Operand& operand) {
  const ops::Helper helper("relu", operand.at());
  const Tensor x = helper.floating(operand);
  return where(x <= 0, 0, x);  // NaN stays
}

Tensor gelu(const Operand& operand, bool approximate) {
  const ops::Helper helper("gelu", operand.at());
  const Tensor x = helper.floating(operand);
  if (!approximate) return 0.5 * x * erfc(x * -std::numbers::sqrt2 / 2);
  const double scale = std::sqrt(2 / std::numbers::pi);
  return 0.5 * x * (1 + tanh(scale * (x + 0.044715 * (x * x * x))));
}

Tensor silu(const Operand& operand) {
  const ops::Helper helper("silu", operand.at());
  const Tensor x = helper.floating(operand);
  return x * logistic(x);
}

Tensor one_hot(const Operand& operand, std::int64_t n, DType dtype) {
  const ops::Helper helper("one_hot", operand.at());
  const Tensor indices = helper.integer(operand);
  if (n < 0) {
    helper.fail(
        fmt::format("{} places; the number must not be negative\n  Give the number of "
                    "classes.",
                    n));
  }
  std::vector<std::int64_t> shape = indices.shape().vector();
  shape.push_back(n);
  // In s64, which holds all indices.
  const Tensor wide =
      indices.dtype() == DType::kU64
          ? convert(minimum(indices, std::numeric_limits<std::int64_t>::max()), DType::kS64)
          : convert(indices, DType::kS64);
  const Tensor places = iota({DType::kS64, shape}, indices.rank());
  return convert(expand_dims(wide, -1) == places, dtype);
}

}  // namespace rondo
