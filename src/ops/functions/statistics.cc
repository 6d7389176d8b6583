#include "rondo/ops/statistics.h"

#include <cmath>

#include "ops/functions/helpers.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/order.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace {

Tensor variance(const ops::Helper& helper, const Tensor& x, const std::vector<std::int64_t>& axes,
                bool keepdims, std::int64_t ddof) {
  const std::int64_t n = helper.count(x, axes);
  const Tensor deviation = x - mean(x, axes, true);
  const Tensor squares = sum(ops::squared_magnitude(deviation), axes, keepdims);
  return squares / static_cast<double>(std::max<std::int64_t>(n - ddof, 0));
}

/// Which elements of an array are numbers.
class NumbersOf {
 public:
  explicit NumbersOf(const Tensor& x)
      : is_inexact_(is_floating(x.dtype()) || is_complex(x.dtype())),
        missing_(is_inexact_ ? is_nan(x) : Tensor()),
        dtype_(x.dtype()) {}

  /// y, of the shape of x, with `filler` where there is no number.
  Tensor fill(const Tensor& y, const Operand& filler) const {
    return is_inexact_ ? where(missing_, filler, y) : y;
  }
  /// How many numbers there are, in the dtype of x; f16 and bf16 are counted in f32.
  Tensor count(const Axes& axes, bool keepdims) const {
    return convert(sum(!missing_, axes, keepdims), ops::wide_dtype(dtype_));
  }
  /// y where there is a number, else NaN.
  Tensor if_any(const Tensor& y, const Axes& axes, bool keepdims) const {
    if (!is_inexact_) return y;
    return where(all(missing_, axes, keepdims), Operand(std::nan("")).as(y.dtype()), y);
  }

 private:
  bool is_inexact_;
  Tensor missing_;
  DType dtype_;
};

/// The mean of the numbers, in f32 for f16 and bf16.
Tensor wide_nanmean(const Tensor& x, const Axes& axes, bool keepdims) {
  const NumbersOf numbers(x);
  return sum(convert(numbers.fill(x, 0), ops::wide_dtype(x.dtype())), axes, keepdims) /
         numbers.count(axes, keepdims);
}

Tensor nan_extreme(const char* name, const Operand& operand, const Axes& axes, bool keepdims,
                   bool is_max) {
  const ops::Helper helper(name, operand.at());
  const Tensor x = helper.any(operand);
  if (is_complex(x.dtype())) (void)helper.floating(x);  // says what to do
  const NumbersOf numbers(x);
  const Tensor filled = numbers.fill(x, is_max ? -HUGE_VAL : HUGE_VAL);
  return numbers.if_any(is_max ? max(filled, axes, keepdims) : min(filled, axes, keepdims), axes,
                        keepdims);
}

}  // namespace

Tensor nansum(const Operand& operand, const Axes& axes, bool keepdims) {
  const ops::Helper helper("nansum", operand.at());
  const Tensor x = helper.any(operand);
  return sum(NumbersOf(x).fill(x, 0), axes, keepdims);
}

Tensor nanmean(const Operand& operand, const Axes& axes, bool keepdims) {
  const ops::Helper helper("nanmean", operand.at());
  const Tensor x = helper.inexact(operand);
  return convert(wide_nanmean(x, axes, keepdims), x.dtype());
}

Tensor nanmax(const Operand& x, const Axes& axes, bool keepdims) {
  return nan_extreme("nanmax", x, axes, keepdims, true);
}

Tensor nanmin(const Operand& x, const Axes& axes, bool keepdims) {
  return nan_extreme("nanmin", x, axes, keepdims, false);
}

Tensor nanvar(const Operand& operand, const Axes& axes, bool keepdims, std::int64_t ddof) {
  const ops::Helper helper("nanvar", operand.at());
  const Tensor x = helper.inexact(operand);
  const Tensor wide = convert(x, ops::wide_dtype(x.dtype()));
  const NumbersOf numbers(x);
  const Tensor deviations = numbers.fill(wide - wide_nanmean(x, axes, true), 0);
  const Tensor squares = sum(ops::squared_magnitude(deviations), axes, keepdims);
  const Tensor freedom = real(numbers.count(axes, keepdims)) - static_cast<double>(ddof);
  const Tensor variance = squares / where(freedom > 0, freedom, std::nan(""));
  return is_complex(x.dtype()) ? variance : convert(variance, x.dtype());
}

