// Many small matrices and systems at once: vmap of loops over their rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> small_matrix_workloads();  // a part of batch_workloads

namespace {

/// Diffusion across many layers: an implicit step of each, which is a tridiagonal system.
Workload tridiagonal_systems() {
  constexpr std::int64_t kLanes = 256, kSize = 64;
  const auto program = [](Tensor rates, Tensor states) {
    const auto solve = [](Tensor rate, Tensor state) {
      const Tensor middle = 1 + 2 * rate;
      const auto forwards = [&](std::pair<Tensor, Tensor> before, Tensor right) {
        const Tensor scale = 1 / (middle + rate * before.first);
        const std::pair next(-rate * scale, (right + rate * before.second) * scale);
        return std::pair(next, next);
      };
      const auto rows = scan(forwards, std::pair(0.0f, 0.0f), state).second;
      const auto backwards = [](Tensor after, std::pair<Tensor, Tensor> row) {
        const Tensor x = row.second - row.first * after;
        return std::pair(x, x);
      };
      return scan(backwards, 0.0f, rows, {.reverse = true}).second;
    };
    return vmap(solve)(rates, states);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float* rates = arguments[0].data<float>().data();
    const float* states = arguments[1].data<float>().data();
    Literal result = Literal::uninitialized(f32({kLanes, kSize}));
    float* x = result.mutable_data<float>().data();
    float factor[kSize];
    for (std::ptrdiff_t lane = 0; lane < kLanes; lane++) {
      const float rate = rates[lane], middle = 1 + 2 * rate;
      float last_factor = 0, last = 0;
      for (std::ptrdiff_t i = 0; i < kSize; i++) {
        const float scale = 1 / (middle + rate * last_factor);
        factor[i] = last_factor = -rate * scale;
        x[i] = last = (states[i] + rate * last) * scale;
      }
      for (std::ptrdiff_t i = kSize - 2; i >= 0; i--) x[i] -= factor[i] * x[i + 1];
      x += kSize, states += kSize;
    }
    return {result};
  };
  return {.name = "batches/tridiagonal_systems",
          .program = trace(program, f32({kLanes}), f32({kLanes, kSize})),
          .arguments = {uniform_floats({kLanes}, 0.1, 5), uniform_floats({kLanes, kSize}, 0, 1, 2)},
          .plain = plain};
}

/// Principal stresses: eigenvalues of symmetric 3 x 3 matrices, by cyclic rotations (Jacobi).
Workload principal_stresses() {
  constexpr std::int64_t kLanes = 1000, kSweeps = 5;
  // Rotates the plane p, q, in which the third axis has the off-diagonal elements rp and rq.
  const auto rotate = [](Tensor& pp, Tensor& qq, Tensor& pq, Tensor& rp, Tensor& rq) {
    const Tensor theta = (qq - pp) / (2 * where(pq == 0, 1e-30f, pq));
    const Tensor t = where(theta >= 0, 1.0f, -1.0f) / (abs(theta) + sqrt(theta * theta + 1));
    const Tensor c = rsqrt(t * t + 1), s = t * c, old = rp;
    pp = pp - t * pq;
    qq = qq + t * pq;
    pq = zeros(f32());
    rp = c * old - s * rq;
    rq = s * old + c * rq;
  };
  const auto program = [&](Tensor stresses) {
    const auto principal = [&](Tensor a) {
      const auto sweep = [&](Tensor, std::array<Tensor, 6> m) {
        auto& [xx, yy, zz, xy, xz, yz] = m;
        rotate(xx, yy, xy, xz, yz);
        rotate(xx, zz, xz, xy, yz);
        rotate(yy, zz, yz, xy, xz);
        return m;
      };
      const auto m =
          fori_loop(0, kSweeps, sweep, std::array<Tensor, 6>{a[0], a[1], a[2], a[3], a[4], a[5]});
      return sort(stack(0, m[0], m[1], m[2]));
    };
    return vmap(principal)(stresses);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float* stresses = arguments[0].data<float>().data();
    Literal result = Literal::uninitialized(f32({kLanes, 3}));
    float* values = result.mutable_data<float>().data();
    const auto turn = [](float& pp, float& qq, float& pq, float& rp, float& rq) {
      const float theta = (qq - pp) / (2 * (pq == 0 ? 1e-30f : pq));
      const float t =
          (theta >= 0 ? 1.0f : -1.0f) / (std::abs(theta) + std::sqrt(theta * theta + 1));
      const float c = 1 / std::sqrt(t * t + 1), s = t * c, old = rp;
      pp -= t * pq;
      qq += t * pq;
      pq = 0;
      rp = c * old - s * rq;
      rq = s * old + c * rq;
    };
    for (std::ptrdiff_t lane = 0; lane < kLanes; lane++) {
      const float* a = stresses + 6 * lane;
      float xx = a[0], yy = a[1], zz = a[2], xy = a[3], xz = a[4], yz = a[5];
      for (std::ptrdiff_t sweep = 0; sweep < kSweeps; sweep++) {
        turn(xx, yy, xy, xz, yz);
        turn(xx, zz, xz, xy, yz);
        turn(yy, zz, yz, xy, xz);
      }
      float* out = values + 3 * lane;
      out[0] = xx, out[1] = yy, out[2] = zz;
      std::sort(out, out + 3);
    }
    return {result};
  };
  return {.name = "batches/principal_stresses",
          .program = trace(program, f32({kLanes, 6})),
          .arguments = {uniform_floats({kLanes, 6}, -1, 1)},
          .plain = plain};
}

/// Systems of 6 equations by elimination without pivots, each row of a matrix in turn.
Workload small_systems() {
  constexpr std::int64_t kLanes = 500, kSize = 6;
  const auto program = [&](Tensor matrices, Tensor rights) {
    const auto solve = [&](Tensor matrix, Tensor right) {
      const Tensor index = arange(kSize);
      const auto eliminate = [&](Tensor k, Tensor a, Tensor b) {
        const Tensor pivot = a[k] / at(a, {k, k}), value = b[k] / at(a, {k, k});
        const Tensor factors = where(index == k, 0, column(a, k));
        return std::tuple(update(a - outer(factors, pivot), k, pivot),
                          update(b - factors * value, k, value));
      };
      return std::get<1>(fori_loop(0, kSize, eliminate, std::tuple(matrix, right)));
    };
    return vmap(solve)(matrices, rights);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const double* matrix = arguments[0].data<double>().data();
    Literal result = arguments[1];
    double* b = result.mutable_data<double>().data();
    for (std::ptrdiff_t lane = 0; lane < kLanes; lane++, matrix += kSize * kSize, b += kSize) {
      double a[kSize][kSize];
      std::copy_n(matrix, kSize * kSize, &a[0][0]);
      for (std::ptrdiff_t k = 0; k < kSize; k++) {
        const double scale = 1 / a[k][k];
        for (std::ptrdiff_t j = k; j < kSize; j++) a[k][j] *= scale;
        b[k] *= scale;
        for (std::ptrdiff_t i = 0; i < kSize; i++) {
          if (i == k) continue;
          const double factor = a[i][k];
          for (std::ptrdiff_t j = k; j < kSize; j++) a[i][j] -= factor * a[k][j];
          b[i] -= factor * b[k];
        }
      }
    }
    return {result};
  };
  Literal matrices = uniform_doubles({kLanes, kSize, kSize}, -1, 1);
  const auto elements = matrices.mutable_data<double>();
  for (std::size_t lane = 0; lane < kLanes; lane++)
    for (std::size_t i = 0; i < kSize; i++)
      elements[lane * kSize * kSize + i * (kSize + 1)] += 2.0 * kSize;
  return {.name = "batches/small_systems",
          .program = trace(program, matrices.type(), f64({kLanes, kSize})),
          .arguments = {matrices, uniform_doubles({kLanes, kSize}, -1, 1, 2)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> small_matrix_workloads() {
  return {tridiagonal_systems(), principal_stresses(), small_systems()};
}

}  // namespace rondo::bench
