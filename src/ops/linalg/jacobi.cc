#include "ops/linalg/jacobi.h"

#include <vector>

#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

double epsilon_of(DType dtype) {
  return magnitude_dtype(dtype) == DType::kF32
             ? static_cast<double>(std::numeric_limits<float>::epsilon())
             : std::numeric_limits<double>::epsilon();
}

Tensor divided(const Tensor& x, const Tensor& divisor) {
  return is_complex(x.dtype()) ? complex(real(x) / divisor, imag(x) / divisor) : x / divisor;
}

std::pair<Tensor, Tensor> pairs_of(std::int64_t n) {
  std::vector<std::int32_t> ps, qs;
  for (std::int32_t p = 0; p < n; p++) {
    for (std::int32_t q = p + 1; q < n; q++) {
      ps.push_back(p);
      qs.push_back(q);
    }
  }
  if (ps.empty()) ps = qs = {0};  // for a loop of no trips
  return {constant(ps), constant(qs)};
}

Turn turn_of(const Tensor& difference, const Tensor& product, const Tensor& rotates) {
  const DType dtype = product.dtype();
  Tensor size = product, phase;
  if (is_complex(dtype)) {
    size = abs(product);
    const Tensor extent = maximum(abs(real(product)), abs(imag(product)));
    const Tensor scaled = where(rotates, divided(product, where(rotates, extent, 1)), 1);
    phase = divided(scaled, abs(scaled));
  }
  const Tensor zeta = difference / where(rotates, 2 * size, 1);
  const Tensor root = hypot(zeta, 1);
  const Tensor tangent =
      where(rotates, where(zeta < 0, -1, ones(zeta.type())) / (abs(zeta) + root), 0);
  const Tensor cosine = 1 / sqrt(tangent * tangent + 1);
  return {in_dtype(cosine, dtype), in_dtype(tangent * cosine, dtype), phase};
}

Turn conjugated(const Turn& turn) {
  return {turn.cosine, turn.sine, turn.phase.empty() ? turn.phase : conj(turn.phase)};
}

Tensor turned_rows(const Tensor& x, const Tensor& p, const Tensor& q, const Turn& turn) {
  const Tensor row = x[p], other = turn.phase.empty() ? x[q] : turn.phase * x[q];
  return update(update(x, p, turn.cosine * row - turn.sine * other), q,
                turn.sine * row + turn.cosine * other);
}

}  // namespace rondo::ops
