// Tracing and jit.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/function.h"
#include "rondo/loops.h"
#include "rondo/tree.h"

namespace rondo {

namespace detail {

/// Traces a lambda on parameters of the given types.
RONDO_API Function trace(std::string name, const RegionCallable& callable,
                         std::span<const TensorType> types, std::vector<std::string> names);

/// The executables of one jitted function, by input types. Shared by copies; safe to use from many
/// threads.
class RONDO_API JitCache {
 public:
  JitCache();
  ~JitCache();
  JitCache(const JitCache&) = delete;
  JitCache& operator=(const JitCache&) = delete;

  /// What one trace gave: the results' tree is rebuilt from `prototype`, a type-erased tree of the
  /// lambda's result type.
  struct Traced {
    Function function;
    std::shared_ptr<const void> prototype;
  };
  struct Run {
    std::vector<Tensor> results;
    std::shared_ptr<const void> prototype;
  };
  /// Runs the program for the arguments' types; calls `trace` if there is none yet. `structure`
  /// tells apart trees with leaves of the same types. The arguments are evaluated first if they are
  /// lazy.
  Run run(std::span<const Tensor> arguments, const std::string& structure,
          const std::function<Traced()>& trace);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// True if one of the tensors depends on a parameter of a trace that is going on, or an EagerScope
/// is in force, so that a jitted function is called as it is.
RONDO_API bool runs_inline(std::span<const Tensor> arguments);

inline const TensorType& type_of_spec(const TensorType& type) { return type; }
inline const TensorType& type_of_spec(const Literal& literal) { return literal.type(); }
inline const TensorType& type_of_spec(const Tensor& tensor) { return tensor.type(); }
template <ScalarValue T>
TensorType type_of_spec(const T&) {
  return {dtype_of<T>, {}};
}

template <class... Specs>
void describe_specs(std::vector<TensorType>& types, std::vector<std::string>& names,
                    const Specs&... specs) {
  std::size_t index = 0;
  [[maybe_unused]] auto add = [&](const auto& spec) {
    for_each_leaf(spec, [&](const auto& leaf) { types.push_back(type_of_spec(leaf)); });
    const std::vector<std::string> paths = leaf_paths(spec, "arg" + std::to_string(index++));
    names.insert(names.end(), paths.begin(), paths.end());
  };
  (add(specs), ...);
}

/// The mistakes that a call of a transformed function can make, as readable errors.
template <class F, class... Args>
constexpr void check_callable() {
  static_assert(std::is_invocable_v<F&, traced_t<Args>...>,
                "rondo: the function does not take these arguments: it is called with one tree of "
                "tensors per argument");
  static_assert(!std::is_invocable_v<F&, traced_t<Args>...> ||
                    std::is_invocable_v<const F&, traced_t<Args>...>,
                "rondo: the function must be callable through a const reference: it may not be a "
                "mutable lambda");
  if constexpr (std::is_invocable_v<const F&, traced_t<Args>...>) {
    static_assert(!std::is_void_v<std::invoke_result_t<const F&, traced_t<Args>...>>,
                  "rondo: a traced function must return a tree of tensors: this one returns "
                  "nothing");
  }
}

/// f on leaves; what it returned is left in `prototype`.
template <class F, class Out, class... Args>
RegionCallable function_on_leaves(F& f, std::optional<Out>& prototype, const Args&... args) {
  static_assert(TensorTree<Out>,
                "rondo: a traced function must return a tree of tensors (it may not return void)");
  return [&]([[maybe_unused]] std::span<const Tensor> leaves) {
    std::tuple<traced_t<Args>...> arguments{tree_from(args, leaves)...};
    prototype = tree_cast<Out>(std::apply(f, std::move(arguments)));
    return leaves_of(*prototype, "result", {});
  };
}

}  // namespace detail

/// Runs f once on parameters of the types that `specs` give (TensorType, Literal, Tensor, C++
/// scalar, or trees of them) and returns the program it records. f takes and returns trees of
/// tensors. Throws TraceError for what f does wrong, and for a tensor of another trace in it.
template <class F, class... Specs>
Function trace(F&& f, const Specs&... specs) {
  static_assert(std::is_invocable_v<std::decay_t<F>&, traced_t<Specs>...>,
                "rondo: the function does not take arguments of these specs: it needs one "
                "parameter per spec, a Tensor or a tree of them");
  static_assert(!std::is_void_v<std::invoke_result_t<std::decay_t<F>&, traced_t<Specs>...>>,
                "rondo: a traced function must return a tree of tensors: this one returns nothing");
  using Out = traced_t<std::invoke_result_t<std::decay_t<F>&, traced_t<Specs>...>>;
  std::vector<TensorType> types;
  std::vector<std::string> names;
  detail::describe_specs(types, names, specs...);
  std::optional<Out> prototype;
  return detail::trace("main", detail::function_on_leaves(f, prototype, specs...), types,
                       std::move(names));
}

/// A function that is traced once for each combination of input types, compiled, and run from then
/// on.
///
/// It takes literals, tensors and C++ scalars, or trees of them, as f takes tensors, and returns
/// f's tree with computed tensors. Inside another trace it is as if f were called. Copies share the
/// compiled programs; calls from many threads at once are safe.
template <class F>
class Jitted {
 public:
  explicit Jitted(F f)
      : f_(std::make_shared<const F>(std::move(f))), cache_(std::make_shared<detail::JitCache>()) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    detail::check_callable<F, Args...>();
    using Out = traced_t<std::invoke_result_t<const F&, traced_t<Args>...>>;
    std::vector<Tensor> leaves;
    auto collect = [&](const auto& arg) {
      for_each_leaf(arg, [&](const auto& leaf) { leaves.push_back(Tensor(leaf)); });
    };
    (collect(args), ...);
    if (detail::runs_inline(leaves)) {
      std::span<const Tensor> next(leaves);
      std::tuple<traced_t<Args>...> arguments{detail::tree_from(args, next)...};
      return tree_cast<Out>(std::apply(*f_, std::move(arguments)));
    }
    std::string structure;
    if constexpr (!(TreeLeaf<Args> && ...)) {
      auto describe = [&](const auto& arg) {
        for (const std::string& path : leaf_paths(arg, "|")) structure += path;
      };
      (describe(args), ...);
    }
    const auto run = cache_->run(leaves, structure, [&]() -> detail::JitCache::Traced {
      std::vector<TensorType> types;
      std::vector<std::string> names;
      detail::describe_specs(types, names, args...);
      std::optional<Out> prototype;
      Function function = detail::trace("main", detail::function_on_leaves(*f_, prototype, args...),
                                        types, std::move(names));
      // Of the tree only the structure is kept: its tensors belong to the trace that is over.
      return {std::move(function), std::make_shared<const Out>(
                                       rebuild_tree<Tensor>(*prototype, [] { return Tensor(); }))};
    });
    return detail::whole_tree_from(*static_cast<const Out*>(run.prototype.get()), run.results);
  }

 private:
  std::shared_ptr<const F> f_;
  std::shared_ptr<detail::JitCache> cache_;
};

/// See Jitted.
template <class F>
Jitted<std::decay_t<F>> jit(F&& f) {
  return Jitted<std::decay_t<F>>(std::forward<F>(f));
}

}  // namespace rondo
