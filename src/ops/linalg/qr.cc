// The factorisation into an orthogonal and a triangular matrix, by Householder reflections
// 1 - tau v v^H with LAPACK's signs (xLARFG).
#include <vector>

#include "ops/kernels/lapack.h"
#include "ops/kernels/share_rows.h"
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

InferredTypes infer_qr(const InferContext& context) {
  check_matrices(context, 0);
  const TensorType& a = context.type(0);
  const std::int64_t m = a.shape[a.rank() - 2], n = a.shape[a.rank() - 1];
  const std::int64_t k = std::min(m, n);
  return {with_last_axes(a, 2, std::array{m, k}), with_last_axes(a, 2, std::array{k, n})};
}

/// Makes the vector x of n elements a v with v[0] = 1, for which the reflection maps x to
/// (beta, 0, …). Returns tau, and beta in x_first.
template <class T>
T reflection(T* x, std::int64_t n, T& beta) {
  const T alpha = x[0];
  // In double, so that squares of floats neither overflow nor vanish.
  double rest = 0;
  for (std::int64_t i = 1; i < n; i++) {
    const double re = std::real(x[i]), im = std::imag(x[i]);
    rest += re * re + im * im;
  }
  x[0] = 1;
  beta = alpha;
  if (rest == 0 && std::imag(alpha) == 0) return 0;
  const double re = std::real(alpha), im = std::imag(alpha);
  const double norm = std::sqrt(re * re + im * im + rest);
  const Real<T> signed_norm = static_cast<Real<T>>(re < 0 ? norm : -norm);
  beta = signed_norm;
  const T scale = T(1) / (alpha - beta);
  for (std::int64_t i = 1; i < n; i++) x[i] = times(x[i], scale);
  return (beta - alpha) / signed_norm;
}

/// x -= factor v (v^H x).
template <class T>
void reflect(T* x, const T* v, T factor, std::int64_t n) {
  subtract_row(x, times(factor, dot_rows(x, v, n)), v, n);
}

template <class T>
void factor_qr(const T* a, std::int64_t m, std::int64_t n, T* q, T* r, ir::Poller& poller) {
  const std::int64_t k = std::min(m, n);
  std::vector<T> columns(static_cast<std::size_t>(m * n)), taus(static_cast<std::size_t>(k));
  std::vector<T> basis(static_cast<std::size_t>(m * k));
  const auto column_of = [m](std::vector<T>& matrix, std::int64_t j) {
    return matrix.data() + j * m;
  };
  for (std::int64_t i = 0; i < m; i++) {
    for (std::int64_t j = 0; j < n; j++) column_of(columns, j)[i] = a[i * n + j];
    poller.did(n);
  }
  for (std::int64_t j = 0; j < k; j++) {
    T* v = column_of(columns, j) + j;
    T beta;
    const T tau = reflection(v, m - j, beta);
    taus[static_cast<std::size_t>(j)] = tau;
    for (std::int64_t c = j + 1; c < n; c++) {
      reflect(column_of(columns, c) + j, v, conjugate(tau), m - j);
      poller.did((m - j) / 4 + 1);
    }
    std::fill_n(r + j * n, j, T{});
    r[j * n + j] = beta;
  }
  // Above the diagonal, columns hold r.
  for (std::int64_t j = 0; j < k; j++) {
    for (std::int64_t c = j + 1; c < n; c++) r[j * n + c] = column_of(columns, c)[j];
  }
  for (std::int64_t j = k; j-- > 0;) {
    column_of(basis, j)[j] = 1;
    for (std::int64_t c = j; c < k; c++) {
      reflect(column_of(basis, c) + j, column_of(columns, j) + j, taus[static_cast<std::size_t>(j)],
              m - j);
      poller.did((m - j) / 4 + 1);
    }
  }
  for (std::int64_t i = 0; i < m; i++) {
    for (std::int64_t j = 0; j < k; j++) q[i * k + j] = column_of(basis, j)[i];
  }
}

