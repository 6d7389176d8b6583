// Jacobi rotations of pairs of rows, on the host and as Tensor code. Complex rows are first
// multiplied by a phase, so that their product is real.
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
  template <class E>
  void turn(E* p, E* q, std::int64_t n) const {
    for (std::int64_t k = 0; k < n; k++) {
      const E x = p[k], y = q[k];
      p[k] = cosine * x - sine * y;
      q[k] = sine * x + cosine * y;
    }
  }
};

/// The number of magnitude 1 by which a complex product has to be divided to be its magnitude; also
/// of a subnormal one.
template <class T>
std::complex<T> phase_of(std::complex<T> product) {
  const std::complex<T> scaled = product / extent(product);
  return scaled / std::abs(scaled);
}
template <class T>
void multiply_row(T* row, T factor, std::int64_t n) {
  for (std::int64_t k = 0; k < n; k++) row[k] = times(row[k], factor);
}

/// The dtype's epsilon: of f32 or f64, or of the parts.
double epsilon_of(DType dtype);
/// x divided by real numbers of its precision.
Tensor divided(const Tensor& x, const Tensor& divisor);
/// s32 vectors of all p and q with p < q < n, in the order of a sweep; of one
/// element if there are none.
std::pair<Tensor, Tensor> pairs_of(std::int64_t n);
/// A Rotation, in the dtype of the rows. Row q is multiplied by `phase` first, which real rows have
/// none of.
struct Turn {
  Tensor cosine, sine, phase;
};
/// That for zeta = difference / (2 product), or for its magnitude; none, unless `rotates`.
Turn turn_of(const Tensor& difference, const Tensor& product, const Tensor& rotates);
/// With the conjugate of the phase.
Turn conjugated(const Turn& turn);
/// x with rows p and q turned.
Tensor turned_rows(const Tensor& x, const Tensor& p, const Tensor& q, const Turn& turn);

}  // namespace rondo::ops
