// The pseudoinverse, and least squares by it.
#include "ops/linalg/linalg.h"
#include "rondo/gradients.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

double default_rcond(const Tensor& a) {
  const bool single = a.dtype() == DType::kF32 || a.dtype() == DType::kC64;
  const double epsilon = single ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                : std::numeric_limits<double>::epsilon();
  const MatrixSizes sizes(a.type());
  return epsilon * static_cast<double>(std::max(sizes.rows, sizes.columns));
}

/// The derivative (Golub and Pereyra, 1973) holds where the rank does not change; it does not
/// divide by differences of singular values, as the derivatives of vectors do.
Tensor pseudoinverse(const Tensor& a, double rcond, SourceLocation at) {
  const auto value = [rcond, at](Tensor x) {
    if (x.type().elements() == 0) return swapped(x);
    const std::vector<Tensor> parts = ir::make_many(kSvd, {x}, {}, at);
    const Tensor &u = parts[0], &s = parts[1], &vt = parts[2];
    const Tensor counts = s > rcond * max(s, {-1}, true);
    const Tensor inverse = where(counts, 1 / where(counts, s, 1), 0);
    // NaN stays.
    const Tensor factors = in_dtype(expand_dims(inverse + 0 * s, -2), x.dtype());
    return matmul(adjoint(vt) * factors, adjoint(u));
  };
  const auto rule = [value](std::tuple<Tensor> primal, std::tuple<Tensor> tangent) {
    const Tensor &x = std::get<0>(primal), &dx = std::get<0>(tangent);
    const Tensor p = value(x), ph = adjoint(p), dxh = adjoint(dx);
    // (1 - x p) and (1 - p x) project on what x and its adjoint do not reach.
    const Tensor left = matmul(dxh, ph), right = matmul(ph, dxh);
    const Tensor dp = matmul(p, right - matmul(matmul(right, x), p)) +
                      matmul(left - matmul(p, matmul(x, left)), p) - matmul(p, matmul(dx, p));
    return std::pair(p, dp);
  };
  return custom_jvp(value, rule, at)(a);
}

Tensor checked_matrices(const Helper& helper, const Operand& operand) {
  Tensor a = helper.inexact(operand);
  if (a.rank() < 2) {
    helper.fail(fmt::format(
        "the operand is {}; it must have 2 axes or more\n  The last two are those of a matrix.",
        a.type().str()));
  }
  return a;
}

}  // namespace

}  // namespace rondo::ops

namespace rondo {

Tensor pinv(const Operand& a, std::optional<double> rcond) {
  const ops::Helper helper("pinv", a.at());
  const Tensor given = ops::checked_matrices(helper, a), x = ops::in_wide_dtype(given);
  const double limit = rcond.value_or(10 * ops::default_rcond(x));
  return ops::in_dtype(ops::pseudoinverse(x, limit, helper.at()), given.dtype());
}

Tensor lstsq(const Operand& a, const Operand& b, std::optional<double> rcond) {
  const ops::Helper helper("lstsq", a.at());
  const Tensor given = ops::checked_matrices(helper, a);
  const Tensor right = helper.inexact(b);
  const bool is_vector = right.rank() == 1;
  const auto [x, y] =
      ops::matched_leading(helper, "lstsq", given, is_vector ? expand_dims(right, 1) : right);
  if (x.dim(x.rank() - 2) != y.dim(y.rank() - 2)) {
    helper.fail(fmt::format(
        "{} and {} do not fit: they have {} and {} rows\n  Give b as many rows as a; with one axis "
        "it is a vector.",
        x.type().str(), y.type().str(), x.dim(x.rank() - 2), y.dim(y.rank() - 2)));
  }
  const Tensor wide = ops::in_wide_dtype(given);
  Tensor inverse = ops::pseudoinverse(wide, rcond.value_or(ops::default_rcond(wide)), helper.at());
  const Tensor found = matmul(inverse, ops::in_wide_dtype(y));
  return ops::in_dtype(is_vector ? squeeze(found, {-1}) : found, given.dtype());
}

}  // namespace rondo
