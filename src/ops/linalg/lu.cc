// Gaussian elimination with row exchanges. Below a pivot of 0 there are only zeros and NaNs, which
// stay as they are.
#include <numeric>

#include "ops/kernels/lapack.h"
#include "ops/kernels/share_rows.h"
#include "ops/linalg/blocks.h"
#include "ops/linalg/few.h"
#include "ops/linalg/linalg.h"
#include "rondo/loops.h"
#include "rondo/ops/arrays.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

InferredTypes infer_lu(const InferContext& context) {
  check_matrices(context, 0);
  const TensorType& a = context.type(0);
  const std::int64_t m = a.shape[a.rank() - 2], n = a.shape[a.rank() - 1];
  const std::int64_t k = std::min(m, n);
  if (m > std::numeric_limits<std::int32_t>::max()) {
    context.fail(
        fmt::format("{} has more rows than s32 numbers\n  Factor smaller matrices.", a.str()));
  }
  const TensorType numbers{DType::kS32, a.shape};
  return {a, with_last_axes(numbers, 2, std::array{k}), with_last_axes(numbers, 2, std::array{m})};
}

/// |re| + |im|, by which LAPACK chooses a pivot.
template <class T>
Real<T> pivot_size(T x) {
  return std::abs(std::real(x)) + std::abs(std::imag(x));
}

template <class T>
void eliminate(T* a, std::int64_t distance, std::int64_t m, std::int64_t n, std::int32_t* pivots,
               ir::Poller& poller) {
  for (std::int64_t k = 0; k < std::min(m, n); k++) {
    T* const row = a + k * distance;
    const T* best = row;
    for (std::int64_t i = k + 1; i < m; i++) {
      const T* const other = a + i * distance;
      if (pivot_size(other[k]) > pivot_size(best[k])) best = other;
    }
    pivots[k] = static_cast<std::int32_t>((best - a) / distance);
    if (best != row) std::swap_ranges(row, row + n, a + pivots[k] * distance);
    for (std::int64_t i = k + 1; i < m; i++) {
      T* const below = a + i * distance;
      if (row[k] != T{}) below[k] /= row[k];
      subtract_row(below + k + 1, below[k], row + k + 1, n - k - 1);
      poller.did((n - k) / 4 + 1);
    }
  }
}

void lu_kernel(const ir::KernelRun& run) {
  const MatrixSizes sizes(run.node.type());
  const std::int64_t m = sizes.rows, n = sizes.columns, k = std::min(m, n);
  for_inexact(run.node.type().dtype, [&]<class T>() {
    share_rows(sizes.count, m * n * k / 12 + m * n, run.host,
               [&](std::int64_t first, std::int64_t end, ir::Host& host) {
                 ir::Poller poller(host);
                 for (std::int64_t i = first; i < end; i++) {
                   T* a = run.result<T>() + i * m * n;
                   const T* from = run.operand<T>(0) + i * m * n;
                   std::int32_t* pivots = run.result<std::int32_t>(1) + i * k;
                   std::int32_t* permutation = run.result<std::int32_t>(2) + i * m;
                   if (a != from) std::copy_n(from, m * n, a);
                   poller.did(m * n);
                   if (!lapack_lu(a, m, n, pivots, eliminate<T>, host))
                     eliminate(a, n, m, n, pivots, poller);
                   std::iota(permutation, permutation + m, 0);
                   for (std::int64_t row = 0; row < k; row++)
                     std::swap(permutation[row], permutation[pivots[row]]);
                 }
               });
  });
}

/// The same steps on elements, with selects for exchanges.
std::vector<Tensor> eliminate_few(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope place(node.location());
  Elements a(operands[0]);
  const std::int64_t m = a.rows(), n = a.columns();
  const auto number = [&](std::int64_t i) {
    return full({DType::kS32, a.element_type().shape}, static_cast<std::int32_t>(i));
  };
  std::vector<Tensor> pivots, permutation;
  for (std::int64_t i = 0; i < m; i++) permutation.push_back(number(i));
  for (std::int64_t k = 0; k < std::min(m, n); k++) {
    // The best row so far, with the size of its pivot and its number in the permutation.
    Tensor best = number(k), size = abs(a.at(k, k));
    Tensor moved = permutation[static_cast<std::size_t>(k)];
    std::vector<Tensor> row;
    for (std::int64_t j = 0; j < n; j++) row.push_back(a.at(k, j));
    for (std::int64_t i = k + 1; i < m; i++) {
      const Tensor other = abs(a.at(i, k)), larger = other > size;
      size = where(larger, other, size);
      best = where(larger, number(i), best);
      moved = where(larger, permutation[static_cast<std::size_t>(i)], moved);
      for (std::int64_t j = 0; j < n; j++) {
        Tensor& element = row[static_cast<std::size_t>(j)];
        element = where(larger, a.at(i, j), element);
      }
    }
    for (std::int64_t i = k + 1; i < m; i++) {
      const Tensor exchanged = best == number(i);
      Tensor& other = permutation[static_cast<std::size_t>(i)];
      other = where(exchanged, permutation[static_cast<std::size_t>(k)], other);
      for (std::int64_t j = 0; j < n; j++) a.at(i, j) = where(exchanged, a.at(k, j), a.at(i, j));
    }
    pivots.push_back(best);
    permutation[static_cast<std::size_t>(k)] = moved;
    for (std::int64_t j = 0; j < n; j++) a.at(k, j) = row[static_cast<std::size_t>(j)];
    const Tensor pivot = a.at(k, k), is_zero = pivot == 0;
    for (std::int64_t i = k + 1; i < m; i++) {
      a.at(i, k) = where(is_zero, a.at(i, k), a.at(i, k) / pivot);
      for (std::int64_t j = k + 1; j < n; j++) a.at(i, j) = a.at(i, j) - a.at(i, k) * a.at(k, j);
    }
  }
  return {a.joined(), side_by_side(pivots), side_by_side(permutation)};
}

