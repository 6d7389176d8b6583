// Singular values and vectors, by one-sided Jacobi rotations (Hestenes, 1958; Drmač and Veselić,
// 2008): columns are turned in pairs until all are orthogonal, so that small singular values are as
// accurate as large ones.
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

InferredTypes infer_svd(const InferContext& context) {
  check_matrices(context, 0);
  const TensorType& a = context.type(0);
  const std::int64_t m = a.shape[a.rank() - 2], n = a.shape[a.rank() - 1];
  const std::int64_t k = std::min(m, n);
  return {with_last_axes(a, 2, std::array{m, k}),
          {magnitude_dtype(a.dtype), with_last_axes(a, 2, std::array{k}).shape},
          with_last_axes(a, 2, std::array{k, n})};
}

/// Of `count` rows of `length` >= count elements: norms, directions, and the rotations as rows.
template <class T>
class JacobiSvd {
  using R = Real<T>;

 public:
  JacobiSvd(std::int64_t rows, std::int64_t length)
      : count_(rows),
        length_(length),
        w_(static_cast<std::size_t>(rows * length)),
        v_(static_cast<std::size_t>(rows * rows)),
        norms_(static_cast<std::size_t>(rows)) {
    for (std::int64_t i = 0; i < rows; i++) v_row(i)[i] = 1;
  }

  T* w_row(std::int64_t i) { return w_.data() + i * length_; }
  T* v_row(std::int64_t i) { return v_.data() + i * count_; }
  R norm(std::int64_t i) const { return norms_[static_cast<std::size_t>(i)] * scale_; }

  /// False if an element is not finite.
  bool solve(ir::Poller& poller) {
    R largest = 0;
    for (const T element : w_) {
      const R size = extent(element);
      if (!(size <= std::numeric_limits<R>::max())) return false;
      largest = std::max(largest, size);
    }
    scale_ = largest > 0 ? largest : R(1);  // squares do not overflow
    for (T& element : w_) element /= scale_;
    const R small = std::numeric_limits<R>::epsilon() *
                    std::sqrt(static_cast<R>(std::max<std::int64_t>(length_, 1)));
    bool rotated = true;
    for (int sweep = 0; sweep < kSweeps && rotated; sweep++) {
      rotated = false;
      for (std::int64_t p = 0; p + 1 < count_; p++) {
        for (std::int64_t q = p + 1; q < count_; q++) {
          rotated |= turn(p, q, small);
          poller.did(length_);
        }
      }
    }
    for (std::int64_t i = 0; i < count_; i++) {
      R& norm = norms_[static_cast<std::size_t>(i)];
      norm = std::sqrt(squared_norm(w_row(i), length_));
      for (std::int64_t k = 0; k < length_ && norm > 0; k++) w_row(i)[k] /= norm;
    }
    complete(poller);
    return true;
  }

  /// The rows, by descending norm.
  std::vector<std::int64_t> order() const {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count_));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t i, std::int64_t j) { return norm(i) > norm(j); });
    return order;
  }

 private:
  bool turn(std::int64_t p, std::int64_t q, R small) {
    T *at_p = w_row(p), *at_q = w_row(q);
    const R pp = squared_norm(at_p, length_), qq = squared_norm(at_q, length_);
    const T product = dot_rows(at_p, at_q, length_);
    R pq = std::real(product);
    if constexpr (kIsComplex<T>) pq = std::abs(product);
    if (!(std::abs(pq) > small * std::sqrt(pp) * std::sqrt(qq))) return false;
    if constexpr (kIsComplex<T>) {
      multiply_row(at_q, phase_of(product), length_);
      multiply_row(v_row(q), phase_of(product), count_);
    }
    const Rotation<R> rotation((qq - pp) / (2 * pq));
    rotation.turn(at_p, at_q, length_);
    rotation.turn(v_row(p), v_row(q), count_);
    return true;
  }

  /// Rows without a direction get one that is orthogonal to all others: what is left of the unit
  /// vector that these contain least of.
  void complete(ir::Poller& poller) {
    std::vector<bool> known(static_cast<std::size_t>(count_));
    for (std::int64_t i = 0; i < count_; i++)
      known[static_cast<std::size_t>(i)] = norms_[static_cast<std::size_t>(i)] > 0;
    for (std::int64_t i = 0; i < count_; i++) {
      if (known[static_cast<std::size_t>(i)]) continue;
      std::vector<R> contained(static_cast<std::size_t>(length_));
      const auto each_known = [&](auto f) {
        for (std::int64_t j = 0; j < count_; j++) {
          if (known[static_cast<std::size_t>(j)]) f(w_row(j));
        }
        poller.did(count_ * length_ / 4);
      };
      each_known([&](const T* row) {
        for (std::int64_t k = 0; k < length_; k++)
          contained[static_cast<std::size_t>(k)] += squared(row[k]);
      });
      T* row = w_row(i);
      std::fill_n(row, length_, T{});
      row[std::min_element(contained.begin(), contained.end()) - contained.begin()] = 1;
      for (int pass = 0; pass < 2; pass++) {
        each_known([&](const T* other) {
          subtract_row(row, dot_rows(row, other, length_), other, length_);
        });
        const R norm = std::sqrt(squared_norm(row, length_));
        for (std::int64_t k = 0; k < length_; k++) row[k] /= norm;
      }
      known[static_cast<std::size_t>(i)] = true;
    }
  }

  std::int64_t count_, length_;
  std::vector<T> w_, v_;
  std::vector<R> norms_;
  R scale_ = 1;
};

