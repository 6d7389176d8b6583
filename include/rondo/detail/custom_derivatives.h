// Functions with rules of their own for derivatives, on leaves.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/call_checks.h"
#include "rondo/detail/function_on_leaves.h"
#include "rondo/detail/leaves.h"
#include "rondo/export.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo::detail {

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

}  // namespace rondo::detail