Tensor norm(const Operand& operand, const Axes& axes, bool keepdims) {
  const ops::Helper helper("norm", operand.at());
  const Tensor x = helper.inexact(operand);
  return ops::flat_at_zero_sqrt(sum(ops::squared_magnitude(x), axes, keepdims));
}

Tensor var(const Operand& operand, const Axes& axes, bool keepdims, std::int64_t ddof) {
  const ops::Helper helper("var", operand.at());
  return variance(helper, helper.inexact(operand), axes, keepdims, ddof);
}

Tensor stddev(const Operand& operand, const Axes& axes, bool keepdims, std::int64_t ddof) {
  const ops::Helper helper("stddev", operand.at());
  return ops::flat_at_zero_sqrt(variance(helper, helper.inexact(operand), axes, keepdims, ddof));
}

Tensor quantile(const Operand& operand, const Operand& fraction, std::int64_t axis) {
  const ops::Helper helper("quantile", operand.at());
  const Tensor x = helper.floating(operand);
  axis = helper.axis(axis, x);
  const Tensor q = fraction.as(x.dtype());
  if (q.dtype() != x.dtype() || q.rank() > 1) {
    helper.fail(
        fmt::format("q is {}; it must be a scalar or a vector of {}\n  Convert it: "
                    "rondo::convert(q, DType::k{}).",
                    q.type().str(), dtype_name(x.dtype()), ops::dtype_constant(x.dtype())));
  }
  const std::int64_t n = x.dim(axis);
  if (n == 0) {
    helper.fail(
        fmt::format("axis {} of {} has no elements\n  Give one or more.", axis, x.type().str()));
  }
  const Tensor sorted = sort(x, axis);
  const Tensor place = clamp(0, q, 1) * static_cast<double>(n - 1);
  const Tensor below = floor(place);
  const Tensor weight = place - below;
  const Tensor low = convert(below, DType::kS64);
  // Axes of q come first.
  auto at_places = [&](const Tensor& places) {
    Tensor taken = take(sorted, places, axis);
    if (q.rank() == 0 || axis == 0) return taken;
    std::vector<std::int64_t> order{axis};
    for (std::int64_t i = 0; i < taken.rank(); i++)
      if (i != axis) order.push_back(i);
    return transpose(taken, order);
  };
  const Tensor a = at_places(low), b = at_places(minimum(low + 1, n - 1));
  const Tensor shaped = q.rank() == 0 ? weight : broadcast_in_dim(weight, a.shape().vector(), {0});
  const Tensor inside = where(shaped == 0, a, a * (1 - shaped) + b * shaped);
  // NaN is last in the order.
  const Tensor broken = broadcast_to(any(is_nan(x), {axis}), inside.shape());
  return where(broken, Operand(std::nan("")).as(x.dtype()), inside);
}

Tensor median(const Operand& operand, std::int64_t axis) {
  const ops::Helper helper("median", operand.at());
  return quantile(helper.floating(operand), 0.5, axis);
}

Tensor cov(const Operand& operand) {
  const ops::Helper helper("cov", operand.at());
  const Tensor x = helper.floating(operand);
  if (x.rank() != 1 && x.rank() != 2) {
    helper.fail(
        fmt::format("the operand is {}; it must be a vector, or a matrix with a variable in "
                    "each row\n  Reshape it.",
                    x.type().str()));
  }
  const Tensor deviation = x - mean(x, {-1}, true);
  const double denominator = static_cast<double>(std::max<std::int64_t>(x.dim(-1) - 1, 0));
  if (x.rank() == 1) return dot(deviation, deviation) / denominator;
  return matmul(deviation, transpose(deviation)) / denominator;
}

}  // namespace rondo
