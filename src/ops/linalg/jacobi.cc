#include "ops/linalg/jacobi.h"

#include <vector>

#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

double epsilon_of(DType dtype) {
  return dtype == DType::kF32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                              : std::numeric_limits<double>::epsilon();
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

std::pair<Tensor, Tensor> rotation_of(const Tensor& difference, const Tensor& twice_product,
                                      const Tensor& rotates) {
  const Tensor zeta = difference / where(rotates, twice_product, 1);
  const Tensor root = hypot(zeta, 1);
  const Tensor tangent =
      where(rotates, where(zeta < 0, -1, Tensor(zeta * 0 + 1)) / (abs(zeta) + root), 0);
  const Tensor cosine = 1 / sqrt(tangent * tangent + 1);
  return {cosine, tangent * cosine};
}

Tensor turned_rows(const Tensor& x, const Tensor& p, const Tensor& q, const Tensor& cosine,
                   const Tensor& sine) {
  const Tensor row = x[p], other = x[q];
  return update(update(x, p, cosine * row - sine * other), q, sine * row + cosine * other);
}

}  // namespace rondo::ops
