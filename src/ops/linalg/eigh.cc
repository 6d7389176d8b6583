// Eigenvalues and eigenvectors of Hermitian matrices, by cyclic Jacobi rotations (Golub and Van
// Loan, Matrix Computations, 8.5): each sets one pair of elements off the diagonal to zero.
#include <numeric>
#include <vector>

#include "ops/kernels/lapack.h"
#include "ops/kernels/share_rows.h"
#include "ops/linalg/jacobi.h"
#include "rondo/loops.h"
#include "rondo/ops/arrays.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/order.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

InferredTypes infer_eigh(const InferContext& context) {
  check_square(context, 0, "Give a symmetric matrix.");
  const TensorType& x = context.type(0);
  return {{magnitude_dtype(x.dtype), with_last_axes(x, 1, {}).shape}, x};
}

/// Elements off the diagonal at most this large count as zero.
template <class T>
T negligible(T norm, std::int64_t n) {
  return norm * std::numeric_limits<T>::epsilon() / static_cast<T>(n);
}

template <class T>
class JacobiEigh {
  using R = Real<T>;

 public:
  JacobiEigh(const T* x, std::int64_t size)
      : n_(size), a_(static_cast<std::size_t>(n_ * n_)), v_(a_.size()) {
    R largest = 0;
    const auto element = [&](std::int64_t i, std::int64_t j) {
      return i == j ? T(std::real(x[i * n_ + i])) : x[i * n_ + j];
    };
    for (std::int64_t i = 0; i < n_; i++) {
      for (std::int64_t j = 0; j <= i; j++) {
        const R part = extent(element(i, j));
        if (!(part <= std::numeric_limits<R>::max())) finite_ = false;
        largest = std::max(largest, part);
      }
      v_row(i)[i] = 1;
    }
    scale_ = largest > 0 ? largest : R(1);  // squares neither overflow nor vanish
    for (std::int64_t i = 0; i < n_; i++) {
      for (std::int64_t j = 0; j <= i; j++) {
        row(i)[j] = element(i, j) / scale_;
        row(j)[i] = conjugate(row(i)[j]);
      }
    }
  }

  bool solve(ir::Poller& poller) {
    if (!finite_) return false;
    const R small = negligible(std::sqrt(squared_norm(a_.data(), n_ * n_)), n_);
    for (int sweep = 0; sweep < kSweeps; sweep++) {
      bool rotated = false;
      for (std::int64_t p = 0; p + 1 < n_; p++) {
        for (std::int64_t q = p + 1; q < n_; q++) {
          if (std::abs(row(p)[q]) <= small) continue;
          rotate(p, q);
          poller.did(n_ * 2);
          rotated = true;
        }
        poller.did(n_);
      }
      if (!rotated) break;
    }
    return true;
  }

  void store(R* values, T* vectors, ir::Poller& poller) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(n_));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
      return std::real(row(i)[i]) < std::real(row(j)[j]);
    });
    for (std::int64_t k = 0; k < n_; k++) {
      const std::int64_t from = order[static_cast<std::size_t>(k)];
      values[k] = std::real(row(from)[from]) * scale_;
      for (std::int64_t i = 0; i < n_; i++) vectors[i * n_ + k] = v_row(from)[i];
      poller.did(n_);
    }
  }

 private:
  T* row(std::int64_t i) { return a_.data() + i * n_; }
  T* v_row(std::int64_t i) { return v_.data() + i * n_; }  // eigenvector i

  void rotate(std::int64_t p, std::int64_t q) {
    T *at_p = row(p), *at_q = row(q);
    const R pp = std::real(at_p[p]), qq = std::real(at_q[q]);
    R pq;
    if constexpr (kIsComplex<T>) {
      pq = std::abs(at_p[q]);
      const T phase = phase_of(at_p[q]);
      multiply_row(at_q, phase, n_);
      multiply_row(v_row(q), std::conj(phase), n_);
    } else {
      pq = at_p[q];
    }
    const Rotation<R> rotation((qq - pp) / (2 * pq));
    rotation.turn(at_p, at_q, n_);
    at_p[p] = pp - rotation.tangent * pq;
    at_q[q] = qq + rotation.tangent * pq;
    at_p[q] = at_q[p] = 0;
    for (std::int64_t k = 0; k < n_; k++) {
      row(k)[p] = conjugate(at_p[k]);
      row(k)[q] = conjugate(at_q[k]);
    }
    rotation.turn(v_row(p), v_row(q), n_);
  }

  std::int64_t n_;
  std::vector<T> a_, v_;
  R scale_ = 1;
  bool finite_ = true;
};

