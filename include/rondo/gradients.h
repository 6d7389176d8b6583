// Derivatives: forward and reverse, of any order, in any nesting.
//
// Each takes a function of trees of tensors and returns one. The returned function takes tensors,
// literals and C++ scalars, inside and outside of traces, can be copied, and can be called through
// a const reference. Integer and pred leaves have no derivative: if a differentiated tree contains
// them, the result has zeros of the same type in their place.
//
// Complex numbers follow JAX: nothing is conjugated, so the gradient of a real function of z = x +
// iy is df/dx - i df/dy, and that of a holomorphic one is f'(z).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/call_checks.h"
#include "rondo/detail/custom_derivatives.h"
#include "rondo/detail/function_on_leaves.h"
#include "rondo/detail/gradients.h"
#include "rondo/detail/why.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// Options of check_grads.
struct CheckGradsOptions {
  /// Derivatives up to this order, from 1. The work doubles with each order if both modes are
  /// checked.
  int order = 1;
  /// "fwd": jvp against differences. "rev": vjp against jvp, or without "fwd" against differences,
  /// which functions with a custom_vjp rule require.
  std::vector<std::string> modes = {"fwd", "rev"};
  /// The step of the differences. 0: the cube root of the dtype's epsilon, 6.1e-6 for f64 and c128,
  /// 4.9e-3 if an f32 or c64 is among the arguments or results. Elements larger than 1 are moved by
  /// this fraction of their size.
  double step = 0;
  /// Relative to the largest number of a leaf. 0: 1e-6 for f64 and c128, 2e-3 for f32 and c64. The
  /// rounding error of the differences is allowed for in addition.
  double tolerance = 0;
  /// Seed of the random directions and cotangents.
  std::uint64_t seed = 1;
};

/// The gradient of f, which returns one float (or complex) scalar: a tree like argument 0, or like
/// argument I; for several I a tuple of them. Throws TraceError if f returns no scalar, if a
/// requested argument has no float leaf, and if f uses an op that has no derivative.
template <std::size_t... I, class F>
auto grad(F&& f, SourceLocation at = SourceLocation::current()) {
  return detail::derived<detail::Grad, I...>(std::forward<F>(f), at);
}

/// The value of f and its gradient, pair{f(args...), gradient}, for one pass of f. Arguments and
/// errors as for grad.
template <std::size_t... I, class F>
auto value_and_grad(F&& f, SourceLocation at = SourceLocation::current()) {
  return detail::derived<detail::ValueAndGrad, I...>(std::forward<F>(f), at);
}

/// The Jacobian by forward mode, with a tangent per element of the argument and one pass of f: for
/// tall Jacobians. Its shape is the result's followed by the argument's. Throws like grad.
template <std::size_t... I, class F>
auto jacfwd(F&& f, SourceLocation at = SourceLocation::current()) {
  return detail::derived<detail::ForwardJacobian, I...>(std::forward<F>(f), at);
}

/// The Jacobian by reverse mode, with a cotangent per element of the result after one pass of f:
/// for wide Jacobians. Shape and errors as for jacfwd.
template <std::size_t... I, class F>
auto jacrev(F&& f, SourceLocation at = SourceLocation::current()) {
  return detail::derived<detail::ReverseJacobian, I...>(std::forward<F>(f), at);
}

/// Second derivatives of a function of one tensor, forward over reverse: the result's shape (none
/// for a scalar), followed by the argument's twice. Throws like grad.
template <class F>
auto hessian(F&& f, SourceLocation at = SourceLocation::current()) {
  return jacfwd(jacrev(std::forward<F>(f), at), at);
}

