// A tile of the result, 12 rows of two vectors, stays in registers while a block of terms is added
// to it. The right side is packed into strips of that width, which stay in the first-level cache
// while the rows are processed; the left side is read in place, an element at a time. A packed
// right side has all of these strips: of the first terms, then of the next.
#include "ops/kernels/vector_gemm.h"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>

#include "base/cpu.h"
#include "base/parallel.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define RONDO_VECTOR_GEMM 1
#include <immintrin.h>
#endif

namespace rondo::ops {

#ifdef RONDO_VECTOR_GEMM

// The rest of the library runs on any x86-64.
#define RONDO_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))

namespace {

/// Threshold: Terms of a strip of the right side, 32 kB: it must stay in the first cache. Not
/// measured.
constexpr std::int64_t kSummedTerms = 256;
/// Threshold: Bytes of the right side that are copied at a time: they must stay in the second
/// cache. Not measured.
constexpr std::int64_t kCopiedBytes = std::int64_t{512} << 10;
/// Threshold: Rows of a tile, in registers: more loads are shared until registers run out. Set by
/// scan_rnn in bench/anchors: 235 GFLOP/s with 12 rows, 215 with 8.
constexpr int kTileRows = 12;
/// Threshold: Rows from which copying the right side pays. Not measured.
constexpr std::int64_t kLeastRowsForCopy = std::int64_t{2} * kTileRows;

// The same instructions for both types, except for their suffixes.
#define RONDO_VECTORS(Name, Element, Vector, MaskOfLanes, end)                                     \
  struct Name {                                                                                    \
    using T = Element;                                                                             \
    using V = Vector;                                                                              \
    using Mask = MaskOfLanes;                                                                      \
    static constexpr int kLanes = 64 / static_cast<int>(sizeof(T));                                \
    RONDO_AVX512 static V zero() { return _mm512_setzero_##end(); }                                \
    RONDO_AVX512 static V load(Mask mask, const T* p) {                                            \
      return _mm512_maskz_loadu_##end(mask, p);                                                    \
    }                                                                                              \
    RONDO_AVX512 static V all(T x) { return _mm512_set1_##end(x); }                                \
    RONDO_AVX512 static V add(V a, V b) { return _mm512_add_##end(a, b); }                         \
    RONDO_AVX512 static V subtract(V a, V b) { return _mm512_sub_##end(a, b); }                    \
    RONDO_AVX512 static V fma(V a, V b, V c) { return _mm512_fmadd_##end(a, b, c); }               \
    RONDO_AVX512 static void store(T* p, Mask mask, V v) { _mm512_mask_storeu_##end(p, mask, v); } \
  }
RONDO_VECTORS(F32, float, __m512, __mmask16, ps);
RONDO_VECTORS(F64, double, __m512d, __mmask8, pd);
#undef RONDO_VECTORS

template <class S>
struct Matrix {
  const typename S::T* data;
  std::int64_t row, column;  // strides, one of them 1

  const typename S::T* at(std::int64_t i, std::int64_t k) const {
    return data + i * row + k * column;
  }
};

/// The lanes of the two vectors of a tile with `columns` columns.
template <class S>
struct Masks {
  typename S::Mask first, second;

  explicit Masks(std::int64_t columns) : first(of(columns)), second(of(columns - S::kLanes)) {}
  static typename S::Mask of(std::int64_t lanes) {
    return static_cast<typename S::Mask>((1u << std::clamp<std::int64_t>(lanes, 0, S::kLanes)) - 1);
  }
};

/// What a sum of terms does with the element of the result.
enum class OfSum : std::uint8_t { kSet, kAdd, kSubtract };

/// A tile of the result: `count` terms of kRows rows of a and of two vectors of b.
template <class S, int kRows>
RONDO_AVX512 void multiply_tile(Matrix<S> a, const typename S::T* b, std::int64_t b_row,
                                std::int64_t count, typename S::T* out, std::int64_t out_row,
                                Masks<S> masks, OfSum effect) {
  using T = typename S::T;
  using V = typename S::V;
  V sums[kRows][2];
  for (int i = 0; i < kRows; i++) sums[i][0] = sums[i][1] = S::zero();
  // A base for every three rows: the others are that plus one or two strides.
  const T* bases[(kRows + 2) / 3];
  for (int i = 0; i < kRows; i += 3) bases[i / 3] = a.data + i * a.row;
  for (std::int64_t k = 0; k < count; k++) {
    const V first = S::load(masks.first, b), second = S::load(masks.second, b + S::kLanes);
    b += b_row;
#pragma GCC unroll 12
    for (int i = 0; i < kRows; i++) {
      const V left = S::all(bases[i / 3][(i % 3) * a.row]);
      sums[i][0] = S::fma(left, first, sums[i][0]);
      sums[i][1] = S::fma(left, second, sums[i][1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kRows; i += 3) bases[i / 3] += a.column;
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; i++) {
    T* to = out + i * out_row;
    if (effect != OfSum::kSet) {
      const V first = S::load(masks.first, to), second = S::load(masks.second, to + S::kLanes);
      const bool adds = effect == OfSum::kAdd;
      sums[i][0] = adds ? S::add(first, sums[i][0]) : S::subtract(first, sums[i][0]);
      sums[i][1] = adds ? S::add(second, sums[i][1]) : S::subtract(second, sums[i][1]);
    }
    S::store(to, masks.first, sums[i][0]);
    S::store(to + S::kLanes, masks.second, sums[i][1]);
  }
}

/// All rows of a strip of the result.
template <class S>
RONDO_AVX512 void multiply_strip(Matrix<S> a, const typename S::T* b, std::int64_t b_row,
                                 std::int64_t m, std::int64_t count, typename S::T* out,
                                 std::int64_t out_row, Masks<S> masks, OfSum effect) {
  std::int64_t i = 0;
  const auto left = [&] { return Matrix<S>{a.at(i, 0), a.row, a.column}; };
  for (; i + kTileRows <= m; i += kTileRows)
    multiply_tile<S, kTileRows>(left(), b, b_row, count, out + i * out_row, out_row, masks, effect);
  for (; i + 8 <= m; i += 8)
    multiply_tile<S, 8>(left(), b, b_row, count, out + i * out_row, out_row, masks, effect);
  for (; i + 4 <= m; i += 4)
    multiply_tile<S, 4>(left(), b, b_row, count, out + i * out_row, out_row, masks, effect);
  for (; i < m; i++)
    multiply_tile<S, 1>(left(), b, b_row, count, out + i * out_row, out_row, masks, effect);
}

/// The quarters 0 and 2, or 1 and 3, of two registers.
RONDO_AVX512 __m512d even(__m512d x, __m512d y) {
  return __builtin_shufflevector(x, y, 0, 1, 4, 5, 8, 9, 12, 13);
}
RONDO_AVX512 __m512d odd(__m512d x, __m512d y) {
  return __builtin_shufflevector(x, y, 2, 3, 6, 7, 10, 11, 14, 15);
}

/// Transposes sixteen rows of sixteen floats.
RONDO_AVX512 void transpose_square(const float* from, std::int64_t from_row, float* to,
                                   std::int64_t to_row) {
  __m512 rows[16];
  __m512d a[16], b[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i++) rows[i] = _mm512_loadu_ps(from + i * from_row);
    // In each quarter of a register the same: pairs of rows, then groups of four.
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    a[i] = _mm512_castps_pd(__builtin_shufflevector(rows[i], rows[i + 1], 0, 16, 1, 17, 4, 20, 5,
                                                    21, 8, 24, 9, 25, 12, 28, 13, 29));
    a[i + 1] = _mm512_castps_pd(__builtin_shufflevector(rows[i], rows[i + 1], 2, 18, 3, 19, 6, 22,
                                                        7, 23, 10, 26, 11, 27, 14, 30, 15, 31));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    for (int j = 0; j < 2; j++) {
      b[i + 2 * j] = __builtin_shufflevector(a[i + j], a[i + j + 2], 0, 8, 2, 10, 4, 12, 6, 14);
      b[i + 2 * j + 1] = __builtin_shufflevector(a[i + j], a[i + j + 2], 1, 9, 3, 11, 5, 13, 7, 15);
    }
  }
  // Now quarter q of b[4 g + c] has column 4 q + c of the rows 4 g to 4 g + 3.
#pragma GCC unroll 4
  for (int c = 0; c < 4; c++) {
    const __m512d even_low = even(b[c], b[4 + c]), even_high = even(b[8 + c], b[12 + c]),
                  odd_low = odd(b[c], b[4 + c]), odd_high = odd(b[8 + c], b[12 + c]);
    _mm512_storeu_ps(to + c * to_row, _mm512_castpd_ps(even(even_low, even_high)));
    _mm512_storeu_ps(to + (8 + c) * to_row, _mm512_castpd_ps(odd(even_low, even_high)));
    _mm512_storeu_ps(to + (4 + c) * to_row, _mm512_castpd_ps(even(odd_low, odd_high)));
    _mm512_storeu_ps(to + (12 + c) * to_row, _mm512_castpd_ps(odd(odd_low, odd_high)));
  }
}

/// Copies a strip of the right side, row by row, padded with zero columns.
template <class S>
RONDO_AVX512 void copy_strip(Matrix<S> b, std::int64_t count, std::int64_t columns,
                             typename S::T* to) {
  using T = typename S::T;
  constexpr std::int64_t kWidth = 2 * S::kLanes;
  if (b.column == 1) {
    const Masks<S> masks(columns);
    for (std::int64_t k = 0; k < count; k++) {
      const T* from = b.at(k, 0);
      S::store(to + k * kWidth, Masks<S>::of(S::kLanes), S::load(masks.first, from));
      S::store(to + k * kWidth + S::kLanes, Masks<S>::of(S::kLanes),
               S::load(masks.second, from + S::kLanes));
    }
    return;
  }
  std::int64_t whole = 0;  // terms that are transposed in squares
  if constexpr (S::kLanes == 16) {
    if (columns == kWidth) {
      for (; whole + 16 <= count; whole += 16) {
        for (std::int64_t j = 0; j < kWidth; j += 16)
          transpose_square(b.at(whole, j), b.column, to + whole * kWidth + j, kWidth);
      }
    }
  }
  for (std::int64_t j = 0; j < kWidth; j++) {
    for (std::int64_t k = whole; k < count; k++)
      to[k * kWidth + j] = j < columns ? *b.at(k, j) : T(0);
  }
}

/// The right side of a product: in place, or packed into all its strips.
template <class S>
struct RightSide {
  static constexpr std::int64_t kWidth = 2 * S::kLanes;
  Matrix<S> matrix{};
  const typename S::T* strips = nullptr;

  static std::int64_t padded(std::int64_t columns) {
    return (columns + kWidth - 1) / kWidth * kWidth;
  }
  /// The strip of `terms` terms from k on that begins with column j of n.
  const typename S::T* strip(std::int64_t k, std::int64_t terms, std::int64_t j,
                             std::int64_t n) const {
    return strips + k * padded(n) + j * terms;
  }
};

template <class S>
void multiply_rows(Matrix<S> a, const RightSide<S>& b, std::int64_t m, std::int64_t count,
                   std::int64_t n, typename S::T* out, std::int64_t out_row, bool subtracts,
                   ir::Host* host) {
  using T = typename S::T;
  constexpr std::int64_t kWidth = RightSide<S>::kWidth;
  const bool copies = !b.strips && (m >= kLeastRowsForCopy || b.matrix.column != 1);
  const std::int64_t terms = std::min(count, kSummedTerms),
                     block = std::max(kCopiedBytes / (terms * std::int64_t{sizeof(T)}) / kWidth,
                                      std::int64_t{1}) *
                             kWidth;
  constexpr std::size_t kLine = 64;
  struct Free {
    void operator()(T* memory) const { ::operator delete (memory, std::align_val_t{kLine}); }
  };
  std::unique_ptr<T, Free> copy;
  if (copies) {
    const std::int64_t elements = RightSide<S>::padded(std::min(n, block)) * terms;
    copy.reset(static_cast<T*>(
        ::operator new (static_cast<std::size_t>(elements) * sizeof(T), std::align_val_t{kLine})));
  }
  // Threshold: Rows of the left side that stay in cache beside a strip. Not measured.
  constexpr std::int64_t kPanelRows = std::int64_t{8} * kTileRows;
  std::optional<ir::Poller> poller;
  if (host) poller.emplace(*host);
  for (std::int64_t first = 0; first < n; first += block) {
    const std::int64_t columns = std::min(block, n - first);
    for (std::int64_t k = 0; k < count; k += kSummedTerms) {
      const std::int64_t length = std::min(kSummedTerms, count - k);
      const OfSum effect = subtracts ? OfSum::kSubtract : k > 0 ? OfSum::kAdd : OfSum::kSet;
      for (std::int64_t i = 0; i < m; i += kPanelRows) {
        const std::int64_t rows = std::min(kPanelRows, m - i);
        for (std::int64_t j = 0; j < columns; j += kWidth) {
          const std::int64_t width = std::min(kWidth, columns - j);
          const T* right = nullptr;
          std::int64_t right_row = kWidth;
          if (b.strips) {
            right = b.strip(k, length, first + j, n);
          } else if (copies) {
            T* const strip = copy.get() + j * length;
            if (i == 0)
              copy_strip<S>({b.matrix.at(k, first + j), b.matrix.row, b.matrix.column}, length,
                            width, strip);
            right = strip;
          } else {
            right = b.matrix.at(k, first + j);
            right_row = b.matrix.row;
          }
          multiply_strip<S>({a.at(i, k), a.row, a.column}, right, right_row, rows, length,
                            out + i * out_row + first + j, out_row, Masks<S>(width), effect);
          if (poller) poller->did(rows * length * width / 64);
          if (earlier_piece_failed()) return;  // the caller's, which polls
        }
      }
    }
  }
}

bool is_here() { return cpu().avx512; }

template <class S>
bool multiply(Matrix<S> left, const RightSide<S>& right, std::int64_t m, std::int64_t count,
              std::int64_t n, typename S::T* out, std::int64_t out_row, bool subtracts,
              ir::Host& host) {
  if (!is_here()) return false;
  // Threshold: Products of a part for a thread: it must take longer than waking one. Not measured;
  // matmul512 with two threads in bench/anchors runs it.
  constexpr std::int64_t kLeastProducts = std::int64_t{1} << 25;
  const std::int64_t share = std::max((m + host.threads() - 1) / host.threads(),
                                      kLeastProducts / (count * n)),
                     rows = share / kTileRows * kTileRows + kTileRows;
  const std::thread::id caller = std::this_thread::get_id();
  parallel_for((m + rows - 1) / rows, host.threads(), [&](std::int64_t number) {
    const std::int64_t first = number * rows;
    multiply_rows<S>({left.at(first, 0), left.row, left.column}, right, std::min(rows, m - first),
                     count, n, out + first * out_row, out_row, subtracts,
                     std::this_thread::get_id() == caller ? &host : nullptr);
  });
  return true;
}

template <class S>
void pack(Matrix<S> b, std::int64_t count, std::int64_t n, typename S::T* to) {
  constexpr std::int64_t kWidth = RightSide<S>::kWidth;
  for (std::int64_t k = 0; k < count; k += kSummedTerms) {
    const std::int64_t length = std::min(kSummedTerms, count - k);
    for (std::int64_t j = 0; j < n; j += kWidth) {
      copy_strip<S>({b.at(k, j), b.row, b.column}, length, std::min(kWidth, n - j), to);
      to += length * kWidth;
    }
  }
}

template <class T>
using VectorsOf = std::conditional_t<std::is_same_v<T, float>, F32, F64>;

}  // namespace

template <class T>
bool vector_multiply(const T* a, bool a_swapped, const T* b, bool b_swapped, std::int64_t m,
                     std::int64_t count, std::int64_t n, T* out, ir::Host& host) {
  return multiply<VectorsOf<T>>({a, a_swapped ? 1 : count, a_swapped ? m : 1},
                                {{b, b_swapped ? 1 : n, b_swapped ? count : 1}}, m, count, n, out,
                                n, false, host);
}

template <class T>
bool vector_subtract_product(const T* a, std::int64_t a_row, bool a_swapped, const T* b,
                             std::int64_t b_row, bool b_swapped, std::int64_t m, std::int64_t count,
                             std::int64_t n, T* out, std::int64_t out_row, ir::Host& host) {
  return multiply<VectorsOf<T>>({a, a_swapped ? 1 : a_row, a_swapped ? a_row : 1},
                                {{b, b_swapped ? 1 : b_row, b_swapped ? b_row : 1}}, m, count, n,
                                out, out_row, true, host);
}

template <class T>
std::int64_t packed_elements(std::int64_t count, std::int64_t n) {
  return is_here() ? RightSide<VectorsOf<T>>::padded(n) * count : 0;
}

template <class T>
void pack_right_side(const T* b, bool b_swapped, std::int64_t count, std::int64_t n, T* to) {
  pack<VectorsOf<T>>({b, b_swapped ? 1 : n, b_swapped ? count : 1}, count, n, to);
}

template <class T>
bool vector_multiply_packed(const T* a, bool a_swapped, const T* packed, std::int64_t m,
                            std::int64_t count, std::int64_t n, T* out, ir::Host& host) {
  return multiply<VectorsOf<T>>({a, a_swapped ? 1 : count, a_swapped ? m : 1}, {{}, packed}, m,
                                count, n, out, n, false, host);
}

#undef RONDO_AVX512

#else

template <class T>
bool vector_multiply(const T*, bool, const T*, bool, std::int64_t, std::int64_t, std::int64_t, T*,
                     ir::Host&) {
  return false;
}
template <class T>
bool vector_subtract_product(const T*, std::int64_t, bool, const T*, std::int64_t, bool,
                             std::int64_t, std::int64_t, std::int64_t, T*, std::int64_t,
                             ir::Host&) {
  return false;
}
template <class T>
std::int64_t packed_elements(std::int64_t, std::int64_t) {
  return 0;
}
template <class T>
void pack_right_side(const T*, bool, std::int64_t, std::int64_t, T*) {}
template <class T>
bool vector_multiply_packed(const T*, bool, const T*, std::int64_t, std::int64_t, std::int64_t, T*,
                            ir::Host&) {
  return false;
}

#endif

#define RONDO_INSTANTIATE(T)                                                                  \
  template bool vector_multiply(const T*, bool, const T*, bool, std::int64_t, std::int64_t,   \
                                std::int64_t, T*, ir::Host&);                                 \
  template bool vector_subtract_product(const T*, std::int64_t, bool, const T*, std::int64_t, \
                                        bool, std::int64_t, std::int64_t, std::int64_t, T*,   \
                                        std::int64_t, ir::Host&);                             \
  template std::int64_t packed_elements<T>(std::int64_t, std::int64_t);                       \
  template void pack_right_side(const T*, bool, std::int64_t, std::int64_t, T*);              \
  template bool vector_multiply_packed(const T*, bool, const T*, std::int64_t, std::int64_t,  \
                                       std::int64_t, T*, ir::Host&)
RONDO_INSTANTIATE(float);
RONDO_INSTANTIATE(double);
#undef RONDO_INSTANTIATE

}  // namespace rondo::ops
