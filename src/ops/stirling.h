// Parts of gamma functions of large arguments, as Tensor code on f64.
#pragma once

#include "rondo/tensor.h"

namespace rondo::ops {

/// lgamma(a) - (a - 1/2) log(a) + a - log(2 pi) / 2 for a >= 8, by Stirling's series.
Tensor stirling_rest(const Tensor& a);
/// x - log(ratio) with ratio = 1 + x, accurate for both near and far from 0.
Tensor minus_log(const Tensor& x, const Tensor& ratio);
/// lgamma(1 + a) for a >= 0, accurate near 0.
Tensor lgamma1p(const Tensor& a);
/// lgamma(a + b) - lgamma(a) for a > 0 and 0 <= b <= 1, accurate for a small b.
Tensor lgamma_rise(const Tensor& a, const Tensor& b);

/// log beta(a, b) for 0 < a <= b.
Tensor betaln_of_positive(const Tensor& a, const Tensor& b);

}  // namespace rondo::ops
