// The Cholesky factor. The kernel goes along the rows: an element is that of x less the product of
// two rows so far, so that all inner loops are sums over contiguous elements. Small matrices take
// the same steps as code on elements.
#include "ir/attribute_text.h"
#include "ops/kernels/lapack.h"
#include "ops/kernels/share_rows.h"
#include "ops/linalg/blocks.h"
#include "ops/linalg/few.h"
#include "ops/linalg/linalg.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

InferredTypes infer_cholesky(const InferContext& context) {
  check_square(context, 0, "Give a symmetric matrix.");
  return {context.type(0)};
}

/// False if x is not positive definite.
template <class T>
bool factor_rows(const T* x, T* l, std::int64_t n, ir::Poller& poller) {
  for (std::int64_t i = 0; i < n; i++) {
    T* row = l + i * n;
    for (std::int64_t j = 0; j < i; j++) {
      const T* other = l + j * n;
      row[j] = less_products(x[i * n + j], row, other, j) * (1 / std::real(other[j]));
    }
    const Real<T> rest = std::real(less_products(x[i * n + i], row, row, i));
    if (!(rest > 0)) return false;
    row[i] = std::sqrt(rest);
    std::fill(row + i + 1, row + n, T{});
    poller.did(i * i / 4 + n);
  }
  return true;
}

void cholesky_kernel(const ir::KernelRun& run) {
  const MatrixSizes sizes(run.node.type());
  const std::int64_t n = sizes.rows;
  for_inexact(run.node.type().dtype, [&]<class T>() {
    share_rows(sizes.count, n * n * n / 16 + n * n, run.host,
               [&](std::int64_t first, std::int64_t end, ir::Host& host) {
                 ir::Poller poller(host);
                 for (std::int64_t i = first; i < end; i++) {
                   T* l = run.result<T>() + i * n * n;
                   const T* x = run.operand<T>(0) + i * n * n;
                   if (lapack_cholesky(x, n, l, host) || factor_rows(x, l, n, poller)) continue;
                   std::fill_n(l, n * n, T(std::numeric_limits<Real<T>>::quiet_NaN()));
                   poller.did(n * n);
                 }
               });
  });
}

/// The same steps on elements.
std::vector<Tensor> factor_few(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope place(node.location());
  const Elements x(operands[0]);
  Elements l(node.type());
  const std::int64_t n = l.rows();
  std::vector<Tensor> inverses;
  Tensor is_definite;
  for (std::int64_t i = 0; i < n; i++) {
    const auto rest = [&](std::int64_t j) {
      Tensor left = x.at(i, j);
      for (std::int64_t k = 0; k < j; k++) left = left - l.at(i, k) * l.at(j, k);
      return left;
    };
    for (std::int64_t j = 0; j < i; j++)
      l.at(i, j) = rest(j) * inverses[static_cast<std::size_t>(j)];
    const Tensor square = rest(i), holds = square > 0;
    is_definite = i == 0 ? holds : is_definite & holds;
    l.at(i, i) = sqrt(square);
    inverses.push_back(1 / l.at(i, i));
  }
  const Tensor zero = zeros(l.element_type());
  for (std::int64_t i = 0; i < n; i++) {
    for (std::int64_t j = 0; j < n; j++) {
      l.at(i, j) =
          where(is_definite, j <= i ? l.at(i, j) : zero, std::numeric_limits<double>::quiet_NaN());
    }
  }
  return {l.joined()};
}

