// Systems with triangular matrices, by substitution. Known elements are subtracted in the order in
// which they were found, so that no step waits for the latest longer than it has to.
#include "ir/attribute_text.h"
#include "ops/kernels/lapack.h"
#include "ops/kernels/share_rows.h"
#include "ops/linalg/few.h"
#include "ops/linalg/linalg.h"
#include "rondo/loops.h"
#include "rondo/ops/arrays.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

InferredTypes infer_triangular_solve(const InferContext& context) {
  const TensorType &a = context.type(0), &b = context.type(1);
  const bool left = context.attrs<TriangularSolveOptions>().left_side;
  check_square(context, 0);
  if (a.dtype != b.dtype) {
    context.fail(fmt::format("the operands are {} and {}; their dtypes must be equal\n  {}",
                             a.str(), b.str(), conversion_remedy(a.dtype, b.dtype)));
  }
  const bool fits = a.rank() == b.rank() &&
                    std::equal(a.shape.begin(), a.shape.end() - 2, b.shape.begin()) &&
                    b.shape[b.rank() - (left ? 2 : 1)] == a.shape[a.rank() - 1];
  if (!fits) {
    context.fail(fmt::format(
        "{} and {} do not fit: the leading axes must be equal, and the {} of b as many as the rows "
        "of a\n  {}",
        a.str(), b.str(), left ? "rows" : "columns",
        left ? "Give b with a matrix's axes, or set left_side = false."
             : "Give b with a matrix's axes, or set left_side = true."));
  }
  return {b};
}

/// A triangular matrix as the substitution reads it: element (i, j) after a transposition.
template <class T>
struct TriangularView {
  const T* data;
  std::int64_t n;
  bool lower, unit, transposed;

  T at(std::int64_t i, std::int64_t j) const {
    return transposed ? data[j * n + i] : data[i * n + j];
  }
  /// 1 / (i, i)
  T inverse(std::int64_t i) const { return T(1) / data[i * n + i]; }
  /// Step k of the substitution solves for this one, and these [from, to) come after it.
  std::int64_t solved(std::int64_t k, bool forward) const { return forward ? k : n - 1 - k; }
};

/// a x = b in place: row by row, each less the rows that are known.
template <class T>
void solve_left(const TriangularView<T>& a, T* x, std::int64_t m, ir::Poller& poller) {
  for (std::int64_t k = 0; k < a.n; k++) {
    const std::int64_t i = a.solved(k, a.lower);
    T* row = x + i * m;
    for (std::int64_t known = 0; known < k; known++) {
      const std::int64_t j = a.solved(known, a.lower);
      subtract_row(row, a.at(i, j), x + j * m, m);
    }
    if (!a.unit) {
      const T inverse = a.inverse(i);
      for (std::int64_t c = 0; c < m; c++) row[c] = times(row[c], inverse);
    }
    poller.did((k + 1) * m / 4 + m);
  }
}

/// x a = b in place, for each row of b. Known elements are subtracted along the rows of a as it is
/// stored: at once from the elements that they occur in, or for an element all at once.
template <class T>
void solve_right(const TriangularView<T>& a, T* x, std::int64_t m, ir::Poller& poller) {
  const bool forward = !a.lower;
  for (std::int64_t r = 0; r < m; r++) {
    T* row = x + r * a.n;
    for (std::int64_t k = 0; k < a.n; k++) {
      const std::int64_t i = a.solved(k, forward);
      if (a.transposed) {
        const T* of_a = a.data + i * a.n;
        T sum = row[i];
        for (std::int64_t known = 0; known < k; known++) {
          const std::int64_t j = a.solved(known, forward);
          sum -= times(row[j], of_a[j]);
        }
        row[i] = a.unit ? sum : times(sum, a.inverse(i));
      } else {
        const std::int64_t later = forward ? i + 1 : 0;
        if (!a.unit) row[i] = times(row[i], a.inverse(i));
        subtract_row(row + later, row[i], a.data + i * a.n + later, a.n - 1 - k);
      }
    }
    poller.did(a.n * a.n / 8 + a.n);
  }
}

