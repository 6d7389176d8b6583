#include "ops/stirling.h"

#include <array>

#include "lower/special_functions.h"
#include "ops/tensor_number.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/special.h"

namespace rondo::ops {

Tensor stirling_rest(const Tensor& a) {
  const TensorNumber w{1 / a};
  return (w * lower::math::polynomial(
                  w * w, std::array{1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                                    -691.0 / 360360, 1.0 / 156, -3617.0 / 122400}))
      .t;
}

Tensor minus_log(const Tensor& x, const Tensor& ratio) {
  // log(1 + x) = 2 atanh(r) with r = x / (2 + x), and x - 2r = x r.
  const Tensor near = abs(x) < 0.5;
  const Tensor held = where(near, x, 0), r = held / (held + 2), z = r * r;
  Tensor series = z / 35;
  for (int k = 33; k >= 5; k -= 2) series = z * (1.0 / k + series);
  return where(near, held * r - 2 * (r * z) * (1.0 / 3 + series), x - log(ratio));
}

Tensor lgamma1p(const Tensor& a) {
  const Tensor near = a <= 0.5, held = where(near, a, 0);
  const Tensor by_series =
      held * lower::math::polynomial(TensorNumber{held}, lower::math::kLgammaNearTwo).t -
      log1p(held);
  return where(near, by_series, lgamma(1 + a));
}

}  // namespace rondo::ops
