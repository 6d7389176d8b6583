// Products of large matrices by vector instructions of this machine.
#pragma once

#include <cstdint>

#include "ir/kernel.h"

namespace rondo::ops {

/// out (m x n, dense) = a b, where a is m x count and b is count x n; a swapped operand lies as its
/// transpose. Split over host.threads(), and polls. An element is added up in the order of its
/// terms, by fused multiply-adds, in partial sums of kSummedTerms; so it depends on its row and
/// column alone, not on the sizes or the threads. False, and nothing is done, on machines without
/// AVX-512.
bool vector_multiply(const float* a, bool a_swapped, const float* b, bool b_swapped, std::int64_t m,
                     std::int64_t count, std::int64_t n, float* out, ir::Host& host);
bool vector_multiply(const double* a, bool a_swapped, const double* b, bool b_swapped,
                     std::int64_t m, std::int64_t count, std::int64_t n, double* out,
                     ir::Host& host);

}  // namespace rondo::ops