void triangular_solve_kernel(const ir::KernelRun& run) {
  const auto& options = run.attrs<TriangularSolveOptions>();
  const MatrixSizes sizes(run.node.type());
  const std::int64_t n = options.left_side ? sizes.rows : sizes.columns;
  const std::int64_t m = options.left_side ? sizes.columns : sizes.rows;
  for_inexact(run.node.type().dtype, [&]<class T>() {
    share_rows(sizes.count, n * n * m / 8 + n * m, run.host,
               [&](std::int64_t first, std::int64_t end, ir::Host& host) {
                 ir::Poller poller(host);
                 for (std::int64_t i = first; i < end; i++) {
                   T* x = run.result<T>() + i * n * m;
                   const T* b = run.operand<T>(1) + i * n * m;
                   if (x != b) std::copy_n(b, n * m, x);
                   const T* matrix = run.operand<T>(0) + i * n * n;
                   if (lapack_triangular_solve(matrix, n, options, x, m, host)) continue;
                   const TriangularView<T> a{matrix, n, options.lower != options.transpose_a,
                                             options.unit_diagonal, options.transpose_a};
                   if (options.left_side)
                     solve_left(a, x, m, poller);
                   else
                     solve_right(a, x, m, poller);
                 }
               });
  });
}

/// The same steps on elements; as for x a = b, if b and x are transposed, on columns of a.
std::vector<Tensor> solve_few(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope place(node.location());
  const auto& options = node.attrs<TriangularSolveOptions>();
  const Elements a(operands[0]);
  Elements x(operands[1]);
  const std::int64_t n = a.rows(), m = options.left_side ? x.columns() : x.rows();
  const bool forward = (options.lower != options.transpose_a) == options.left_side;
  const auto factor = [&](std::int64_t i, std::int64_t j) {
    return options.transpose_a == options.left_side ? a.at(j, i) : a.at(i, j);
  };
  const auto solved = [&](std::int64_t k) { return forward ? k : n - 1 - k; };
  std::vector<Tensor> inverses;
  for (std::int64_t i = 0; i < n && !options.unit_diagonal; i++) inverses.push_back(1 / a.at(i, i));
  for (std::int64_t c = 0; c < m; c++) {
    const auto part = [&](std::int64_t i) -> Tensor& {
      return options.left_side ? x.at(i, c) : x.at(c, i);
    };
    for (std::int64_t k = 0; k < n; k++) {
      const std::int64_t i = solved(k);
      for (std::int64_t known = 0; known < k; known++)
        part(i) = part(i) - factor(i, solved(known)) * part(solved(known));
      if (!options.unit_diagonal) part(i) = part(i) * inverses[static_cast<std::size_t>(i)];
    }
  }
  return {x.joined()};
}

/// a x = b row by row, on all matrices at once: each less the product of a row of a with those that
/// are known.
Tensor left_solution(const Tensor& a, const Tensor& b, bool lower, bool unit) {
  const std::int64_t n = a.dim(a.rank() - 2);
  const Tensor off_diagonal = lower ? tril(a, -1) : triu(a, 1);
  const Tensor inverses = unit ? Tensor() : 1 / diagonals(a);
  std::vector<std::int64_t> row_of_a = a.shape().vector(), row_of_b = b.shape().vector();
  row_of_a[row_of_a.size() - 2] = row_of_b[row_of_b.size() - 2] = 1;
  const auto solve_row = [&](const Tensor& k, const Tensor& x) {
    const Tensor i = lower ? k : n - 1 - k;
    std::vector<Tensor> starts(row_of_a.size(), Tensor(0));
    starts[starts.size() - 2] = i;
    const Tensor known = matmul(dynamic_slice(off_diagonal, starts, row_of_a), x);
    Tensor row = dynamic_slice(b, starts, row_of_b) - known;
    if (!unit) {
      std::vector<Tensor> at(starts.begin(), starts.end() - 2);
      at.push_back(i);
      std::vector<std::int64_t> sizes(row_of_a.begin(), row_of_a.end() - 2);
      sizes.push_back(1);
      row = row * expand_dims(dynamic_slice(inverses, at, sizes), -1);
    }
    return dynamic_update_slice(x, row, starts);
  };
  return fori_loop(0, n, solve_row, zeros(b.type()), {.name = "triangular_solve"});
}

std::vector<Tensor> solve_in_loops(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope place(node.location());
  const auto& options = node.attrs<TriangularSolveOptions>();
  if (node.type().elements() == 0) return {operands[1]};
  // x a = b is a^T x^T = b^T.
  const bool turned = options.transpose_a == options.left_side;
  const Tensor a = turned ? swapped(operands[0]) : operands[0];
  const Tensor b = options.left_side ? operands[1] : swapped(operands[1]);
  const Tensor x = left_solution(a, b, options.lower != turned, options.unit_diagonal);
  return {options.left_side ? x : swapped(x)};
}

