// NumPy's products of two arrays.
#include <algorithm>
#include <numeric>

#include "ops/functions/helpers.h"
#include "rondo/ops/einsum.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/linear.h"

namespace rondo {

namespace {

/// The sum over paired axes, which are in range.
Tensor product_over(const ops::Helper& helper, const Tensor& a, const Tensor& b,
                    const std::vector<std::int64_t>& of_a, const std::vector<std::int64_t>& of_b) {
  for (std::size_t i = 0; i < of_a.size(); i++) {
    if (a.dim(of_a[i]) == b.dim(of_b[i])) continue;
    helper.fail(fmt::format(
        "axis {} of {} has {} elements, axis {} of {} has {}\n  Pair axes of one "
        "size.",
        of_a[i], a.type().str(), a.dim(of_a[i]), of_b[i], b.type().str(), b.dim(of_b[i])));
  }
  return dot_general(a, b, {.lhs_contracting = of_a, .rhs_contracting = of_b});
}

}  // namespace

Tensor tensordot(const Operand& a, const Operand& b, std::int64_t axes) {
  const ops::Helper helper("tensordot", a.at());
  const auto [x, y] = ops::same_dtype({"tensordot", "tensordot"}, a, b);
  if (axes < 0 || axes > std::min(x.rank(), y.rank())) {
    helper.fail(
        fmt::format("{} axes of {} and {}\n  Sum over 0 to {} axes: the last ones of the "
                    "first and the first ones of the second.",
                    axes, x.type().str(), y.type().str(), std::min(x.rank(), y.rank())));
  }
  std::vector<std::int64_t> last(static_cast<std::size_t>(axes)), first(last.size());
  std::iota(last.begin(), last.end(), x.rank() - axes);
  std::iota(first.begin(), first.end(), 0);
  return product_over(helper, x, y, last, first);
}

Tensor tensordot(const Operand& a, const Operand& b,
                 const std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>& axes) {
  const ops::Helper helper("tensordot", a.at());
  const auto [x, y] = ops::same_dtype({"tensordot", "tensordot"}, a, b);
  if (axes.first.size() != axes.second.size()) {
    helper.fail(
        fmt::format("{} axes of the first and {} of the second; they are paired\n  Give one "
                    "list for each operand, of one length.",
                    axes.first.size(), axes.second.size()));
  }
  std::vector<std::int64_t> of_a, of_b;
  for (const std::int64_t axis : axes.first) of_a.push_back(helper.axis(axis, x));
  for (const std::int64_t axis : axes.second) of_b.push_back(helper.axis(axis, y));
  return product_over(helper, x, y, of_a, of_b);
}

Tensor vdot(const Operand& a, const Operand& b) {
  const ops::Helper helper("vdot", a.at());
  const auto [x, y] = ops::same_dtype({"vdot", "vdot"}, a, b);
  if (x.type().elements() != y.type().elements()) {
    helper.fail(
        fmt::format("{} and {}: {} and {} elements\n  Give arrays with one number of "
                    "elements.",
                    x.type().str(), y.type().str(), x.type().elements(), y.type().elements()));
  }
  return dot(reshape(conj(x), {-1}), reshape(y, {-1}));
}

Tensor inner(const Operand& a, const Operand& b) {
  const ops::Helper helper("inner", a.at());
  const auto [x, y] = ops::same_dtype({"inner", "inner"}, a, b);
  if (x.rank() == 0 || y.rank() == 0) return x * y;
  return product_over(helper, x, y, {x.rank() - 1}, {y.rank() - 1});
}

}  // namespace rondo
