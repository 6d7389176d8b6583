// A user's function of trees as a function of their leaves.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/call_with.h"
#include "rondo/detail/leaves.h"
#include "rondo/export.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"
#include "rondo/tree_structure.h"

namespace rondo::detail {

/// The paths of the leaves, which start with "arg0", "arg1", ...
template <class... Args>
std::vector<std::string> names_of_arguments(const Args&... args) {
  std::vector<std::string> names;
  std::size_t index = 0;
  [[maybe_unused]] auto add = [&](const auto& arg) {
    for (std::string& path : leaf_paths(arg, "arg" + std::to_string(index++)))
      names.push_back(std::move(path));
  };
  (add(args), ...);
  return names;
}

/// f on leaves; stores its result in `prototype`. Throws TraceError, in the name of `made_by`, if f
/// is an empty std::function or a null pointer.
template <class F, class Out, class... Args>
RegionCallable function_on_leaves(F& f, std::optional<Out>& prototype, const char* made_by,
                                  SourceLocation at, const Args&... args) {
  check_has_function(f, made_by, at);
  return [&f, &prototype, at, &args...]([[maybe_unused]] std::span<const Tensor> leaves) {
    std::tuple<traced_t<Args>...> arguments{tree_from(args, leaves)...};
    prototype = tree_cast<Out>(std::apply(f, std::move(arguments)), at);
    return leaves_of(*prototype, "result", at);
  };
}

/// The result type of f for these arguments.
template <class F, class... Args>
using result_of_t = traced_t<std::invoke_result_t<F&, traced_t<Args>...>>;

/// The leaves; moved out of arguments that are rvalues.
template <class... Args>
std::vector<Tensor> tensors_of_arguments(SourceLocation at, Args&&... args) {
  std::vector<Tensor> leaves;
  [[maybe_unused]] auto collect = [&]<class Arg>(Arg&& arg) {
    for_each_leaf(arg, [&]<class Leaf>(Leaf& leaf) {
      if constexpr (!std::is_same_v<std::remove_const_t<Leaf>, Tensor>)
        leaves.push_back(Tensor(leaf, at));
      else if constexpr (std::is_lvalue_reference_v<Arg>)
        leaves.push_back(leaf);
      else
        leaves.push_back(std::move(leaf));
    });
  };
  (collect(std::forward<Args>(args)), ...);
  return leaves;
}

/// The leaves of a function's arguments; leaf i belongs to argument `owner[i]`.
struct ArgumentLeaves {
  Leaves leaves;
  std::vector<std::size_t> owner;
};
/// Assigns the leaves that belong to no argument yet to this one.
RONDO_API void own_leaves(ArgumentLeaves& all, std::size_t argument);
/// The leaves with their paths.
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

}  // namespace rondo::detail
