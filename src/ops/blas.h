// Products of large matrices by OpenBLAS, where the library was built with it.
#pragma once

#include <cstdint>

#include "ir/kernel.h"

namespace rondo::ops {

/// out (m x n, dense) = a b, where a is m x count and b is count x n; a swapped operand lies as its
/// transpose. On one thread. False where the product is better done otherwise, and nothing was.
bool blas_multiply(const float* a, bool a_swapped, const float* b, bool b_swapped, std::int64_t m,
                   std::int64_t count, std::int64_t n, float* out, ir::Host& host);
bool blas_multiply(const double* a, bool a_swapped, const double* b, bool b_swapped, std::int64_t m,
                   std::int64_t count, std::int64_t n, double* out, ir::Host& host);

}  // namespace rondo::ops