/// Column by column, on all matrices at once: each is that of x less the product of the columns so
/// far with a row of them.
std::vector<Tensor> factor_in_loops(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope place(node.location());
  const Tensor& x = operands[0];
  if (x.type().elements() == 0) return {x};
  const std::int64_t n = x.dim(x.rank() - 1);
  std::vector<std::int64_t> column = x.shape().vector(), row = column, one = column;
  column[column.size() - 1] = row[row.size() - 2] = 1;
  one[one.size() - 1] = one[one.size() - 2] = 1;
  const TensorType flags{DType::kPred, Shape(one)};
  const Tensor rows = iota({DType::kS32, Shape(column)}, x.rank() - 2);
  const auto step = [&](const Tensor& j, const Tensor& l, const Tensor& is_definite) {
    std::vector<Tensor> of_column(column.size(), Tensor(0)), of_row = of_column;
    of_column[column.size() - 1] = of_row[row.size() - 2] = j;
    const Tensor known = matmul(l, adjoint(dynamic_slice(l, of_row, row)));
    const Tensor rest = dynamic_slice(x, of_column, column) - known;
    const Tensor pivot = dynamic_slice(rest, of_row, one);
    const Tensor square = is_complex(x.dtype()) ? real(pivot) : pivot;
    const Tensor root = sqrt(square);
    const Tensor scaled =
        where(rows == j, in_dtype(root, x.dtype()), rest * in_dtype(1 / root, x.dtype()));
    return std::tuple(dynamic_update_slice(l, where(rows >= j, scaled, 0), of_column),
                      is_definite & (square > 0));
  };
  const auto [l, is_definite] =
      fori_loop(0, n, step, std::tuple(zeros(x.type()), full(flags, true)), {.name = "cholesky"});
  return {where(is_definite, l, std::numeric_limits<double>::quiet_NaN())};
}

/// Below the diagonal, with half of the diagonal.
Tensor half_lower(const Tensor& x) {
  return where(positions(x, Triangle::kBelow), x, where(positions(x, Triangle::kOn), 0.5 * x, 0));
}

/// The solution y of y l^H = x.
Tensor right_solution(const Tensor& l, const Tensor& x, SourceLocation at) {
  return triangular_solution(is_complex(l.dtype()) ? conj(l) : l, x,
                             {.left_side = false, .transpose_a = true}, at);
}

/// The tangent of the factor l where the Hermitian part of dx is the change. By blocks, as l l^H
/// says: the upper left one alone, then what is below it, then the rest. For few rows it is
/// l half_lower(l^-1 dx l^-H) (Murray, Differentiation of the Cholesky decomposition, 2016).
Tensor factor_tangent(const Tensor& l, const Tensor& dx, SourceLocation at) {
  const std::int64_t n = l.dim(l.rank() - 1);
  if (n <= kWholeRows) {
    const Tensor left = triangular_solution(l, hermitian_part(dx), {}, at);
    return matmul(l, half_lower(right_solution(l, left, at)));
  }
  const Blocks of_l = Blocks::of(l, n / 2), of_dx = Blocks::of(dx, n / 2);
  const Tensor upper = factor_tangent(of_l.upper_left, of_dx.upper_left, at);
  const Tensor change = 0.5 * (of_dx.lower_left + adjoint(of_dx.upper_right));
  const Tensor below =
      right_solution(of_l.upper_left, change - matmul(of_l.lower_left, adjoint(upper)), at);
  // The Hermitian part of this is what the blocks below change.
  const Tensor rest = of_dx.lower_right - 2 * matmul(below, adjoint(of_l.lower_left));
  return Blocks{upper, zeros(of_dx.upper_right.type()), below,
                factor_tangent(of_l.lower_right, rest, at)}
      .joined();
}

std::vector<Tensor> cholesky_jvp(const JvpCall& c) {
  return {factor_tangent(c.y(), c.dx(0), c.at())};
}

void describe_cholesky(ir::AttributeCodec& codec, ir::NoAttributes&) {
  if (codec.own()) return;
  bool lower = true;
  codec.flag({"lower"}, lower);
  if (!lower) codec.fail("the upper triangle is not supported\n  Use the lower one, transposed.");
}

}  // namespace

const OpDef kCholesky{
    .name = "cholesky",
    .arity = 1,
    .types = {.infer = infer_cholesky},
    .kernel = {.prepare = ir::prepare_function<cholesky_kernel>},
    .expansion = {.in_lanes = factor_few, .in_loops = factor_in_loops, .is_preferred = is_of_few},
    .derivative = {.jvp = cholesky_jvp},
    .batching = {.rule = ir::batch_alike},
    .text = {.hlo = "cholesky",
             .stablehlo = "stablehlo.cholesky",
             .attributes = &ir::kAttributeText<ir::NoAttributes, describe_cholesky>}};

}  // namespace rondo::ops

namespace rondo {

Tensor cholesky(const Operand& operand) {
  const ops::Helper helper("cholesky", operand.at());
  const Tensor x = helper.inexact(operand);
  const Tensor factor = ir::make(ops::kCholesky, {ops::in_wide_dtype(x)}, {}, helper.at());
  return ops::in_dtype(factor, x.dtype());
}

}  // namespace rondo
