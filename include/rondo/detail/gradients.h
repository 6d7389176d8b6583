// Derivatives on leaves, and the functions that the transforms return.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/call_checks.h"
#include "rondo/detail/call_with.h"
#include "rondo/detail/function_on_leaves.h"
#include "rondo/detail/leaves.h"
#include "rondo/export.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"
#include "rondo/tree_structure.h"

namespace rondo {
struct CheckGradsOptions;
}  // namespace rondo

namespace rondo::detail {

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
enum class JacobianMode { kForward, kReverse };
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
RONDO_API void check_grads(const RegionCallable& f, const ArgumentLeaves& arguments,
                           const CheckGradsOptions& options, SourceLocation at);
RONDO_API JacobianLeaves jacobian(const RegionCallable& f, const ArgumentLeaves& arguments,
                                  std::span<const std::size_t> of, JacobianMode mode,
                                  SourceLocation at);

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

template <class F, JacobianMode kMode, std::size_t... I>
class Jacobian : public LocatedCall<Jacobian<F, kMode, I...>, F> {
 public:
  Jacobian(F f, SourceLocation at) : f_(std::move(f)), at_(at) {}
  static constexpr const char* kMadeBy = kMode == JacobianMode::kForward ? "jacfwd" : "jacrev";
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
                 argument_leaves(at, args...), kOf, kMode, place_of(at, at_));
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
using ForwardJacobian = Jacobian<F, JacobianMode::kForward, I...>;
template <class F, std::size_t... I>
using ReverseJacobian = Jacobian<F, JacobianMode::kReverse, I...>;

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

}  // namespace rondo::detail
