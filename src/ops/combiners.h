// The common reducers: the regions of sum, prod, max, min, any and all, and how kernels know them
// again.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>

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
void print_field(std::string& out, Combiner combiner);

/// a op b, element by element.
Tensor combined(Combiner combiner, const Tensor& a, const Tensor& b, SourceLocation at);

// The combiners on host elements. Integers wrap; a pred adds as `or` and multiplies as `and`; f16
// and bf16 round each result.

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;
template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

struct AddElements {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a | b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else if constexpr (kIsHalf<T>)
      return T(static_cast<float>(a) + static_cast<float>(b));
    else
      return a + b;
  }
};

struct MultiplyElements {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a & b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else if constexpr (kIsHalf<T>)
      return T(static_cast<float>(a) * static_cast<float>(b));
    else if constexpr (kIsComplex<T>)
      return T(a.real() * b.real() - a.imag() * b.imag(),
               a.real() * b.imag() + a.imag() * b.real());
    else
      return a * b;
  }
};

/// Any NaN gives NaN; 0 is above -0.
struct MaximumElements {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kIsHalf<T>)
      return choose(a, b, static_cast<float>(a), static_cast<float>(b));
    else if constexpr (std::is_floating_point_v<T>)
      return choose(a, b, a, b);
    else
      return a > b ? a : b;
  }
  template <class T, class F>
  static T choose(T a, T b, F x, F y) {
    if (x == y) return std::signbit(x) ? b : a;
    return x > y || x != x ? a : b;
  }
};

struct MinimumElements {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kIsHalf<T>)
      return choose(a, b, static_cast<float>(a), static_cast<float>(b));
    else if constexpr (std::is_floating_point_v<T>)
      return choose(a, b, a, b);
    else
      return a < b ? a : b;
  }
  template <class T, class F>
  static T choose(T a, T b, F x, F y) {
    if (x == y) return std::signbit(x) ? a : b;
    return x < y || x != x ? a : b;
  }
};

struct AndElements {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct OrElements {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

/// Calls f with the function object of a known combiner. `T` is the element type: a combiner that
/// it lacks (the maximum of complex numbers, the bits of floats) throws InternalError.
template <class T, class F>
void with_combiner(Combiner combiner, F&& f) {
  switch (combiner) {
    case Combiner::kAdd:
      return f(AddElements{});
    case Combiner::kMultiply:
      return f(MultiplyElements{});
    case Combiner::kMaximum:
      if constexpr (!kIsComplex<T>) return f(MaximumElements{});
      break;
    case Combiner::kMinimum:
      if constexpr (!kIsComplex<T>) return f(MinimumElements{});
      break;
    case Combiner::kAnd:
      if constexpr (std::is_integral_v<T>) return f(AndElements{});
      break;
    case Combiner::kOr:
      if constexpr (std::is_integral_v<T>) return f(OrElements{});
      break;
    case Combiner::kOther:
      break;
  }
  throw InternalError("a combiner that the dtype does not have");
}

}  // namespace rondo::ops
