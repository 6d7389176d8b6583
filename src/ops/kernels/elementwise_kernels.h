// How an elementwise op comes from its mathematics.
//
// An op is a functor that computes one element, and the dtypes that it takes:
//
//     struct Sin {
//       template <lower::Float N>
//       N operator()(N x) const { return lower::math::sin(x); }
//     };
//     const OpDef kSin = elementwise<1, Sin, kInexact>(
//         {.name = "sin", .hlo = "sine", .stablehlo = "stablehlo.sine"});
//
// The record's type rule follows from the functor's result type, its kernel is a loop over it, and
// its element code is what it writes to a Builder: it is a template over numbers
// (lower/number.h). Of a complex number it gets the parts if it takes a lower::Complex<N>, else a
// std::complex, of which there is no element code. The functor never sees f16 or bf16: they are
// computed in f32 and rounded once.
#pragma once

#include <complex>
#include <functional>
#include <type_traits>
#include <utility>

#include "base/cpu.h"
#include "base/small_format.h"
#include "lower/scalar.h"
#include "ops/element_rules.h"
#include "ops/elementwise.h"

// Says that the trips of the next loop are independent although the output may be one of the
// inputs: each trip reads its elements before it writes one. Otherwise g++ takes the slow way
// whenever an op works in place. (clang has such a pragma too, but warns wherever a loop is beyond
// it, as most that call a function of libm are.)
//
// What a loop over elements calls is inlined into it: by g++ since the loop is [[gnu::flatten]], by
// clang, which looks one call far, since each function on the way says so.
#if defined(__clang__)
#define RONDO_INDEPENDENT_TRIPS
#define RONDO_PART_OF_LOOP [[gnu::always_inline, gnu::flatten]]
#else
#define RONDO_INDEPENDENT_TRIPS _Pragma("GCC ivdep")
#define RONDO_PART_OF_LOOP
#endif

