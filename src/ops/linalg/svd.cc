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
  check_real_matrices(context, 0);
  const TensorType& a = context.type(0);
  const std::int64_t m = a.shape[a.rank() - 2], n = a.shape[a.rank() - 1];
  const std::int64_t k = std::min(m, n);
  return {with_last_axes(a, 2, std::array{m, k}), with_last_axes(a, 2, std::array{k}),
          with_last_axes(a, 2, std::array{k, n})};
}

/// Of `count` rows of `length` >= count elements: norms, directions, and the rotations as rows.
template <class T>
class JacobiSvd {
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
  T norm(std::int64_t i) const { return norms_[static_cast<std::size_t>(i)] * scale_; }

  /// False if an element is not finite.
  bool solve(ir::Poller& poller) {
    T largest = 0;
    for (const T element : w_) {
      if (!(std::abs(element) <= std::numeric_limits<T>::max())) return false;
      largest = std::max(largest, std::abs(element));
    }
    scale_ = largest > 0 ? largest : T(1);  // squares do not overflow
    for (T& element : w_) element /= scale_;
    const T small = std::numeric_limits<T>::epsilon() *
                    std::sqrt(static_cast<T>(std::max<std::int64_t>(length_, 1)));
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
      T& norm = norms_[static_cast<std::size_t>(i)];
      norm = std::sqrt(dot_rows(w_row(i), w_row(i), length_));
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
  bool turn(std::int64_t p, std::int64_t q, T small) {
    T *at_p = w_row(p), *at_q = w_row(q);
    const T pp = dot_rows(at_p, at_p, length_), qq = dot_rows(at_q, at_q, length_);
    const T pq = dot_rows(at_p, at_q, length_);
    if (!(std::abs(pq) > small * std::sqrt(pp) * std::sqrt(qq))) return false;
    const Rotation<T> rotation((qq - pp) / (2 * pq));
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
      std::vector<T> contained(static_cast<std::size_t>(length_));
      const auto each_known = [&](auto f) {
        for (std::int64_t j = 0; j < count_; j++) {
          if (known[static_cast<std::size_t>(j)]) f(w_row(j));
        }
        poller.did(count_ * length_ / 4);
      };
      each_known([&](const T* row) {
        for (std::int64_t k = 0; k < length_; k++)
          contained[static_cast<std::size_t>(k)] += row[k] * row[k];
      });
      T* row = w_row(i);
      std::fill_n(row, length_, T{});
      row[std::min_element(contained.begin(), contained.end()) - contained.begin()] = 1;
      for (int pass = 0; pass < 2; pass++) {
        each_known([&](const T* other) {
          subtract_row(row, dot_rows(row, other, length_), other, length_);
        });
        const T norm = std::sqrt(dot_rows(row, row, length_));
        for (std::int64_t k = 0; k < length_; k++) row[k] /= norm;
      }
      known[static_cast<std::size_t>(i)] = true;
    }
  }

  std::int64_t count_, length_;
  std::vector<T> w_, v_, norms_;
  T scale_ = 1;
};

template <class T>
void svd_of(const T* a, std::int64_t m, std::int64_t n, T* u, T* s, T* vt, ir::Poller& poller) {
  const bool tall = m >= n;  // then the columns are turned, else the rows
  const std::int64_t k = std::min(m, n), length = std::max(m, n);
  JacobiSvd<T> jacobi(k, length);
  for (std::int64_t i = 0; i < k; i++) {
    for (std::int64_t j = 0; j < length; j++)
      jacobi.w_row(i)[j] = tall ? a[j * n + i] : a[i * n + j];
    poller.did(length);
  }
  if (!jacobi.solve(poller)) {
    constexpr T kNoNumber = std::numeric_limits<T>::quiet_NaN();
    std::fill_n(u, m * k, kNoNumber);
    std::fill_n(s, k, kNoNumber);
    std::fill_n(vt, k * n, kNoNumber);
    return;
  }
  std::int64_t to = 0;
  for (const std::int64_t from : jacobi.order()) {
    const T *long_row = jacobi.w_row(from), *turned = jacobi.v_row(from);
    s[to] = jacobi.norm(from);
    for (std::int64_t i = 0; i < m; i++) u[i * k + to] = tall ? long_row[i] : turned[i];
    for (std::int64_t j = 0; j < n; j++) vt[to * n + j] = tall ? turned[j] : long_row[j];
    poller.did(m + n);
    to++;
  }
}