void qr_kernel(const ir::KernelRun& run) {
  const TensorType& type = run.node.operand_type(0);
  const MatrixSizes sizes(type);
  const std::int64_t m = sizes.rows, n = sizes.columns, k = std::min(m, n);
  for_inexact(type.dtype, [&]<class T>() {
    share_rows(sizes.count, m * n * k / 4 + m * n, run.host,
               [&](std::int64_t first, std::int64_t end, ir::Host& host) {
                 ir::Poller poller(host);
                 for (std::int64_t i = first; i < end; i++) {
                   const T* a = run.operand<T>(0) + i * m * n;
                   T *q = run.result<T>(0) + i * m * k, *r = run.result<T>(1) + i * k * n;
                   if (!lapack_qr(a, m, n, q, r, host)) factor_qr(a, m, n, q, r, poller);
                 }
               });
  });
}

/// Reflects column c of x from row j on. Elements of x without a tensor are 0.
void reflect_few(Elements& x, std::int64_t c, const Elements& v, const Tensor& tau,
                 std::int64_t j) {
  const Tensor zero = zeros(x.element_type());
  std::vector<Tensor> sums;
  for (std::int64_t i = j; i < x.rows(); i++) {
    const Tensor& element = x.at(i, c);
    sums.push_back(i == j || element.empty() ? element : element * v.at(i, j));
  }
  // In the order of dot_rows.
  static_assert(kFewRows <= kSums);
  if (std::ssize(sums) < kSums) {
    for (std::size_t i = 1; i < sums.size(); i++) sums[0] = ir::add_tangents(sums[0], sums[i]);
  } else {
    for (std::size_t half = kSums / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; i++) sums[i] = ir::add_tangents(sums[i], sums[i + half]);
    }
  }
  const Tensor factor = tau * (sums[0] + zero);
  for (std::int64_t i = j; i < x.rows(); i++) {
    Tensor& element = x.at(i, c);
    element = (element.empty() ? zero : element) - (i == j ? factor : factor * v.at(i, j));
  }
}

/// The kernel's steps on elements.
std::vector<Tensor> factor_few_qr(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope place(node.location());
  Elements a(operands[0]), v(node.operand_type(0)), q(node.types[0]), r(node.types[1]);
  const std::int64_t m = a.rows(), n = a.columns(), k = std::min(m, n);
  const DType dtype = a.element_type().dtype;
  const auto in_double = [](const Tensor& x) { return in_dtype(x, DType::kF64); };
  const Tensor zero = zeros(a.element_type());
  std::vector<Tensor> taus;
  for (std::int64_t j = 0; j < k; j++) {
    const Tensor alpha = a.at(j, j);
    Tensor rest = in_double(zero);
    for (std::int64_t i = j + 1; i < m; i++) {
      const Tensor element = in_double(a.at(i, j));
      rest = rest + element * element;
    }
    const Tensor done = rest == 0, first = in_double(alpha);
    const Tensor norm = in_dtype(sqrt(first * first + rest), dtype);
    const Tensor beta = where(alpha < 0, norm, -norm);
    const Tensor scale = 1 / where(done, 1, alpha - beta);
    for (std::int64_t i = j + 1; i < m; i++) v.at(i, j) = a.at(i, j) * scale;
    taus.push_back(where(done, 0, (beta - alpha) / beta));
    r.at(j, j) = where(done, alpha, beta);
    for (std::int64_t c = 0; c < j; c++) r.at(j, c) = zero;
    for (std::int64_t c = j + 1; c < n; c++) {
      reflect_few(a, c, v, taus.back(), j);
      r.at(j, c) = a.at(j, c);
    }
  }
  for (std::int64_t j = k; j-- > 0;) {
    q.at(j, j) = zero + 1;
    for (std::int64_t c = j; c < k; c++) reflect_few(q, c, v, taus[static_cast<std::size_t>(j)], j);
  }
  for (std::int64_t i = 0; i < m; i++) {
    for (std::int64_t c = 0; c < k; c++) {
      if (q.at(i, c).empty()) q.at(i, c) = zero;
    }
  }
  return {q.joined(), r.joined()};
}