// clang-format off
template <std::size_t... I, class F, std::integral N, detail::Why kWhy = "rondo: C++ has to know the argument while it compiles: rondo::grad<1>(f), of several rondo::grad<0, 2>(f)"> void grad(F&&, N) = delete;
template <std::size_t... I, class F, detail::Why kWhy = "rondo: C++ has to know the argument while it compiles: rondo::grad<1>(f), of several rondo::grad<0, 2>(f)"> void grad(F&&, std::initializer_list<int>) = delete;
template <std::size_t... I, class F, std::integral N, detail::Why kWhy = "rondo: C++ has to know the argument while it compiles: rondo::value_and_grad<1>(f), of several rondo::value_and_grad<0, 2>(f)"> void value_and_grad(F&&, N) = delete;
template <std::size_t... I, class F, detail::Why kWhy = "rondo: C++ has to know the argument while it compiles: rondo::value_and_grad<1>(f), of several rondo::value_and_grad<0, 2>(f)"> void value_and_grad(F&&, std::initializer_list<int>) = delete;
template <std::size_t... I, class F, std::integral N, detail::Why kWhy = "rondo: C++ has to know the argument while it compiles: rondo::jacfwd<1>(f), of several rondo::jacfwd<0, 2>(f)"> void jacfwd(F&&, N) = delete;
template <std::size_t... I, class F, detail::Why kWhy = "rondo: C++ has to know the argument while it compiles: rondo::jacfwd<1>(f), of several rondo::jacfwd<0, 2>(f)"> void jacfwd(F&&, std::initializer_list<int>) = delete;
template <std::size_t... I, class F, std::integral N, detail::Why kWhy = "rondo: C++ has to know the argument while it compiles: rondo::jacrev<1>(f), of several rondo::jacrev<0, 2>(f)"> void jacrev(F&&, N) = delete;
template <std::size_t... I, class F, detail::Why kWhy = "rondo: C++ has to know the argument while it compiles: rondo::jacrev<1>(f), of several rondo::jacrev<0, 2>(f)"> void jacrev(F&&, std::initializer_list<int>) = delete;
template <class F, std::integral N, detail::Why kWhy = "rondo: hessian is of the first argument; of another it is rondo::jacfwd<1>(rondo::jacrev<1>(f))"> void hessian(F&&, N) = delete;
template <class F, detail::Why kWhy = "rondo: hessian is of the first argument; of another it is rondo::jacfwd<1>(rondo::jacrev<1>(f))"> void hessian(F&&, std::initializer_list<int>) = delete;
// clang-format on

/// f(primals...) and the derivative along tangents: pair{out, tangent of out}. Both tuples hold one
/// tree per argument; tangents have the types of their primals. Throws TraceError if a tangent has
/// another shape or dtype, and if f uses a function that only custom_vjp can differentiate.
template <class F, class... Primals, class... Tangents>
[[nodiscard("rondo: jvp returns the value and its tangent; use them")]] auto jvp(
    F&& f, const std::tuple<Primals...>& primals, const std::tuple<Tangents...>& tangents,
    SourceLocation at = SourceLocation::current()) {
  using Called = const std::remove_cvref_t<F>;
  constexpr detail::CallFault fault = detail::kCallFault<std::decay_t<F>, Primals...>;
  [[maybe_unused]] constexpr bool fine = detail::check_call<fault>();
  static_assert(sizeof...(Primals) == sizeof...(Tangents),
                "rondo: jvp takes as many tangents as primals");
  const Called& called = f;
  return std::apply(
      [&](const auto&... given) {
        return detail::with_passed<std::decay_t<F>, fault>(
            at,
            [&](const auto&... args) {
              static_assert((TreeConvertible<Tangents, traced_t<decltype(args)>> && ...),
                            "rondo: each tangent of jvp must be a tree like its primal");
              using Out = detail::result_of_t<Called, std::remove_cvref_t<decltype(args)>...>;
              const detail::Leaves moved = detail::leaves_of(tangents, "tangent", at);
              detail::check_same_structure("jvp: the tuple of tangents",
                                           TreeStructure::of_all(args...), moved.structure,
                                           "tangent", at);
              std::optional<Out> prototype;
              const detail::JvpLeaves both =
                  detail::jvp(detail::function_on_leaves(called, prototype, "jvp", at, args...),
                              detail::argument_leaves(at, args...), moved.values, at);
              return std::pair<Out, Out>(detail::whole_tree_from(*prototype, both.results),
                                         detail::whole_tree_from(*prototype, both.tangents));
            },
            given...);
      },
      primals);
}

