// How an elementwise op comes from its mathematics.
//
// An op is a functor that computes one element, and the dtypes that it takes:
//
//     struct Sin {
//       template <class T>
//       T operator()(T x) const { return std::sin(x); }
//     };
//     const OpDef kSin = elementwise<1, Sin, kInexact>(
//         {.name = "sin", .hlo = "sine", .stablehlo = "stablehlo.sine"});
//
// The record's type rule follows from the functor's result type and its kernel is a loop over it.
// The functor never sees f16 or bf16: they are computed in float and rounded once.
#pragma once

#include <complex>
#include <type_traits>
#include <utility>

#include "ops/elementwise.h"

// Says that the trips of the next loop are independent although the output may be one of the
// inputs: each trip reads its elements before it writes one. Otherwise g++ takes the slow way
// whenever an op works in place. (clang has such a pragma too, but warns wherever a loop is beyond
// it, as most that call a function of libm are.)
#if defined(__clang__)
#define RONDO_INDEPENDENT_TRIPS
#else
#define RONDO_INDEPENDENT_TRIPS _Pragma("GCC ivdep")
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

constexpr Kinds kind_of(DType dtype) {
  return is_pred(dtype)               ? kPreds
         : is_signed_integer(dtype)   ? kSigned
         : is_unsigned_integer(dtype) ? kUnsigned
         : is_complex(dtype)          ? kComplexes
         : byte_width(dtype) == 2     ? kHalves
                                      : kFullFloats;
}

/// Throws TraceError unless all operands have one type, of a dtype among `kinds`.
void check_elementwise(const InferContext& context, Kinds kinds);

/// Computes n elements; the result may be one of the operands.
using ElementLoop = void (*)(const std::byte* const* operands, std::byte* result, std::int64_t n);
/// A kernel that runs a loop over dense operands, in blocks between which it polls. The result may
/// take the place of any operand whose elements have its width.
std::unique_ptr<ir::Kernel> elementwise_kernel(const Node& node, ElementLoop loop);

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

template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
/// What the functor gets for an element type.
template <class T>
using Computed = std::conditional_t<is_half<T>, float, T>;

/// What the functor F gives on `arity` elements of type T.
template <class F, class T, int arity, class... Elements>
struct FunctorResult : FunctorResult<F, T, arity - 1, T, Elements...> {};
template <class F, class T, class... Elements>
struct FunctorResult<F, T, 0, Elements...> : std::invoke_result<F, Elements...> {};

/// The element type of the result: a float that was computed for halves becomes one of them again.
template <class F, class T, int arity,
          class R = typename FunctorResult<F, Computed<T>, arity>::type>
using ResultElement = std::conditional_t<is_half<T> && std::is_same_v<R, float>, T, R>;

template <int arity, class F, Kinds kinds>
InferredTypes infer_elementwise(const InferContext& context) {
  check_elementwise(context, kinds);
  const TensorType& x = ir::type_of(context.operands[0]);
  DType dtype{};
  for_kinds<kinds>(x.dtype, [&]<class T>() { dtype = dtype_of<ResultElement<F, T, arity>>; });
  InferredTypes types;
  types.push_back({dtype, x.shape});
  return types;
}

/// The dtypes for which the result has the operands' own.
template <int arity, class F, Kinds kinds>
constexpr ir::DTypes kept_dtypes() {
  ir::DTypes kept = 0;
  for (std::size_t i = 0; i < kDTypeCount; i++) {
    const DType dtype = static_cast<DType>(i);
    for_dtype(dtype, [&]<class T>() {
      if constexpr ((kinds & kind_of(dtype_of<T>)) != 0) {
        if (std::is_same_v<ResultElement<F, T, arity>, T>) kept |= ir::dtypes(dtype);
      }
    });
  }
  return kept;
}

template <int arity, class F, class T>
void elementwise_loop(const std::byte* const* operands, std::byte* result, std::int64_t n) {
  using R = ResultElement<F, T, arity>;
  const T* a = reinterpret_cast<const T*>(operands[0]);
  const T* b = arity > 1 ? reinterpret_cast<const T*>(operands[1]) : nullptr;
  const T* c = arity > 2 ? reinterpret_cast<const T*>(operands[2]) : nullptr;
  R* to = reinterpret_cast<R*>(result);
  const F f;
  RONDO_INDEPENDENT_TRIPS
  for (std::int64_t i = 0; i < n; i++) {
    using C = Computed<T>;
    if constexpr (arity == 1)
      to[i] = R(f(C(a[i])));
    else if constexpr (arity == 2)
      to[i] = R(f(C(a[i]), C(b[i])));
    else
      to[i] = R(f(C(a[i]), C(b[i]), C(c[i])));
  }
}

template <int arity, class F, Kinds kinds>
std::unique_ptr<ir::Kernel> prepare_elementwise(const Node& node) {
  ElementLoop loop = nullptr;
  for_kinds<kinds>(node.operand_type(0).dtype,
                   [&]<class T>() { loop = elementwise_loop<arity, F, T>; });
  return elementwise_kernel(node, loop);
}

/// Completes a record from the functor F(element...) that computes it.
template <int arity, class F, Kinds kinds>
constexpr OpDef elementwise(OpDef op) {
  op.arity = arity;
  op.types.infer = infer_elementwise<arity, F, kinds>;
  op.kernel.prepare = prepare_elementwise<arity, F, kinds>;
  op.cost = ir::Cost::kElementwise;
  op.structure.elementwise = true;
  op.types.keeps_dtypes = kept_dtypes<arity, F, kinds>();
  return op;
}

}  // namespace rondo::ops
