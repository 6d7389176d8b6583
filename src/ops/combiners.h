// The common reducers: the regions of sum, prod, max, min, any and all, and how kernels know them
// again.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "base/for_dtype.h"
#include "lower/scalar.h"
#include "ops/support.h"
#include "rondo/function.h"

namespace rondo::ops {

enum class Combiner : std::uint8_t { kOther, kAdd, kMultiply, kMaximum, kMinimum, kAnd, kOr };

/// The region `(T a, T b) -> a op b` on scalars of the dtype. Made once for each dtype and shared
/// by all that use it.
const Function& combiner_region(Combiner combiner, DType dtype);

/// What a region of two scalar parameters computes, if it is a single one of these ops on both of
/// them; else kOther.
Combiner known_combiner(const Function& region);

/// The scalar that changes nothing when combined with any value: 0, 1, the least or greatest value,
/// all or no bits.
Literal combiner_identity(Combiner combiner, DType dtype);

/// `add`, `maximum`, ...
std::string_view combiner_name(Combiner combiner);
std::span<const std::string_view> field_words(Combiner combiner);

/// a op b, element by element.
Tensor combined(Combiner combiner, const Tensor& a, const Tensor& b, SourceLocation at);

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

/// A combiner on host elements: what the opcode means (lower/arithmetic.h), of complex numbers part
/// by part. f16 and bf16 round each result.
template <lower::Opcode code>
struct CombineElements {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kIsComplex<T>) {
      using N = lower::Scalar<typename T::value_type>;
      const lower::Complex<N> x{N(a.real()), N(a.imag())}, y{N(b.real()), N(b.imag())};
      const lower::Complex<N> z = code == lower::Opcode::kAdd ? x + y : x * y;
      return T(z.re.v, z.im.v);
    } else {
      return lower::binary<code, T>(a, b);
    }
  }
};
using AddElements = CombineElements<lower::Opcode::kAdd>;
using MultiplyElements = CombineElements<lower::Opcode::kMultiply>;
using MaximumElements = CombineElements<lower::Opcode::kMax>;
using MinimumElements = CombineElements<lower::Opcode::kMin>;
using AndElements = CombineElements<lower::Opcode::kAnd>;
using OrElements = CombineElements<lower::Opcode::kOr>;

/// Calls f.template operator()<T, Combine>() with the element type and the function object of a
/// known combiner. Sums, products and bits of signed integers are those of the unsigned ones, which
/// T is then. A combiner that the dtype lacks (the maximum of complex numbers, the bits of floats)
/// throws InternalError.
template <class F>
void with_combiner(Combiner combiner, DType dtype, F&& f) {
  const bool compares = combiner == Combiner::kMaximum || combiner == Combiner::kMinimum;
  if (is_signed_integer(dtype) && !compares) dtype = unsigned_dtype(byte_width(dtype));
  for_dtype(dtype, [&]<class T>() {
    if constexpr (!kIsComplex<T>) {
      if (combiner == Combiner::kMaximum) return f.template operator()<T, MaximumElements>();
      if (combiner == Combiner::kMinimum) return f.template operator()<T, MinimumElements>();
    }
    if constexpr (!std::is_integral_v<T> || std::is_unsigned_v<T>) {
      if (combiner == Combiner::kAdd) return f.template operator()<T, AddElements>();
      if (combiner == Combiner::kMultiply) return f.template operator()<T, MultiplyElements>();
      if constexpr (std::is_integral_v<T>) {
        if (combiner == Combiner::kAnd) return f.template operator()<T, AndElements>();
        if (combiner == Combiner::kOr) return f.template operator()<T, OrElements>();
      }
    }
    throw InternalError("a combiner that the dtype does not have");
  });
}

}  // namespace rondo::ops
