// Mapping, raveling and storing leaves.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/leaves.h"
#include "rondo/export.h"
#include "rondo/literal.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"
#include "rondo/tree_structure.h"
#include "rondo/type.h"

namespace rondo::detail {

template <class F, class First, class... Rest>
traced_t<First> map_leaves_at(SourceLocation at, F& f, const First& first, const Rest&... rest) {
  static_assert(
      std::is_invocable_v<F&, const Tensor&, std::enable_if_t<kIsTree<Rest>, const Tensor&>...>,
      "rondo: the function of map_leaves takes one Tensor per tree, the leaves at the "
      "same place");
  static_assert(
      std::is_convertible_v<std::invoke_result_t<F&, const Tensor&,
                                                 std::enable_if_t<kIsTree<Rest>, const Tensor&>...>,
                            Tensor>,
      "rondo: the function of map_leaves returns one Tensor, the leaf of the result");
  const TreeStructure structure = TreeStructure::of(first);
  (check_same_structure("map_leaves: a tree beside the first", structure, TreeStructure::of(rest),
                        "tree", at),
   ...);
  const Leaves leaves = leaves_of(first, "tree", at);
  const std::vector<Leaves> others{leaves_of(rest, "tree", at)...};
  std::size_t next = 0;
  return rebuild_tree<Tensor>(first, [&]() -> Tensor {
    const std::size_t leaf = next++;
    return [&]<std::size_t... I>(std::index_sequence<I...>)->Tensor {
      return f(leaves.values[leaf], others[I].values[leaf]...);
    }
    (std::index_sequence_for<Rest...>{});
  });
}

/// All elements of the leaves, concatenated. Throws TraceError if their dtypes differ.
RONDO_API Tensor ravel(const Leaves& leaves, SourceLocation at);
/// Splits a vector into leaves of these types.
RONDO_API std::vector<Tensor> unravel(const Tensor& vector, std::span<const TensorType> types,
                                      SourceLocation at);

/// The names of the arrays in an .npz: the leaves' paths, `slab`, `layers[0].w`; `arr_0` for a leaf
/// that is the whole tree.
template <class Tree>
std::vector<std::string> npz_names(const Tree& tree) {
  std::vector<std::string> names = leaf_paths(tree, "");
  for (std::string& name : names) {
    if (name.empty()) name = "arr_0";
    if (name.front() == '.') name.erase(0, 1);
  }
  return names;
}

RONDO_API void save_npz(const std::string& path, const std::vector<std::string>& names,
                        const std::vector<Literal>& values);
RONDO_API std::vector<Literal> load_npz(const std::string& path,
                                        const std::vector<std::string>& names,
                                        const std::vector<TensorType>& types);
/// One array of an .npz. Throws ParseError, naming the arrays that it has, also for another type.
RONDO_API Literal load_from_npz(const std::string& path, const std::string& name,
                                const TensorType& type);

struct NoSpecs {
  template <class Leaf>
  static constexpr bool holds = !std::is_same_v<Leaf, TensorType>;
};

}  // namespace rondo::detail
