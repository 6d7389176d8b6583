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
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/loops.h"
#include "rondo/transforms.h"
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

namespace detail {

/// The leaves of a function's arguments; leaf i belongs to argument `owner[i]`.
struct ArgumentLeaves {
  Leaves leaves;
  std::vector<std::size_t> owner;
};

/// A differentiated call: the results, and their tangents.
struct JvpLeaves {
  std::vector<Tensor> results;
  std::vector<Tensor> tangents;
};
/// Maps one cotangent per result to one per argument leaf; called with a location.
using PullbackLeaves = std::function<std::vector<Tensor>(std::span<const Tensor>, SourceLocation)>;
struct VjpLeaves {
  std::vector<Tensor> results;
  PullbackLeaves pullback;
};
struct GradientLeaves {
  Tensor value;
  std::vector<Tensor> gradients;  // of the leaves of the requested arguments
};
/// Jacobians: [result leaf][argument leaf], each of the result's shape followed by the argument's.
struct JacobianLeaves {
  std::vector<Tensor> results;
  std::vector<std::vector<Tensor>> jacobians;
};

RONDO_API JvpLeaves jvp(const RegionCallable& f, const ArgumentLeaves& primals,
                        std::vector<Tensor> tangents, SourceLocation at);
// Not `vjp`: an unqualified vjp(vmap(f), x, y) would find it, and check whether vmap(f) takes
// leaves.
RONDO_API VjpLeaves vjp_leaves(const RegionCallable& f, const ArgumentLeaves& primals,
                               SourceLocation at);
/// `of` are the numbers of the arguments.
RONDO_API GradientLeaves gradient(const RegionCallable& f, const ArgumentLeaves& arguments,
                                  std::span<const std::size_t> of, SourceLocation at);
RONDO_API Tensor stop_gradient(const Tensor& x, SourceLocation at);
RONDO_API std::vector<Tensor> checkpoint(const RegionCallable& f, const Leaves& arguments,
                                         SourceLocation at);
/// `rule` takes primals and tangents, leaf by leaf, and returns results and their tangents.
RONDO_API std::vector<Tensor> custom_jvp(const RegionCallable& f, const RegionCallable& rule,
                                         const Leaves& arguments, SourceLocation at);
/// `fwd` returns results and residuals; `bwd` takes residuals and cotangents, and returns
/// one cotangent per argument leaf.
RONDO_API std::vector<Tensor> custom_vjp(const RegionCallable& f, const RegionCallable& fwd,
                                         const RegionCallable& bwd, const Leaves& arguments,
                                         SourceLocation at);
RONDO_API void check_grads(const RegionCallable& f, const ArgumentLeaves& arguments,
                           const CheckGradsOptions& options, SourceLocation at);
RONDO_API JacobianLeaves jacobian(const RegionCallable& f, const ArgumentLeaves& arguments,
                                  std::span<const std::size_t> of, bool forward, SourceLocation at);

/// Assigns the leaves that belong to no argument yet to this one.
RONDO_API void own_leaves(ArgumentLeaves& all, std::size_t argument);

template <class... Args>
ArgumentLeaves argument_leaves(SourceLocation at, const Args&... args) {
  ArgumentLeaves all;
  std::size_t index = 0;
  [[maybe_unused]] auto add = [&](const auto& arg) {
    append(all.leaves, leaves_of(arg, "arg" + std::to_string(index), at));
    own_leaves(all, index++);
  };
  (add(args), ...);
  return all;
}

/// A tree for each of the arguments I, from their leaves in sequence; a single tree if there is one
/// I.
template <std::size_t... I, class... Args>
auto trees_of_arguments(std::span<const Tensor> leaves, const std::tuple<const Args&...>& args) {
  if constexpr (sizeof...(I) == 1) {
    return tree_from((std::get<I>(args), ...), leaves);
  } else {
    return std::tuple{tree_from(std::get<I>(args), leaves)...};
  }
}

template <class F, std::size_t... I>
class ValueAndGrad : public LocatedCall<ValueAndGrad<F, I...>, F> {
 public:
  ValueAndGrad(F f, SourceLocation at) : f_(std::move(f)), at_(at) {}