/// One matrix in two loops: over the columns, and back for q.
std::vector<Tensor> qr_loop(const Tensor& x) {
  const std::int64_t m = x.dim(0), n = x.dim(1), k = std::min(m, n);
  const DType dtype = x.dtype();
  const bool is_real = !is_complex(dtype);
  const auto conjugated = [is_real](const Tensor& t) { return is_real ? t : conj(t); };
  const Tensor rows = arange(m);
  const auto step = [&](Tensor j, Tensor a, Tensor vs, Tensor taus) {
    const Tensor from = column(a, j), alpha = from[j], tail = where(rows > j, from, 0);
    const Tensor rest = sum(squared_magnitude(tail));
    const Tensor first = is_real ? alpha : real(alpha);
    const Tensor done = is_real ? rest == 0 : (rest == 0) & (imag(alpha) == 0);
    const Tensor norm = sqrt(squared_magnitude(alpha) + rest);
    const Tensor beta = where(done, 1, where(first < 0, norm, -norm));
    const Tensor whole = is_real ? beta : complex(beta, 0 * beta);
    const Tensor tau = where(done, 0, (whole - alpha) / whole);
    const Tensor v = where(rows == j, 1, tail / where(done, 1, alpha - whole));
    const Tensor changed = a - outer(conjugated(tau) * v, matmul(conjugated(v), a));
    return std::tuple(changed, update(vs, j, v), update(taus, j, tau));
  };
  const auto [a, vs, taus] = fori_loop(
      0, k, step, std::tuple(x, zeros({dtype, {k, m}}), zeros({dtype, {k}})), {.name = "qr"});
  const Tensor reflections = vs, factors = taus;
  const TensorType thin{dtype, {m, k}};
  const Tensor q = fori_loop(0, k,
                             [&](Tensor j, Tensor basis) {
                               const Tensor v = reflections[j];
                               return basis - outer(factors[j] * v, matmul(conjugated(v), basis));
                             },
                             identities_like(zeros(thin)), {.reverse = true, .name = "qr_basis"});
  return {q, triu(slice(a, {0, 0}, {k, n}))};
}

std::vector<Tensor> expand_qr(const Node& node, std::span<const Tensor> operands) {
  if (operands[0].type().elements() == 0) return {zeros(node.types[0]), zeros(node.types[1])};
  return each_matrix(qr_loop, operands[0]);
}

/// With x = da r^-1, of the first columns if there are more than rows: q^H dq is skew-Hermitian
/// with the part of q^H x below the diagonal.
std::vector<Tensor> qr_jvp(const JvpCall& c) {
  const Tensor &q = c.y(0), &r = c.y(1), &da = c.dx(0);
  const std::int64_t k = r.dim(r.rank() - 2);
  const auto first_columns = [k](const Tensor& t) {
    std::vector<std::int64_t> limits = t.shape().vector();
    limits.back() = k;
    return slice(t, std::vector<std::int64_t>(limits.size(), 0), limits);
  };
  const Tensor x = triangular_solution(first_columns(r), first_columns(da),
                                       {.left_side = false, .lower = false}, c.at());
  const Tensor seen = matmul(adjoint(q), x), lower = tril(seen, -1);
  Tensor turn = lower - adjoint(lower);
  if (is_complex(seen.dtype())) {
    const Tensor phase = where(positions(seen, Triangle::kOn), seen, 0);
    turn = turn + complex(0 * real(phase), imag(phase));
  }
  return {matmul(q, turn - seen) + x, triu(matmul(adjoint(q), da) - matmul(turn, r))};
}

}  // namespace

const OpDef kQr{
    .name = "qr",
    .arity = 1,
    .types = {.infer = infer_qr},
    .kernel = {.prepare = ir::prepare_function<qr_kernel>},
    .expansion = {.rule = expand_qr, .in_lanes = factor_few_qr, .is_preferred = is_of_few},
    .derivative = {.jvp = qr_jvp},
    .batching = {.rule = ir::batch_alike}};

}  // namespace rondo::ops

namespace rondo {

Qr qr(const Operand& operand) {
  const ops::Helper helper("qr", operand.at());
  const Tensor a = helper.inexact(operand);
  const std::vector<Tensor> results =
      ir::make_many(ops::kQr, {ops::in_wide_dtype(a)}, {}, helper.at());
  return {ops::in_dtype(results[0], a.dtype()), ops::in_dtype(results[1], a.dtype())};
}

}  // namespace rondo
