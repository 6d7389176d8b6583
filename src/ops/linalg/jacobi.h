// Jacobi rotations of pairs of rows, on the host and as Tensor code.
#pragma once

#include <cmath>
#include <utility>

#include "ops/linalg/linalg.h"

namespace rondo::ops {

/// Sweeps over all pairs of rows; ten are rarely needed.
inline constexpr int kSweeps = 40;

/// The rotation that makes two rows orthogonal, from half the difference of their squared norms (or
/// of two elements of a diagonal) over their product.
template <class T>
struct Rotation {
  T tangent, cosine, sine;
  explicit Rotation(T zeta)
      : tangent((zeta < 0 ? T(-1) : T(1)) / (std::abs(zeta) + std::hypot(zeta, T(1)))),
        cosine(1 / std::sqrt(tangent * tangent + 1)),
        sine(tangent * cosine) {}
  void turn(T* p, T* q, std::int64_t n) const {
    for (std::int64_t k = 0; k < n; k++) {
      const T x = p[k], y = q[k];
      p[k] = cosine * x - sine * y;
      q[k] = sine * x + cosine * y;
    }
  }
};

/// The dtype's epsilon: of f32 or f64.
double epsilon_of(DType dtype);
/// s32 vectors of all p and q with p < q < n, in the order of a sweep; of one
/// element if there are none.
std::pair<Tensor, Tensor> pairs_of(std::int64_t n);
/// Cosine and sine of the Rotation for zeta = difference / twice_product; of none, unless
/// `rotates`.
std::pair<Tensor, Tensor> rotation_of(const Tensor& difference, const Tensor& twice_product,
                                      const Tensor& rotates);
/// x with rows p and q turned.
Tensor turned_rows(const Tensor& x, const Tensor& p, const Tensor& q, const Tensor& cosine,
                   const Tensor& sine);

}  // namespace rondo::ops