namespace rondo::ops {

/// Sets of dtypes, one bit a kind.
using Kinds = unsigned;
inline constexpr Kinds kPreds = 1, kSigned = 2, kUnsigned = 4, kHalves = 8, kFullFloats = 16,
                       kComplexes = 32;
inline constexpr Kinds kIntegers = kSigned | kUnsigned;
inline constexpr Kinds kFloats = kHalves | kFullFloats;
inline constexpr Kinds kInexact = kFloats | kComplexes;
inline constexpr Kinds kNumbers = kIntegers | kInexact;
inline constexpr Kinds kOrdered = kPreds | kIntegers | kFloats;
inline constexpr Kinds kAllKinds = kPreds | kNumbers;

constexpr Kinds kind_of(DType dtype) {
  return is_pred(dtype)               ? kPreds
         : is_signed_integer(dtype)   ? kSigned
         : is_unsigned_integer(dtype) ? kUnsigned
         : is_complex(dtype)          ? kComplexes
         : byte_width(dtype) <= 2     ? kHalves
                                      : kFullFloats;
}

/// The integers of a float's width.
constexpr DType bits_dtype(DType dtype) {
  return byte_width(dtype) == 2 ? DType::kS16 : byte_width(dtype) == 4 ? DType::kS32 : DType::kS64;
}

/// Throws TraceError unless all operands have one type, of a dtype among `kinds`.
void check_elementwise(const InferContext& context, Kinds kinds);

/// Computes n elements; the result may be one of the operands.
using ElementLoop = void (*)(const std::byte* const* operands, std::byte* result, std::int64_t n);
/// A kernel that runs a loop over dense operands, in blocks between which it polls. The result may
/// take the place of any operand whose elements have its width.
std::unique_ptr<ir::Kernel> elementwise_kernel(
    const Node& node,
    std::function<void(const std::byte* const* operands, std::byte* result, std::int64_t n)> loop);
/// The same, but if the operands are halves the loop is one of f32, from which a result in halves
/// is rounded.
std::unique_ptr<ir::Kernel> computing_kernel(const Node& node, ElementLoop loop);
/// What such a loop computes in.
constexpr DType loop_dtype(DType dtype) { return kind_of(dtype) == kHalves ? DType::kF32 : dtype; }
constexpr Kinds loop_kinds(Kinds kinds) {
  return kinds & kHalves ? (kinds & ~kHalves) | kFullFloats : kinds;
}

/// Calls f.template operator()<T>() for a dtype of `kinds`; for the others f is not even compiled.
template <Kinds kinds, class F>
void for_kinds(DType dtype, F&& f) {
  for_dtype(dtype, [&]<class T>() {
    if constexpr ((kinds & kind_of(dtype_of<T>)) != 0)
      f.template operator()<T>();
    else
      throw InternalError("an elementwise op on a dtype that its type rule refuses");
  });
}

using lower::Computed;
using lower::is_half;

/// What the functor gets for an element.
template <int arity, class F, bool usual = false, class T>
auto argument_of(T x) {
  if constexpr (is_complex(dtype_of<T>)) {
    using N = lower::Scalar<typename T::value_type, usual>;
    if constexpr (takes_numbers<arity, F, lower::Complex<N>>)
      return lower::Complex<N>{N(x.real()), N(x.imag())};
    else
      return x;
  } else {
    return lower::Scalar<Computed<T>, usual>(static_cast<Computed<T>>(x));
  }
}

/// The element that the functor has given.
template <class T>
T element_from(T x) {
  return x;
}
template <class T, bool usual>
T element_from(lower::Scalar<T, usual> x) {
  return x.v;
}
template <class T, bool usual>
std::complex<T> element_from(lower::Complex<lower::Scalar<T, usual>> z) {
  return {z.re.v, z.im.v};
}
inline bool element_from(lower::ScalarMask mask) { return mask.v; }

/// f(x...) on elements.
template <class F, bool usual = false, class... T>
RONDO_PART_OF_LOOP inline auto computed_element(T... x) {
  constexpr int arity = sizeof...(T);
  return element_from(F()(argument_of<arity, F, usual>(x)...));
}

/// The element type of the result: a float that was computed for halves becomes one of them again.
template <class F, class T, int arity>
auto result_element(T x) {
  if constexpr (arity == 1)
    return computed_element<F>(x);
  else if constexpr (arity == 2)
    return computed_element<F>(x, x);
  else
    return computed_element<F>(x, x, x);
}
template <class F, class T, int arity,
          class R = decltype(result_element<F, T, arity>(std::declval<T>()))>
using ResultElement = std::conditional_t<is_half<T> && std::is_same_v<R, float>, T, R>;

template <int arity, class F, Kinds kinds>
InferredTypes infer_elementwise(const InferContext& context) {
  check_elementwise(context, kinds);
  const TensorType& x = ir::type_of(context.operands[0]);
  const DType computed = computing_dtype(x.dtype);
  DType dtype{};
  for_kinds<kinds>(computed, [&]<class T>() { dtype = dtype_of<ResultElement<F, T, arity>>; });
  InferredTypes types;
  types.push_back({dtype == computed ? x.dtype : dtype, x.shape});
  return types;
}

/// The dtypes for which the result has the operands' own.
template <int arity, class F, Kinds kinds>
constexpr ir::DTypes kept_dtypes() {
  ir::DTypes kept = 0;
  for (std::size_t i = 0; i < kDTypeCount; i++) {
    const DType dtype = static_cast<DType>(i);
    for_dtype(computing_dtype(dtype), [&]<class T>() {
      if constexpr ((kinds & kind_of(dtype_of<T>)) != 0) {
        if (std::is_same_v<ResultElement<F, T, arity>, T>) kept |= ir::dtypes(dtype);
      }
    });
  }
  return kept;
}

/// A functor whose code is mostly sums of products that are rounded once. Where the processor has
/// instructions for them, of which a compiler that builds for all processors must not know, the
/// kernel is a loop that was compiled for these processors.
struct UsesFma {};

/// Of functors with elements that are rare(x): these ask the C library, which would keep the others
/// from being computed in vectors.
template <class F, class T>
concept HasRareElements = std::is_floating_point_v<T> && requires(lower::Scalar<T> x) {
  F::rare(x);
};

template <class F, class T, class R>
RONDO_PART_OF_LOOP inline void compute_with_rare_elements(const T* from, R* to, std::int64_t n) {
  constexpr std::int64_t kBlock = 64;
  T x[kBlock];  // the result may be the operand
  for (std::int64_t at = 0; at < n; at += kBlock, from += kBlock, to += kBlock) {
    const std::int64_t count = std::min(kBlock, n - at);
    unsigned rare = 0;
    for (std::int64_t i = 0; i < count; i++) {
      x[i] = from[i];
      rare |= F::rare(argument_of<1, F, true>(from[i])).v;
    }
    for (std::int64_t i = 0; i < count; i++) to[i] = R(computed_element<F, true>(x[i]));
    for (std::int64_t i = 0; rare && i < count; i++) {
      if (F::rare(argument_of<1, F>(x[i])).v) to[i] = R(computed_element<F>(x[i]));
    }
  }
}

template <int arity, class F, class T>
RONDO_PART_OF_LOOP inline void compute_elements(const std::byte* const* operands, std::byte* result,
                                                std::int64_t n) {
  using R = ResultElement<F, T, arity>;
  const T* a = reinterpret_cast<const T*>(operands[0]);
  [[maybe_unused]] const T* b = arity > 1 ? reinterpret_cast<const T*>(operands[1]) : nullptr;
  [[maybe_unused]] const T* c = arity > 2 ? reinterpret_cast<const T*>(operands[2]) : nullptr;
  R* to = reinterpret_cast<R*>(result);
  if constexpr (HasRareElements<F, T>) {
    compute_with_rare_elements<F>(a, to, n);
  } else {
    RONDO_INDEPENDENT_TRIPS
    for (std::int64_t i = 0; i < n; i++) {
      if constexpr (arity == 1)
        to[i] = R(computed_element<F>(a[i]));
      else if constexpr (arity == 2)
        to[i] = R(computed_element<F>(a[i], b[i]));
      else
        to[i] = R(computed_element<F>(a[i], b[i], c[i]));
    }
  }
}

template <int arity, class F, class T>
[[gnu::flatten]] void elementwise_loop(const std::byte* const* operands, std::byte* result,
                                       std::int64_t n) {
  compute_elements<arity, F, T>(operands, result, n);
}

#ifdef __x86_64__
/// The same for processors that has_fma_loops() names.
template <int arity, class F, class T>
[[gnu::flatten, gnu::target("avx2,fma")]] void fma_loop(const std::byte* const* operands,
                                                        std::byte* result, std::int64_t n) {
  compute_elements<arity, F, T>(operands, result, n);
}
inline bool has_fma_loops() { return cpu().avx2; }
#endif

template <int arity, class F, class T>
ElementLoop element_loop() {
#ifdef __x86_64__
  if constexpr (std::is_base_of_v<UsesFma, F> && std::is_floating_point_v<T>) {
    if (has_fma_loops()) return fma_loop<arity, F, T>;
  }
#endif
  return elementwise_loop<arity, F, T>;
}

template <int arity, class F, Kinds kinds>
std::unique_ptr<ir::Kernel> prepare_elementwise(const Node& node) {
  ElementLoop loop = nullptr;
  for_kinds<loop_kinds(kinds)>(loop_dtype(node.operand_type(0).dtype),
                               [&]<class T>() { loop = element_loop<arity, F, T>(); });
  return computing_kernel(node, loop);
}

/// The dtypes for which the functor is element code.
template <int arity, class F, Kinds kinds>
constexpr ir::DTypes element_dtypes() {
  using std::complex;
  const auto takes = []<class N>(Kinds of) {
    return (kinds & of) != 0 && takes_numbers<arity, F, N>;
  };
  ir::DTypes taken = 0;
  for (std::size_t i = 0; i < kDTypeCount; i++) {
    const DType dtype = static_cast<DType>(i);
    const Kinds kind = kind_of(dtype);
    const bool takes_it =
        kind == kComplexes
            ? takes.template operator()<lower::Complex<lower::Expression<float>>>(kind)
        : (kind & kFloats) ? takes.template operator()<lower::Expression<float>>(kind)
                           : takes.template operator()<lower::Expression<std::int64_t>>(kind);
    if (takes_it) taken |= ir::dtypes(dtype);
  }
  return taken;
}

/// Completes a record from the functor F(element...) that computes it.
template <int arity, class F, Kinds kinds>
constexpr OpDef elementwise(OpDef op) {
  op.arity = arity;
  op.types.infer = infer_elementwise<arity, F, kinds>;
  op.kernel.prepare = prepare_elementwise<arity, F, kinds>;
  op.structure.element_dtypes = element_dtypes<arity, F, kinds>();
  op.structure.element = op.structure.element_dtypes != 0 ? element_of<arity, F> : nullptr;
  op.cost = ir::Cost::kElementwise;
  op.structure.elementwise = true;
  op.types.keeps_dtypes = kept_dtypes<arity, F, kinds>();
  return op;
}

}  // namespace rondo::ops
