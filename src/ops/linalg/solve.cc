// Systems of equations by a factorisation.
#include "ops/linalg/linalg.h"
#include "rondo/gradients.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

/// l u = b with rows in the order of the permutation; all leading axes are equal.
Tensor solved_by_lu(const Tensor& lu, const Tensor& permutation, const Tensor& b,
                    SourceLocation at) {
  const Tensor y =
      triangular_solution(lu, permuted_rows(b, permutation), {.unit_diagonal = true}, at);
  return triangular_solution(lu, y, {.lower = false}, at);
}

/// The right side of a system as matrices: a vector becomes one column.
struct SystemRightSide {
  Tensor columns;
  bool is_vector;

  SystemRightSide(const Helper& helper, const Operand& b) : columns(helper.inexact(b)) {
    is_vector = columns.rank() == 1;
    if (is_vector) columns = expand_dims(columns, 1);
  }
  Tensor in_its_form(const Tensor& x) const { return is_vector ? squeeze(x, {x.rank() - 1}) : x; }
};

/// The matrices of a system and its right sides, in a wide dtype and with the same leading axes.
std::array<Tensor, 2> system_of(const Helper& helper, std::string_view name, const Tensor& a,
                                const SystemRightSide& b) {
  auto [x, y] = matched_leading(helper, name, a, b.columns);
  const std::int64_t rows = x.dim(x.rank() - 2);
  if (y.dim(y.rank() - 2) != rows) {
    helper.fail(
        fmt::format("{} and {} do not fit: b has {} rows, a has {}\n  Give b as many rows; with "
                    "one axis it is a "
                    "vector.",
                    x.type().str(), y.type().str(), y.dim(y.rank() - 2), rows));
  }
  return {in_wide_dtype(x), in_wide_dtype(y)};
}

void check_square_system(const Helper& helper, const Tensor& a) {
  if (a.rank() >= 2 && a.dim(a.rank() - 2) == a.dim(a.rank() - 1)) return;
  helper.fail(fmt::format(
      "the operand is {}; its last two axes must be square\n  For other systems there is lstsq.",
      a.type().str()));
}

}  // namespace

Tensor solution(const Tensor& a, const Tensor& b, SourceLocation at) {
  const std::vector<Tensor> factors = ir::make_many(kLu, {a}, {}, at);
  return solved_by_lu(factors[0], factors[2], b, at);
}

Tensor differentiable_solution(const Tensor& a, const Tensor& b, SourceLocation at) {
  const auto value = [at](Tensor x, Tensor y) { return solution(x, y, at); };
  const auto rule = [at](std::tuple<Tensor, Tensor> x, std::tuple<Tensor, Tensor> dx) {
    const auto& [matrix, right] = x;
    const auto& [of_matrix, of_right] = dx;
    const std::vector<Tensor> factors = ir::make_many(kLu, {matrix}, {}, at);
    const Tensor y = solved_by_lu(factors[0], factors[2], right, at);
    const Tensor rest = of_right - matmul(of_matrix, y);
    return std::pair(y, solved_by_lu(factors[0], factors[2], rest, at));
  };
  return custom_jvp(value, rule, at)(a, b);
}

}  // namespace rondo::ops

namespace rondo {

Tensor cho_solve(const Operand& l, const Operand& b) {
  const ops::Helper helper("cho_solve", l.at());
  const Tensor factor = helper.inexact(l);
  ops::check_square_system(helper, factor);
  const ops::SystemRightSide right(helper, b);
  const auto [x, y] = ops::system_of(helper, "cho_solve", factor, right);
  const Tensor half = ops::triangular_solution(x, y, {}, helper.at());
  const Tensor whole = ops::triangular_solution(is_complex(x.dtype()) ? conj(x) : x, half,
                                                {.transpose_a = true}, helper.at());
  return right.in_its_form(ops::in_dtype(whole, factor.dtype()));
}

Tensor lu_solve(const Lu& factors, const Operand& b) {
  const ops::Helper helper("lu_solve", b.at());
  const Tensor lu = helper.inexact(factors.lu);
  ops::check_square_system(helper, lu);
  const ops::SystemRightSide right(helper, b);
  const auto [x, y] = ops::system_of(helper, "lu_solve", lu, right);
  std::vector<std::int64_t> rows(x.shape().begin(), x.shape().end() - 1);
  const Tensor order =
      ops::broadcast(helper.integer(factors.permutation), Shape(rows), helper.at());
  return right.in_its_form(ops::in_dtype(ops::solved_by_lu(x, order, y, helper.at()), lu.dtype()));
}

Tensor solve(const Operand& a, const Operand& b) {
  const ops::Helper helper("solve", a.at());
  const Tensor matrices = helper.inexact(a);
  ops::check_square_system(helper, matrices);
  const ops::SystemRightSide right(helper, b);
  const auto [x, y] = ops::system_of(helper, "solve", matrices, right);
  return right.in_its_form(
      ops::in_dtype(ops::differentiable_solution(x, y, helper.at()), matrices.dtype()));
}

Tensor inv(const Operand& a) {
  const ops::Helper helper("inv", a.at());
  const Tensor matrices = helper.inexact(a);
  ops::check_square_system(helper, matrices);
  const Tensor x = ops::in_wide_dtype(matrices);
  return ops::in_dtype(ops::differentiable_solution(x, ops::identities_like(x), helper.at()),
                       matrices.dtype());
}

}  // namespace rondo