/// One matrix in a loop over columns.
std::vector<Tensor> lu_loop(const Tensor& x) {
  const std::int64_t m = x.dim(0), n = x.dim(1);
  const Tensor rows = arange(m), columns = arange(n);
  const auto step = [&](Tensor j, Tensor a, Tensor pivots, Tensor permutation) {
    const Tensor old = column(a, j);
    const Tensor size = is_complex(x.dtype()) ? abs(real(old)) + abs(imag(old)) : abs(old);
    const Tensor best = argmax(where(rows >= j, size, -1), 0);
    const Tensor row = a[best];
    a = update(update(a, best, a[j]), j, row);
    const Tensor moved = permutation[best];
    permutation = update(update(permutation, best, permutation[j]), j, moved);
    const Tensor pivot = row[j], candidates = column(a, j);
    const Tensor factors =
        where((rows > j) & (pivot != 0), candidates / where(pivot == 0, 1, pivot), 0);
    const Tensor rest = a - outer(factors, where(columns > j, row, 0));
    const Tensor below = outer(convert(rows > j, DType::kS32), convert(columns == j, DType::kS32));
    a = where(below == 1, broadcast_in_dim(factors, {m, n}, {0}), rest);
    return std::tuple(a, update(pivots, j, best), permutation);
  };
  const auto [a, pivots, permutation] =
      fori_loop(0, std::min(m, n), step,
                std::tuple(x, zeros({DType::kS32, {std::min(m, n)}}), rows), {.name = "lu"});
  return {a, pivots, permutation};
}

std::vector<Tensor> expand_lu(const Node& node, std::span<const Tensor> operands) {
  if (operands[0].type().elements() == 0) {
    const Tensor counted = iota(node.types[2], node.types[2].rank() - 1);
    return {operands[0], zeros(node.types[1]), counted};
  }
  return each_matrix(lu_loop, operands[0]);
}

/// The tangents of l and u, packed like lu, of matrices that change by dx, with their rows in the
/// order of the factors. By blocks, as l u says: the upper left one alone, then what is beside and
/// below it, then the rest. For few rows x = l^-1 dx u^-1 is dl below the diagonal, seen from l,
/// and du on and above it, seen from u.
Tensor packed_tangent(const Tensor& lu, const Tensor& dx, SourceLocation at) {
  const std::int64_t m = lu.dim(lu.rank() - 2), n = lu.dim(lu.rank() - 1), k = std::min(m, n);
  if (k == 0) return dx;
  const auto solved_by_l = [at](const Tensor& factors, const Tensor& x) {
    return triangular_solution(factors, x, {.unit_diagonal = true}, at);
  };
  const auto solved_by_u = [at](const Tensor& factors, const Tensor& x) {
    return triangular_solution(factors, x, {.left_side = false, .lower = false}, at);
  };
  if (m == n && n <= kWholeRows) {
    const Tensor x = solved_by_u(lu, solved_by_l(lu, dx)), below = tril(lu, -1);
    const Tensor of_l = tril(x, -1);
    return of_l + matmul(below, of_l) + matmul(triu(x), triu(lu));
  }
  const std::int64_t size = m == n ? n / 2 : k;
  const Blocks f = Blocks::of(lu, size), of_dx = Blocks::of(dx, size);
  Blocks changes{packed_tangent(f.upper_left, of_dx.upper_left, at), {}, {}, {}};
  if (size < n) {
    const Tensor by_l = matmul(tril(changes.upper_left, -1), f.upper_right);
    changes.upper_right = solved_by_l(f.upper_left, of_dx.upper_right - by_l);
  }
  if (size < m) {
    const Tensor by_u = matmul(f.lower_left, triu(changes.upper_left));
    changes.lower_left = solved_by_u(f.upper_left, of_dx.lower_left - by_u);
  }
  if (size < k) {
    const Tensor known =
        matmul(changes.lower_left, f.upper_right) + matmul(f.lower_left, changes.upper_right);
    changes.lower_right = packed_tangent(f.lower_right, of_dx.lower_right - known, at);
  }
  return changes.joined();
}

std::vector<Tensor> lu_jvp(const JvpCall& c) {
  return {packed_tangent(c.y(0), permuted_rows(c.dx(0), c.y(2)), c.at()), Tensor(), Tensor()};
}

}  // namespace

const OpDef kLu{
    .name = "lu",
    .arity = 1,
    .types = {.infer = infer_lu},
    .kernel = {.prepare = ir::prepare_function<lu_kernel, 1>},
    .expansion = {.rule = expand_lu, .in_lanes = eliminate_few, .is_preferred = is_of_few},
    .derivative = {.jvp = lu_jvp},
    .batching = {.rule = ir::batch_alike}};

}  // namespace rondo::ops

namespace rondo {

Lu lu(const Operand& operand) {
  const ops::Helper helper("lu", operand.at());
  const Tensor a = helper.inexact(operand);
  std::vector<Tensor> results = ir::make_many(ops::kLu, {ops::in_wide_dtype(a)}, {}, helper.at());
  return {ops::in_dtype(results[0], a.dtype()), results[1], results[2]};
}

}  // namespace rondo