template <class T>
void svd_of(const T* a, std::int64_t m, std::int64_t n, T* u, Real<T>* s, T* vt,
            ir::Poller& poller) {
  const bool tall = m >= n;  // then the columns are turned, else the rows
  const std::int64_t k = std::min(m, n), length = std::max(m, n);
  JacobiSvd<T> jacobi(k, length);
  for (std::int64_t i = 0; i < k; i++) {
    for (std::int64_t j = 0; j < length; j++)
      jacobi.w_row(i)[j] = tall ? a[j * n + i] : a[i * n + j];
    poller.did(length);
  }
  if (!jacobi.solve(poller)) {
    std::fill_n(u, m * k, not_a_number<T>());
    std::fill_n(s, k, not_a_number<Real<T>>());
    std::fill_n(vt, k * n, not_a_number<T>());
    return;
  }
  std::int64_t to = 0;
  for (const std::int64_t from : jacobi.order()) {
    const T *long_row = jacobi.w_row(from), *turned = jacobi.v_row(from);
    s[to] = jacobi.norm(from);
    for (std::int64_t i = 0; i < m; i++) u[i * k + to] = tall ? long_row[i] : conjugate(turned[i]);
    for (std::int64_t j = 0; j < n; j++) vt[to * n + j] = tall ? conjugate(turned[j]) : long_row[j];
    poller.did(m + n);
    to++;
  }
}

void svd_kernel(const ir::KernelRun& run) {
  const MatrixSizes sizes(run.node.operand_type(0));
  const std::int64_t m = sizes.rows, n = sizes.columns, k = std::min(m, n);
  for_inexact(run.node.operand_type(0).dtype, [&]<class T>() {
    share_rows(sizes.count, 8 * m * n * k, run.host,
               [&](std::int64_t first, std::int64_t end, ir::Host& host) {
                 ir::Poller poller(host);
                 for (std::int64_t i = first; i < end; i++) {
                   const T* a = run.operand<T>(0) + i * m * n;
                   T *u = run.result<T>(0) + i * m * k, *vt = run.result<T>(2) + i * k * n;
                   Real<T>* s = run.result<Real<T>>(1) + i * k;
                   if (!lapack_svd(a, m, n, u, s, vt, host)) svd_of(a, m, n, u, s, vt, poller);
                 }
               });
  });
}

/// The same sweeps as a loop over pairs, on a matrix that is not wider than tall.
std::vector<Tensor> tall_svd_loop(const Tensor& x) {
  const std::int64_t m = x.dim(0), n = x.dim(1);
  const Tensor largest = max(abs(x)), scale = where(largest > 0, largest, 1);
  const double small = epsilon_of(x.dtype()) * std::sqrt(static_cast<double>(m));
  const auto [ps, qs] = pairs_of(n);
  const auto turn = [&, first = ps, second = qs](Tensor i, Tensor w, Tensor v, Tensor turns) {
    const Tensor p = first[i], q = second[i], at_p = w[p], at_q = w[q];
    const Tensor pp = sum(squared_magnitude(at_p)), qq = sum(squared_magnitude(at_q));
    const Tensor pq = sum(at_p * conjugated(at_q));
    const Tensor rotates = abs(pq) > small * (sqrt(pp) * sqrt(qq));
    const Turn turn = turn_of(qq - pp, pq, rotates);
    return std::tuple(turned_rows(w, p, q, turn), turned_rows(v, p, q, turn), turns | rotates);
  };
  const auto sweep = [&](Tensor count, Tensor w, Tensor v, Tensor) {
    const auto [next, vectors, turns] =
        fori_loop(0, n * (n - 1) / 2, turn, std::tuple(w, v, Tensor(false)));
    return std::tuple(count + 1, next, vectors, turns);
  };
  const auto goes_on = [](Tensor count, Tensor, Tensor, Tensor turns) {
    return (count < kSweeps) & turns;
  };
  const Tensor start = divided(transpose(x), scale);
  const Tensor none = identities_like(zeros({x.dtype(), {n, n}}));
  const auto [count, w, v, turns] =
      while_loop(goes_on, sweep, std::tuple(Tensor(0), start, none, Tensor(true)), {.name = "svd"});
  const Tensor norms = sqrt(sum(squared_magnitude(w), {1}));
  const Tensor order = argsort(-norms), s = take(norms, order, 0);
  // Columns of zeros, which are last, get directions by qr, which leaves the others but for signs.
  const Tensor lengths = expand_dims(s, 1), found = lengths > 0;
  const Tensor directions = divided(take(w, order, 0), where(found, lengths, 1));
  const Qr full = qr(transpose(where(found, directions, 0)));
  const Tensor sizes = in_dtype(diagonals(full.r), s.dtype());
  const Tensor signs = in_dtype(where(sizes < 0, -1, Tensor(s * 0 + 1)), x.dtype());
  const Tensor bad = where(all(is_finite(x)), 0, std::numeric_limits<double>::quiet_NaN());
  const Tensor nan = convert(bad, s.dtype()), in_vectors = in_dtype(nan, x.dtype());
  return {full.q * signs + in_vectors, s * scale + nan, conjugated(take(v, order, 0)) + in_vectors};
}

