// Determinants: by the formula up to 3 x 3, which has derivatives everywhere, else by elimination.
#include "ops/linalg/linalg.h"
#include "rondo/gradients.h"
#include "rondo/loops.h"
#include "rondo/ops/arrays.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

/// 1 or -1 for each matrix, as rows were exchanged an even or an odd number of times.
Tensor parity(const Tensor& pivots, DType dtype) {
  const Tensor exchanged = pivots != iota(pivots.type(), pivots.rank() - 1);
  const Tensor odd = sum(convert(exchanged, DType::kS32), {-1}) & 1;
  return convert(1 - 2 * odd, dtype);
}

Tensor by_formula(const Tensor& a, std::int64_t n) {
  const auto element = [&](std::int64_t i, std::int64_t j) {
    std::vector<std::int64_t> start(static_cast<std::size_t>(a.rank()), 0);
    std::vector<std::int64_t> limits = a.shape().vector();
    start[start.size() - 2] = i, limits[limits.size() - 2] = i + 1;
    start[start.size() - 1] = j, limits[limits.size() - 1] = j + 1;
    return squeeze(slice(a, start, limits), {-2, -1});
  };
  const auto minor = [&](std::int64_t j, std::int64_t k) {
    return element(n - 2, j) * element(n - 1, k) - element(n - 2, k) * element(n - 1, j);
  };
  if (n == 1) return element(0, 0);
  if (n == 2) return minor(0, 1);
  return element(0, 0) * minor(1, 2) - element(0, 1) * minor(0, 2) + element(0, 2) * minor(0, 1);
}

/// The trace of a^-1 da.
Tensor relative_change(const Tensor& a, const Tensor& da, SourceLocation at) {
  return sum(diagonals(solution(a, da, at)), {-1});
}

/// The adjugate of the upper triangle of one matrix, without divisions: with p_ij the product of
/// the diagonal's elements from i to j - 1, its inverse is h_ij / p_i,j+1, where h_jj is 1 and else
/// h_ij = -(the sum of h_im u_mj p_m+1,j for m < j). The carry is h_im p_m+1,j.
std::vector<Tensor> adjugate_of_upper(const Tensor& u) {
  const std::int64_t n = u.dim(0);
  const Tensor diagonal = diagonals(u), rows = arange(n);
  const auto step = [&](Tensor j, Tensor h) {
    const Tensor here = convert(rows == j, u.dtype());
    return h * diagonal[j] + outer(here - matmul(h, column(u, j)), here);
  };
  const Tensor h = fori_loop(0, n, step, zeros(u.type()), {.name = "adjugate"});
  const Tensor before = concatenate({ones({u.dtype(), {1}}), slice(diagonal, {0}, {n - 1})}, 0);
  return {expand_dims(cumprod(before, 0), 1) * h};
}

/// The trace of the adjugate of a times da, from the factors of a.
Tensor change_by_adjugate(const Tensor& lu, const Tensor& permutation, const Tensor& da,
                          SourceLocation at) {
  const Tensor left =
      triangular_solution(lu, permuted_rows(da, permutation), {.unit_diagonal = true}, at);
  return sum(diagonals(matmul(each_matrix(adjugate_of_upper, lu)[0], left)), {-1});
}

/// The change of a determinant is the trace of det(a) a^-1 da; where that is 0, of the adjugate.
Tensor determinant(const Tensor& a, SourceLocation at) {
  const std::int64_t n = a.dim(a.rank() - 1);
  if (n >= 1 && n <= 3) return by_formula(a, n);
  const auto value = [at](Tensor x) {
    const std::vector<Tensor> factors = ir::make_many(kLu, {x}, {}, at);
    return prod(diagonals(factors[0]), {-1}) * parity(factors[1], x.dtype());
  };
  const auto rule = [at, value](std::tuple<Tensor> primal, std::tuple<Tensor> tangent) {
    const Tensor &x = std::get<0>(primal), &dx = std::get<0>(tangent);
    const Tensor det = value(x);
    if (x.type().elements() == 0) return std::pair(det, 0 * det);
    const std::vector<Tensor> factors = ir::make_many(kLu, {x}, {}, at);
    // Each of the two gets matrices for which it has derivatives.
    const Tensor one = identities_like(x), singular = det == 0;
    const Tensor chosen = expand_dims(expand_dims(singular, -1), -1);
    const Tensor regular = det * relative_change(where(chosen, one, x), dx, at);
    const Tensor other = parity(factors[1], x.dtype()) *
                         change_by_adjugate(where(chosen, factors[0], one), factors[2], dx, at);
    return std::pair(det, where(singular, other, regular));
  };
  return custom_jvp(value, rule, at)(a);
}

std::pair<Tensor, Tensor> signed_logarithm(const Tensor& a, SourceLocation at) {
  const auto value = [at](Tensor x) {
    const std::vector<Tensor> factors = ir::make_many(kLu, {x}, {}, at);
    const Tensor diagonal = diagonals(factors[0]), size = abs(diagonal);
    // sign(x) of a complex number is x / |x|.
    const Tensor one = prod(sign(diagonal), {-1}) * parity(factors[1], x.dtype());
    return std::pair(one, sum(log(size), {-1}));
  };
  const auto rule = [at, value](std::tuple<Tensor> x, std::tuple<Tensor> dx) {
    const auto [one, logarithm] = value(std::get<0>(x));
    const Tensor change = relative_change(std::get<0>(x), std::get<0>(dx), at);
    if (!is_complex(change.dtype()))
      return std::pair(std::pair(one, logarithm), std::pair(zeros(one.type()), change));
    const Tensor turn = complex(0 * real(change), imag(change));
    return std::pair(std::pair(one, logarithm), std::pair(one * turn, real(change)));
  };
  return custom_jvp(value, rule, at)(a);
}

Tensor square_operand(const Helper& helper, const Operand& a) {
  Tensor x = helper.inexact(a);
  if (x.rank() < 2 || x.dim(x.rank() - 2) != x.dim(x.rank() - 1)) {
    helper.fail(
        fmt::format("the operand is {}; its last two axes must be square\n  Give square matrices.",
                    x.type().str()));
  }
  return x;
}

}  // namespace

}  // namespace rondo::ops

namespace rondo {

Tensor det(const Operand& a) {
  const ops::Helper helper("det", a.at());
  const Tensor x = ops::square_operand(helper, a);
  return ops::in_dtype(ops::determinant(ops::in_wide_dtype(x), helper.at()), x.dtype());
}

Slogdet slogdet(const Operand& a) {
  const ops::Helper helper("slogdet", a.at());
  const Tensor x = ops::square_operand(helper, a);
  const auto [sign, logdet] = ops::signed_logarithm(ops::in_wide_dtype(x), helper.at());
  const DType real = is_complex(x.dtype()) ? logdet.dtype() : x.dtype();
  return {ops::in_dtype(sign, x.dtype()), ops::in_dtype(logdet, real)};
}

}  // namespace rondo
