// Products of large matrices by OpenBLAS, where the library was built with it.
#pragma once

#include <cstdint>

#include "ir/kernel.h"

namespace rondo::ops {

/// out (m x n, dense) = a b, where a is m x count and b is count x n; a swapped operand lies as its
/// transpose. Panels of rows are split over host.threads(), each on one thread of the library's.
/// False, and nothing is done, where the library is not there or does not have numbers for such
/// sizes.
bool blas_multiply(const float* a, bool a_swapped, const float* b, bool b_swapped, std::int64_t m,
                   std::int64_t count, std::int64_t n, float* out, ir::Host& host);
bool blas_multiply(const double* a, bool a_swapped, const double* b, bool b_swapped, std::int64_t m,
                   std::int64_t count, std::int64_t n, double* out, ir::Host& host);

}  // namespace rondo::ops