std::vector<Tensor> svd_loop(const Tensor& x) {
  if (x.dim(0) >= x.dim(1)) return tall_svd_loop(x);
  const std::vector<Tensor> turned = tall_svd_loop(transpose(x));
  return {transpose(turned[2]), turned[1], transpose(turned[0])};
}

std::vector<Tensor> expand_svd(const Node& node, std::span<const Tensor> operands) {
  if (operands[0].type().elements() == 0)
    return {zeros(node.types[0]), zeros(node.types[1]), zeros(node.types[2])};
  return each_matrix(svd_loop, operands[0]);
}

/// Townsend, Differentiating the singular value decomposition, 2016: with d = u^H da v and
/// f_ij = 1 / (s_j^2 - s_i^2), du = u (f o (d s + s d^H)) and dv = v (f o (s d + d^H s)), and of
/// what u or v does not span, da v / s or da^H u / s. The phases of pairs of vectors are free: u
/// takes that of d's diagonal.
std::vector<Tensor> svd_jvp(const JvpCall& c) {
  const Tensor &u = c.y(0), &s = c.y(1), &vt = c.y(2), &da = c.dx(0);
  const DType dtype = u.dtype();
  const Tensor v = adjoint(vt);
  const MatrixSizes sizes(c.x(0).type());
  const Tensor d = matmul(adjoint(u), matmul(da, v));
  const Tensor along = expand_dims(s, -2), down = expand_dims(s, -1);
  const Tensor one = in_dtype(identities_like(d), s.dtype()), on = positions(d, Triangle::kOn);
  const Tensor factors = in_dtype(where(on, 0, 1 / ((along + down) * (along - down) + one)), dtype);
  const Tensor columns = in_dtype(along, dtype);
  const Tensor by_column = d * columns, by_row = in_dtype(down, dtype) * d;
  Tensor turn = factors * (by_column + adjoint(by_column));
  if (is_complex(dtype)) {
    const Tensor phase = where(on & (along > 0), imag(d) / where(along > 0, along, 1), 0);
    turn = turn + complex(0 * phase, phase);
  }
  Tensor du = matmul(u, turn);
  Tensor dv = matmul(v, factors * (by_row + adjoint(by_row)));
  const auto outside = [&](const Tensor& basis, const Tensor& image) {
    return (image - matmul(basis, matmul(adjoint(basis), image))) / columns;
  };
  if (sizes.rows > sizes.columns) du = du + outside(u, matmul(da, v));
  if (sizes.columns > sizes.rows) dv = dv + outside(v, matmul(adjoint(da), u));
  return {du, in_dtype(diagonals(d), s.dtype()), adjoint(dv)};
}

}  // namespace

const OpDef kSvd{.name = "svd",
                 .arity = 1,
                 .types = {.infer = infer_svd},
                 .kernel = {.prepare = ir::prepare_function<svd_kernel>},
                 .expansion = {.rule = expand_svd},
                 .derivative = {.jvp = svd_jvp},
                 .batching = {.rule = ir::batch_alike}};

}  // namespace rondo::ops

namespace rondo {

Svd svd(const Operand& operand) {
  const ops::Helper helper("svd", operand.at());
  const Tensor a = helper.inexact(operand);
  const std::vector<Tensor> results =
      ir::make_many(ops::kSvd, {ops::in_wide_dtype(a)}, {}, helper.at());
  return {ops::in_dtype(results[0], a.dtype()),
          ops::in_dtype(results[1], ops::magnitude_dtype(a.dtype())),
          ops::in_dtype(results[2], a.dtype())};
}

}  // namespace rondo
