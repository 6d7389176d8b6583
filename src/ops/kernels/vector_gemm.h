// Products of large matrices by vector instructions.
#pragma once

#include <cstdint>

#include "ir/kernel.h"

namespace rondo::ops {

// T is float or double.

/// out (m x n, dense) = a b, where a is m x count and b is count x n; a swapped operand is stored
/// as its transpose. Split over host.threads(), and polls. Each element adds its terms in order, by
/// fused multiply-adds, in partial sums of kSummedTerms; so it depends on its row and column alone,
/// not on the sizes or the threads. False, without any effect, on machines without AVX-512.
template <class T>
bool vector_multiply(const T* a, bool a_swapped, const T* b, bool b_swapped, std::int64_t m,
                     std::int64_t count, std::int64_t n, T* out, ir::Host& host);

/// out -= a b, of matrices whose rows, as they are stored, are at these distances.
template <class T>
bool vector_subtract_product(const T* a, std::int64_t a_row, bool a_swapped, const T* b,
                             std::int64_t b_row, bool b_swapped, std::int64_t m, std::int64_t count,
                             std::int64_t n, T* out, std::int64_t out_row, ir::Host& host);

/// The size of b packed in the order in which it is read, for products of several a with it; 0 on
/// machines without AVX-512.
template <class T>
std::int64_t packed_elements(std::int64_t count, std::int64_t n);
/// Packs b.
template <class T>
void pack_right_side(const T* b, bool b_swapped, std::int64_t count, std::int64_t n, T* to);
/// vector_multiply() with a packed b: the same bits.
template <class T>
bool vector_multiply_packed(const T* a, bool a_swapped, const T* packed, std::int64_t m,
                            std::int64_t count, std::int64_t n, T* out, ir::Host& host);

}  // namespace rondo::ops