void eigh_kernel(const ir::KernelRun& run) {
  const MatrixSizes sizes(run.node.operand_type(0));
  const std::int64_t n = sizes.rows;
  for_inexact(run.node.operand_type(0).dtype, [&]<class T>() {
    share_rows(sizes.count, 8 * n * n * n, run.host,
               [&](std::int64_t first, std::int64_t end, ir::Host& host) {
                 ir::Poller poller(host);
                 for (std::int64_t i = first; i < end; i++) {
                   Real<T>* values = run.result<Real<T>>(0) + i * n;
                   T* vectors = run.result<T>(1) + i * n * n;
                   const T* x = run.operand<T>(0) + i * n * n;
                   if (lapack_eigh(x, n, values, vectors, host)) continue;
                   JacobiEigh<T> jacobi(x, n);
                   poller.did(2 * n * n);
                   if (jacobi.solve(poller)) {
                     jacobi.store(values, vectors, poller);
                   } else {
                     std::fill_n(values, n, not_a_number<Real<T>>());
                     std::fill_n(vectors, n * n, not_a_number<T>());
                   }
                 }
               });
  });
}

/// The same sweeps as a loop over pairs. Rows p and q are turned, then columns p and q.
std::vector<Tensor> eigh_loop(const Tensor& x) {
  const std::int64_t n = x.dim(0);
  const DType dtype = x.dtype();
  Tensor lower = tril(x);
  if (is_complex(dtype)) lower = complex(real(lower), tril(imag(x), -1));
  const Tensor read = lower + adjoint(tril(x, -1));
  const Tensor largest = max(abs(read)), scale = where(largest > 0, largest, 1);
  const Tensor start = divided(read, scale), one = identities_like(start);
  const Tensor small =
      sqrt(sum(squared_magnitude(start))) * (epsilon_of(dtype) / static_cast<double>(n));
  const auto [ps, qs] = pairs_of(n);
  const auto rotate = [&, first = ps, second = qs](Tensor i, Tensor a, Tensor v) {
    const Tensor p = first[i], q = second[i], pq = at(a, {p, q});
    const Tensor difference = at(a, {q, q}) - at(a, {p, p});
    const Turn turn = turn_of(in_dtype(difference, small.dtype()), pq, abs(pq) > small);
    const Turn back = conjugated(turn);
    const Tensor rows = turned_rows(a, p, q, turn);
    return std::tuple(transpose(turned_rows(transpose(rows), p, q, back)),
                      turned_rows(v, p, q, back));
  };
  const auto sweep = [&](Tensor count, Tensor a, Tensor v) {
    const auto [next, vectors] = fori_loop(0, n * (n - 1) / 2, rotate, std::tuple(a, v));
    return std::tuple(count + 1, next, vectors);
  };
  const auto goes_on = [&](Tensor count, Tensor a, Tensor) {
    return (count < kSweeps) & (max(abs(a * (1 - one))) > small);
  };
  const auto [count, a, v] =
      while_loop(goes_on, sweep, std::tuple(Tensor(0), start, one), {.name = "eigh"});
  const Tensor found = in_dtype(diagonals(a), small.dtype()), order = argsort(found);
  // NaN throughout for a matrix that is not finite.
  const Tensor valid = where(all(is_finite(read)), 0, std::numeric_limits<double>::quiet_NaN());
  const Tensor nan = convert(valid, small.dtype());
  return {take(found, order, 0) * scale + nan, transpose(take(v, order, 0)) + in_dtype(nan, dtype)};
}

std::vector<Tensor> expand_eigh(const Node& node, std::span<const Tensor> operands) {
  if (operands[0].type().elements() == 0) return {zeros(node.types[0]), zeros(node.types[1])};
  return each_matrix(eigh_loop, operands[0]);
}

/// dv = v (f o v^H dx v) with f_ij = 1 / (w_j - w_i): Giles, Collected matrix derivative results
/// for forward and reverse mode algorithmic differentiation, 2008. The phases of vectors are free:
/// here v^H dv is 0 on the diagonal.
std::vector<Tensor> eigh_jvp(const JvpCall& c) {
  const Tensor &w = c.y(0), &v = c.y(1);
  const Tensor seen = matmul(adjoint(v), matmul(hermitian_part(c.dx(0)), v));
  const Tensor one = in_dtype(identities_like(v), w.dtype());
  const Tensor gaps = expand_dims(w, -2) - expand_dims(w, -1);
  const Tensor factors = where(positions(v, Triangle::kOn), 0, 1 / (gaps + one));
  return {in_dtype(diagonals(seen), w.dtype()), matmul(v, in_dtype(factors, v.dtype()) * seen)};
}

}  // namespace

const OpDef kEigh{.name = "eigh",
                  .arity = 1,
                  .types = {.infer = infer_eigh},
                  .kernel = {.prepare = ir::prepare_function<eigh_kernel>},
                  .expansion = {.rule = expand_eigh},
                  .derivative = {.jvp = eigh_jvp},
                  .batching = {.rule = ir::batch_alike}};

}  // namespace rondo::ops

namespace rondo {

Eigh eigh(const Operand& operand) {
  const ops::Helper helper("eigh", operand.at());
  const Tensor x = helper.inexact(operand);
  const std::vector<Tensor> results =
      ir::make_many(ops::kEigh, {ops::in_wide_dtype(x)}, {}, helper.at());
  return {ops::in_dtype(results[0], ops::magnitude_dtype(x.dtype())),
          ops::in_dtype(results[1], x.dtype())};
}

}  // namespace rondo
