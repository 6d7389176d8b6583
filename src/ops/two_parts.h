// Numbers as sums of two f64, for intermediate results whose rounding a function magnifies: T. J.
// Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik
// 18, 1971. Without fused multiplications, so that text gives the same bits.
#pragma once

#include "rondo/tensor.h"

namespace rondo::ops {

/// The sum of both; `low` is below an ulp of `high`, or little more.
struct TwoParts {
  Tensor high, low;
};

TwoParts sum_in_parts(const Tensor& a, const Tensor& b);
/// The program must use `high` too: alone, the product would be fused with the difference from it.
TwoParts product_in_parts(const Tensor& a, const Tensor& b);
/// a / b.
TwoParts quotient_in_parts(const Tensor& a, const Tensor& b);
/// log(x), with an error of about 2^-65 of it, for a positive x above 2^-1022.
TwoParts log_in_parts(const TwoParts& x);

}  // namespace rondo::ops
