// OpenBLAS, and products of large matrices by it, if the build includes it.
#pragma once

#include <cstdint>

#include "ir/kernel.h"

namespace rondo::ops {

/// out (m x n, dense) = a b, where a is m x count and b is count x n; a swapped operand is stored
/// as its transpose. Panels of rows are split over host.threads(), each on one thread of the
/// library. False, without any effect, if the library is not available or its integers cannot hold
/// the sizes.
bool blas_multiply(const float* a, bool a_swapped, const float* b, bool b_swapped, std::int64_t m,
                   std::int64_t count, std::int64_t n, float* out, ir::Host& host);
bool blas_multiply(const double* a, bool a_swapped, const double* b, bool b_swapped, std::int64_t m,
                   std::int64_t count, std::int64_t n, double* out, ir::Host& host);

/// The address of a function of the shared OpenBLAS, on one thread; null where it is not available,
/// lacks the function, or is linked statically.
void* openblas_function(const char* name);

}  // namespace rondo::ops