  static constexpr const char* kMadeBy = "value_and_grad";
  SourceLocation made_at() const { return at_; }
  /// pair{value, gradient}.
  template <class... Args>
  auto call(SourceLocation at, const Args&... args) const {
    using Out = result_of_t<const F, Args...>;
    static constexpr std::size_t kOf[] = {I...};
    std::optional<Out> prototype;
    const GradientLeaves both = gradient(function_on_leaves(f_, prototype, kMadeBy, at, args...),
                                         argument_leaves(at, args...), kOf, place_of(at, at_));
    return std::pair(both.value, trees_of_arguments<I...>(both.gradients, std::tie(args...)));
  }
  template <class... Args>
  static constexpr CallFault fault_of_call() {
    return ((I >= sizeof...(Args)) || ...)                          ? CallFault::kNoArgument
           : !std::is_same_v<result_of_t<const F, Args...>, Tensor> ? CallFault::kNoScalar
                                                                    : CallFault::kNone;
  }

 private:
  F f_;
  SourceLocation at_;
};

template <class F, std::size_t... I>
class Grad : public LocatedCall<Grad<F, I...>, F> {
 public:
  Grad(F f, SourceLocation at) : both_(std::move(f), at) {}
  static constexpr const char* kMadeBy = "grad";
  SourceLocation made_at() const { return both_.made_at(); }
  template <class... Args>
  auto call(SourceLocation at, const Args&... args) const {
    return both_.call(at, args...).second;
  }
  template <class... Args>
  static constexpr CallFault fault_of_call() {
    return ValueAndGrad<F, I...>::template fault_of_call<Args...>();
  }

 private:
  ValueAndGrad<F, I...> both_;
};

template <class F, bool kForward, std::size_t... I>
class Jacobian : public LocatedCall<Jacobian<F, kForward, I...>, F> {
 public:
  Jacobian(F f, SourceLocation at) : f_(std::move(f)), at_(at) {}
  static constexpr const char* kMadeBy = kForward ? "jacfwd" : "jacrev";
  SourceLocation made_at() const { return at_; }

  /// A function of one tensor that returns a tree gives a tree of Jacobians like its result; one of
  /// trees that returns a tensor gives a tree like its argument; otherwise a tree of trees. If a
  /// struct of tensors cannot hold them, a std::vector has one for each of its leaves.
  template <class... Args>
  auto call(SourceLocation at, const Args&... args) const {
    using Out = result_of_t<const F, Args...>;
    static constexpr std::size_t kOf[] = {I...};
    std::optional<Out> prototype;
    const JacobianLeaves all =
        jacobian(function_on_leaves(f_, prototype, kMadeBy, at, args...),
                 argument_leaves(at, args...), kOf, kForward, place_of(at, at_));
    const auto tied = std::tie(args...);
    const auto row = [&](std::size_t i) {
      return trees_of_arguments<I...>(all.jacobians[i], tied);
    };
    using Row = decltype(row(0));
    std::size_t next = 0;
    if constexpr (std::is_same_v<Out, Tensor>) {
      return row(0);
    } else if constexpr (is_replaceable<Out, Row>()) {
      return rebuild_tree<Row>(*prototype, [&] { return row(next++); });
    } else {
      std::vector<Row> rows;
      while (next < all.jacobians.size()) rows.push_back(row(next++));
      return rows;
    }
  }
  template <class... Args>
  static constexpr CallFault fault_of_call() {
    return ((I >= sizeof...(Args)) || ...) ? CallFault::kNoArgument : CallFault::kNone;
  }

 private:
  F f_;
  SourceLocation at_;
};

/// Maps cotangents of results to a tuple of those of arguments. Can be called repeatedly.
template <class Out, class... Args>
class Pullback {
 public:
  Pullback(PullbackLeaves pull, Out prototype, std::tuple<traced_t<Args>...> arguments)
      : pull_(std::move(pull)),
        prototype_(std::move(prototype)),
        arguments_(std::move(arguments)) {}

  /// Throws TraceError if a cotangent does not fit its result, and if this was moved from.
  template <class Cotangent>
  [[nodiscard("rondo: a pullback returns the cotangents; use them")]] std::tuple<traced_t<Args>...>
  operator()(const Cotangent& cotangent, SourceLocation at = SourceLocation::current()) const {
    static_assert(TreeConvertible<Cotangent, Out>,
                  "rondo: the cotangent must be a tree like the function's result");
    if (!present_) refuse_moved_from("vjp", false, at);
    const Leaves given = leaves_of(tree_cast<Out>(cotangent, at), "cotangent", at);
    check_same_structure("vjp: the cotangent", TreeStructure::of(prototype_), given.structure,
                         "cotangent", at);
    const std::vector<Tensor> pulled = pull_(given.values, at);
    std::span<const Tensor> leaves(pulled);
    return std::apply(
        [&](const auto&... arguments) {
          return std::tuple<traced_t<Args>...>{tree_from(arguments, leaves)...};
        },
        arguments_);
  }