void svd_kernel(const ir::KernelRun& run) {
  const MatrixSizes sizes(run.node.operand_type(0));
  const std::int64_t m = sizes.rows, n = sizes.columns, k = std::min(m, n);
  for_inexact(run.node.type().dtype, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      share_rows(sizes.count, 8 * m * n * k, run.host,
                 [&](std::int64_t first, std::int64_t end, ir::Host& host) {
                   ir::Poller poller(host);
                   for (std::int64_t i = first; i < end; i++) {
                     const T* a = run.operand<T>(0) + i * m * n;
                     T *u = run.result<T>(0) + i * m * k, *s = run.result<T>(1) + i * k;
                     T* vt = run.result<T>(2) + i * k * n;
                     if (!lapack_svd(a, m, n, u, s, vt, host)) svd_of(a, m, n, u, s, vt, poller);
                   }
                 });
    }
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
    const Tensor pp = sum(at_p * at_p), qq = sum(at_q * at_q), pq = sum(at_p * at_q);
    const Tensor rotates = abs(pq) > small * (sqrt(pp) * sqrt(qq));
    const auto [c, s] = rotation_of(qq - pp, 2 * pq, rotates);
    return std::tuple(turned_rows(w, p, q, c, s), turned_rows(v, p, q, c, s), turns | rotates);
  };
  const auto sweep = [&](Tensor count, Tensor w, Tensor v, Tensor) {
    const auto [next, vectors, turns] =
        fori_loop(0, n * (n - 1) / 2, turn, std::tuple(w, v, Tensor(false)));
    return std::tuple(count + 1, next, vectors, turns);
  };
  const auto goes_on = [](Tensor count, Tensor, Tensor, Tensor turns) {
    return (count < kSweeps) & turns;
  };
  const Tensor start = transpose(x) / scale;
  const Tensor none = identities_like(zeros({x.dtype(), {n, n}}));
  const auto [count, w, v, turns] =
      while_loop(goes_on, sweep, std::tuple(Tensor(0), start, none, Tensor(true)), {.name = "svd"});
  const Tensor norms = sqrt(sum(w * w, {1}));
  const Tensor order = argsort(-norms), s = take(norms, order, 0);
  const Tensor divisor = where(s > 0, s, 1);
  // Columns of zeros, which are last, get directions by qr, which leaves the others but for signs.
  const Qr full = qr(transpose(take(w, order, 0) / expand_dims(divisor, 1)));
  const Tensor signs = where(diagonals(full.r) < 0, -1, Tensor(s * 0 + 1));
  const Tensor bad = where(all(is_finite(x)), 0, std::numeric_limits<double>::quiet_NaN());
  const Tensor nan = convert(bad, x.dtype());
  return {full.q * signs + nan, s * scale + nan, take(v, order, 0) + nan};
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

/// Townsend, Differentiating the singular value decomposition, 2016: with d = u^T da v and
/// f_ij = 1 / (s_j^2 - s_i^2), du = u (f o (d s + s d^T)) and dv = v (f o (s d + d^T s)), and of
/// what u or v does not span, da v / s or da^T u / s.
std::vector<Tensor> svd_jvp(const JvpCall& c) {
  const Tensor &u = c.y(0), &s = c.y(1), &vt = c.y(2), &da = c.dx(0);
  const Tensor v = swapped(vt), ut = swapped(u);
  const MatrixSizes sizes(c.x(0).type());
  const Tensor d = matmul(ut, matmul(da, v));
  const Tensor along = expand_dims(s, -2), down = expand_dims(s, -1);
  const Tensor one = identities_like(d), on = positions(d, Triangle::kOn);
  const Tensor factors = where(on, 0, 1 / ((along + down) * (along - down) + one));
  const Tensor by_column = d * along, by_row = down * d;
  Tensor du = matmul(u, factors * (by_column + swapped(by_column)));
  Tensor dv = matmul(v, factors * (by_row + swapped(by_row)));
  const auto outside = [&](const Tensor& basis, const Tensor& image) {
    return (image - matmul(basis, matmul(swapped(basis), image))) / along;
  };
  if (sizes.rows > sizes.columns) du = du + outside(u, matmul(da, v));
  if (sizes.columns > sizes.rows) dv = dv + outside(v, matmul(swapped(da), u));
  return {du, diagonals(d), swapped(dv)};
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
  return {ops::in_dtype(results[0], a.dtype()), ops::in_dtype(results[1], a.dtype()),
          ops::in_dtype(results[2], a.dtype())};
}

}  // namespace rondo