/// f(primals...) and a function from a cotangent of its result to a tuple of cotangents of the
/// primals: pair{out, pullback}. Errors of the pullback name the line of its own call.
#define RONDO_VJP(types, names, params, args)                                        \
  template <class F RONDO_UNPACK types>                                              \
  [[nodiscard("rondo: vjp returns the value and its pullback; use them")]] auto vjp( \
      F&& f, RONDO_UNPACK params SourceLocation at = SourceLocation::current()) {    \
    constexpr detail::CallFault fault =                                              \
        detail::kCallFault<std::remove_cvref_t<F> RONDO_UNPACK names>;               \
    [[maybe_unused]] constexpr bool fine = detail::check_call<fault>();              \
    return detail::vjp_at<std::remove_cvref_t<F>, fault>(at, f RONDO_UNPACK args);   \
  }
RONDO_FOR_UP_TO_SIX(RONDO_VJP)
#undef RONDO_VJP

/// The same values, through which no derivative passes.
template <class Tree>
[[nodiscard(
    "rondo: stop_gradient returns the values that are held fixed; use them")]] traced_t<Tree>
stop_gradient(const Tree& tree, SourceLocation at = SourceLocation::current()) {
  return transform_leaves<Tensor>(
      tree, [&](const auto& leaf) { return detail::stop_gradient(Tensor(leaf), at); });
}

/// f as a function of which reverse mode stores only the arguments: the backward pass recomputes
/// the rest.
template <class F>
auto checkpoint(F&& f, SourceLocation at = SourceLocation::current()) {
  return detail::Checkpointed<std::decay_t<F>>(std::forward<F>(f), at);
}

/// f with a custom derivative: rule(primals, tangents) takes two tuples, one entry per argument,
/// and returns pair{result, tangent}; the tangent must be linear in the tangents. It serves forward
/// and reverse mode.
template <class F, class Rule>
auto custom_jvp(F&& f, Rule&& rule, SourceLocation at = SourceLocation::current()) {
  return detail::CustomJvp<std::decay_t<F>, std::decay_t<Rule>>(std::forward<F>(f),
                                                                std::forward<Rule>(rule), at);
}

/// f with a custom reverse derivative: fwd(args...) returns pair{result, residuals}, bwd(residuals,
/// cotangent) a tuple of cotangents, one per argument. Forward mode through it is an error.
template <class F, class Fwd, class Bwd>
auto custom_vjp(F&& f, Fwd&& fwd, Bwd&& bwd, SourceLocation at = SourceLocation::current()) {
  return detail::CustomVjp<std::decay_t<F>, std::decay_t<Fwd>, std::decay_t<Bwd>>(
      std::forward<F>(f), std::forward<Fwd>(fwd), std::forward<Bwd>(bwd), at);
}

/// Compares the derivatives of f at these arguments with central differences, and reverse mode with
/// forward mode, along random directions: for the tests of programs that are differentiated,
/// especially those with custom rules.
///
///     check_grads(f, std::tuple(x, state), {.order = 2, .modes = {"fwd", "rev"}});
///
/// `args` is a tuple, one entry per argument: trees of tensors, literals and C++ scalars. f returns
/// a tree. f64 and c128 give sharp checks, f32 and c64 coarser ones. Integers and preds, and what a
/// lambda captures, are held fixed.
///
/// Throws Error if a derivative is wrong; its text names the leaf and element, both numbers, the
/// order and modes, and what to look at. Throws TraceError if there is nothing to differentiate,
/// for f16 and bf16 leaves, inside traces, and for unknown options.
template <class F, class... Args>
void check_grads(const F& f, const std::tuple<Args...>& args, const CheckGradsOptions& options = {},
                 SourceLocation at = SourceLocation::current()) {
  constexpr detail::CallFault fault = detail::kCallFault<F, Args...>;
  if constexpr (detail::check_call<fault>()) {
    std::optional<detail::result_of_t<const F, Args...>> prototype;
    std::apply(
        [&](const auto&... each) {
          detail::check_grads(detail::function_on_leaves(f, prototype, "check_grads", at, each...),
                              detail::argument_leaves(at, each...), options, at);
        },
        args);
  }
}

}  // namespace rondo