 private:
  PullbackLeaves pull_;
  Out prototype_;
  std::tuple<traced_t<Args>...> arguments_;
  Presence present_;
};

template <template <class, std::size_t...> class Derived, std::size_t... I, class F>
auto derived(F&& f, SourceLocation at) {
  if constexpr (sizeof...(I) == 0)
    return Derived<std::decay_t<F>, 0>(std::forward<F>(f), at);
  else
    return Derived<std::decay_t<F>, I...>(std::forward<F>(f), at);
}
template <class F, std::size_t... I>
using ForwardJacobian = Jacobian<F, true, I...>;
template <class F, std::size_t... I>
using ReverseJacobian = Jacobian<F, false, I...>;

}  // namespace detail

/// The gradient of f, which returns one float (or complex) scalar: a tree like argument 0, or like
/// argument I; for several I a tuple of them. Throws TraceError if f returns no scalar, if a
/// requested argument has no float leaf, and if f uses an op that has no derivative.
template <std::size_t... I, class F>
auto grad(F&& f, SourceLocation at = SourceLocation::current()) {
  return detail::derived<detail::Grad, I...>(std::forward<F>(f), at);
}

/// The same as pair{f(args...), gradient}.
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

namespace detail {

template <class F, CallFault kFault, class... Primals>
auto vjp_at(SourceLocation at, const F& f, const Primals&... given) {
  return with_passed<F, kFault>(
      at,
      [&](const auto&... primals) {
        using Out = result_of_t<const F, std::remove_cvref_t<decltype(primals)>...>;
        std::optional<Out> prototype;
        VjpLeaves leaves =
            detail::vjp_leaves(function_on_leaves(f, prototype, "vjp", at, primals...),
                               argument_leaves(at, primals...), at);
        Out out = whole_tree_from(*prototype, leaves.results);
        Pullback<Out, std::remove_cvref_t<decltype(primals)>...> pullback(
            std::move(leaves.pullback), out,
            std::tuple<traced_t<decltype(primals)>...>(
                tree_cast<traced_t<decltype(primals)>>(primals, at)...));
        return std::pair(std::move(out), std::move(pullback));
      },
      given...);
}

}  // namespace detail

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

namespace detail {

/// Appends the leaves of a tree.
template <class Tree>
void append_leaves(Leaves& all, const Tree& tree, std::string_view root, SourceLocation at) {
  append(all, leaves_of(tree, root, at));
}

template <class F>
class Checkpointed : public LocatedCall<Checkpointed<F>, F> {
 public:
  Checkpointed(F f, SourceLocation at) : f_(std::move(f)), at_(at) {}
  static constexpr const char* kMadeBy = "checkpoint";
  SourceLocation made_at() const { return at_; }
  template <class... Args>
  auto call(SourceLocation at, const Args&... args) const {
    std::optional<result_of_t<const F, Args...>> prototype;
    const std::vector<Tensor> results =
        detail::checkpoint(function_on_leaves(f_, prototype, kMadeBy, at, args...),
                           argument_leaves(at, args...).leaves, place_of(at, at_));
    return whole_tree_from(*prototype, results);
  }