/// The triangle of a tangent that the op would read.
Tensor read_triangle(const Tensor& a, const TriangularSolveOptions& options) {
  const std::int64_t off = options.unit_diagonal ? 1 : 0;
  return options.lower ? tril(a, -off) : triu(a, off);
}

/// a x = b: dx = a^-1 (db - da x).
std::vector<Tensor> triangular_solve_jvp(const JvpCall& c) {
  const auto& options = c.node.attrs<TriangularSolveOptions>();
  Tensor rest = c.has(1) ? c.dx(1) : Tensor();
  if (c.has(0)) {
    Tensor da = read_triangle(c.dx(0), options);
    if (options.transpose_a) da = swapped(da);
    rest = ir::add_tangents(rest, -(options.left_side ? matmul(da, c.y()) : matmul(c.y(), da)));
  }
  return {triangular_solution(c.x(0), rest, options, c.at())};
}

std::vector<Tensor> triangular_solve_transpose(const TransposeCall& c) {
  TriangularSolveOptions options = c.node.attrs<TriangularSolveOptions>();
  options.transpose_a = !options.transpose_a;
  return {Tensor(), triangular_solution(c.x(0), c.ct(), options, c.at())};
}

/// One matrix for all lanes solves for the columns (rows, on the right side) of all of them.
BatchValues triangular_solve_batch(const BatchCall& c) {
  if (c.batched(0) || c.type(0).rank() != 2) return ir::batch_alike(c);
  const auto& options = c.node.attrs<TriangularSolveOptions>();
  const Tensor& b = c.x(1);
  const std::int64_t lanes = b.dim(0), rows = b.dim(1), columns = b.dim(2);
  if (!options.left_side) {
    const Tensor x =
        triangular_solution(c.x(0), reshape(b, {lanes * rows, columns}), options, c.at());
    return ir::all_batched({reshape(x, {lanes, rows, columns})});
  }
  const Tensor joined = reshape(transpose(b, {1, 0, 2}), {rows, lanes * columns});
  const Tensor x = triangular_solution(c.x(0), joined, options, c.at());
  return ir::all_batched({transpose(reshape(x, {rows, lanes, columns}), {1, 0, 2})});
}

void describe_triangular_solve(ir::AttributeCodec& codec, TriangularSolveOptions& a) {
  constexpr std::string_view kWords[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  codec.flag({"left_side"}, a.left_side);
  codec.flag({"lower"}, a.lower);
  codec.flag({"unit_diagonal"}, a.unit_diagonal);
  if (ir::FieldList* const own = codec.own()) return own->field("transpose_a", a.transpose_a);
  std::size_t transposed = a.transpose_a ? 1 : 0;
  codec.word({"transpose_a"}, {"transpose", kWords}, transposed);
  if (!codec.reads()) return;
  if (transposed == 2 && is_complex(codec.operand(0).dtype))
    codec.fail(
        "the adjoint of a complex matrix is not supported\n  Pass its conjugate, transposed.");
  a.transpose_a = transposed != 0;
}

}  // namespace

const OpDef kTriangularSolve{
    .name = "triangular_solve",
    .arity = 2,
    .types = {.infer = infer_triangular_solve},
    .kernel = {.prepare = ir::prepare_function<triangular_solve_kernel>},
    .expansion = {.in_lanes = solve_few, .in_loops = solve_in_loops, .is_preferred = is_of_few},
    .derivative = {.linear = Linear::kSecond,
                   .jvp = triangular_solve_jvp,
                   .transpose = triangular_solve_transpose},
    .batching = {.rule = triangular_solve_batch},
    .text = {.hlo = "triangular-solve",
             .stablehlo = "stablehlo.triangular_solve",
             .attributes = &ir::kAttributeText<TriangularSolveOptions, describe_triangular_solve>}};

Tensor triangular_solution(const Tensor& a, const Tensor& b, const TriangularSolveOptions& options,
                           SourceLocation at) {
  return make(kTriangularSolve, {a, b}, options, at);
}

}  // namespace rondo::ops

namespace rondo {

Tensor triangular_solve(const Operand& a, const Operand& b, const TriangularSolveOptions& options) {
  const ops::Helper helper("triangular_solve", a.at());
  const auto [x, y] = ops::matched_leading(helper, "triangular_solve", a, b);
  const Tensor solved =
      ops::triangular_solution(ops::in_wide_dtype(x), ops::in_wide_dtype(y), options, helper.at());
  return ops::in_dtype(solved, y.dtype());
}

}  // namespace rondo