 private:
  F f_;
  SourceLocation at_;
};

template <class F, class Rule>
class CustomJvp : public LocatedCall<CustomJvp<F, Rule>, F> {
 public:
  static constexpr const char* kMadeBy = "custom_jvp";
  SourceLocation made_at() const { return at_; }
  CustomJvp(F f, Rule rule, SourceLocation at)
      : f_(std::move(f)), rule_(std::move(rule)), at_(at) {}
  template <class... Args>
  auto call(SourceLocation at, const Args&... args) const {
    using Out = result_of_t<const F, Args...>;
    std::optional<Out> prototype;
    check_has_function(rule_, kMadeBy, at);
    const RegionCallable rule = [&](std::span<const Tensor> leaves) {
      const std::tuple<traced_t<Args>...> primals{tree_from(args, leaves)...};
      const std::tuple<traced_t<Args>...> tangents{tree_from(args, leaves)...};
      auto both = rule_(primals, tangents);
      Leaves out = leaves_of(tree_cast<Out>(std::get<0>(both), at_), "result", at_);
      append_leaves(out, tree_cast<Out>(std::get<1>(both), at_), "tangent", at_);
      return out;
    };
    const std::vector<Tensor> results =
        detail::custom_jvp(function_on_leaves(f_, prototype, kMadeBy, at, args...), rule,
                           argument_leaves(at, args...).leaves, at_);
    return whole_tree_from(*prototype, results);
  }
  template <class... Args>
  static constexpr CallFault fault_of_call() {
    using Trees = std::tuple<traced_t<Args>...>;
    if constexpr (!kTakesConst<Rule, const Trees&, const Trees&>) {
      return CallFault::kRule;
    } else {
      using Both = std::decay_t<std::invoke_result_t<const Rule&, const Trees&, const Trees&>>;
      return kIsPair<Both> ? CallFault::kNone : CallFault::kRule;
    }
  }

 private:
  F f_;
  Rule rule_;
  SourceLocation at_;
};

template <class F, class Fwd, class Bwd>
class CustomVjp : public LocatedCall<CustomVjp<F, Fwd, Bwd>, F> {
 public:
  static constexpr const char* kMadeBy = "custom_vjp";
  SourceLocation made_at() const { return at_; }
  CustomVjp(F f, Fwd fwd, Bwd bwd, SourceLocation at)
      : f_(std::move(f)), fwd_(std::move(fwd)), bwd_(std::move(bwd)), at_(at) {}
  template <class... Args>
  auto call(SourceLocation at, const Args&... args) const {
    using Out = result_of_t<const F, Args...>;
    using Residuals = residuals_t<Args...>;
    std::optional<Out> prototype;
    std::optional<Residuals> residuals;
    check_has_function(fwd_, kMadeBy, at);
    check_has_function(bwd_, kMadeBy, at);
    const RegionCallable fwd = [&](std::span<const Tensor> leaves) {
      std::tuple<traced_t<Args>...> arguments{tree_from(args, leaves)...};
      auto both = std::apply(fwd_, std::move(arguments));
      Leaves out = leaves_of(tree_cast<Out>(std::get<0>(both), at_), "result", at_);
      residuals = tree_cast<Residuals>(std::get<1>(both), at_);
      append_leaves(out, *residuals, "residual", at_);
      return out;
    };
    const RegionCallable bwd = [&](std::span<const Tensor> leaves) {
      const Residuals kept = tree_from(*residuals, leaves);
      const Out cotangent = tree_from(*prototype, leaves);
      auto pulled = bwd_(kept, cotangent);
      using Cotangents = std::tuple<traced_t<Args>...>;
      return leaves_of(tree_cast<Cotangents>(std::move(pulled), at_), "cotangent", at_);
    };
    const std::vector<Tensor> results =
        detail::custom_vjp(function_on_leaves(f_, prototype, kMadeBy, at, args...), fwd, bwd,
                           argument_leaves(at, args...).leaves, at_);
    return whole_tree_from(*prototype, results);
  }
  template <class... Args>
  static constexpr CallFault fault_of_call() {
    if constexpr (!kTakesConst<Fwd, traced_t<Args>...>) {
      return CallFault::kForward;
    } else if constexpr (!kIsPair<result_of_fwd_t<Args...>>) {
      return CallFault::kForward;
    } else {
      using Residuals = residuals_t<Args...>;
      using Out = result_of_t<const F, Args...>;
      if constexpr (!kTakesConst<Bwd, const Residuals&, const Out&>) {
        return CallFault::kBackward;
      } else {
        using Pulled = std::invoke_result_t<const Bwd&, const Residuals&, const Out&>;
        return TreeConvertible<Pulled, std::tuple<traced_t<Args>...>> ? CallFault::kNone
                                                                      : CallFault::kBackward;
      }
    }
  }

 private:
  template <class... Args>
  using result_of_fwd_t = std::decay_t<std::invoke_result_t<const Fwd&, traced_t<Args>...>>;
  template <class... Args>
  using residuals_t = traced_t<std::tuple_element_t<1, result_of_fwd_t<Args...>>>;

  F f_;
  Fwd fwd_;
  Bwd bwd_;
  SourceLocation at_;
};

}  // namespace detail

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
