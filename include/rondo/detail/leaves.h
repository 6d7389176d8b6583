// Trees as lists of tensors, and back.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/export.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"
#include "rondo/tree_structure.h"

namespace rondo::detail {

/// The leaves of a tree.
struct Leaves {
  std::vector<Tensor> values;
  std::vector<std::string> paths;
  TreeStructure structure = {};  // of the tree that a user passed or returned; else empty
};
/// Appends the values and paths of `more`.
RONDO_API void append(Leaves& all, Leaves more);

/// A user's lambda on leaves.
using RegionCallable = std::function<Leaves(std::span<const Tensor>)>;

/// The leaves as tensors: literals and C++ scalars are recorded as created at `at`.
template <class T>
std::vector<Tensor> leaf_tensors(const T& tree, SourceLocation at) {
  std::vector<Tensor> leaves;
  for_each_leaf(tree, [&]<class Leaf>(const Leaf& leaf) {
    if constexpr (std::is_same_v<Leaf, Tensor>)
      leaves.push_back(leaf);
    else
      leaves.push_back(Tensor(leaf, at));
  });
  return leaves;
}

/// The leaves of a tree with their paths, which start with `root`.
template <class Tree>
Leaves leaves_of(const Tree& tree, std::string_view root, SourceLocation at) {
  Leaves leaves;
  leaves.values = leaf_tensors(tree, at);
  leaves.structure = TreeStructure::of(tree);
  leaves.paths = leaves.structure.leaf_paths(root);
  return leaves;
}

/// A tree like `prototype` from the leaves at `next`, which is advanced past them.
template <class Tree>
auto tree_from(const Tree& prototype, std::span<const Tensor>& next) {
  return rebuild_tree<Tensor>(prototype, [&] {
    Tensor leaf = next.front();
    next = next.subspan(1);
    return leaf;
  });
}
template <class Tree>
auto whole_tree_from(const Tree& prototype, std::span<const Tensor> leaves) {
  return tree_from(prototype, leaves);
}

template <class T>
inline constexpr bool kIsPair = false;
template <class A, class B>
inline constexpr bool kIsPair<std::pair<A, B>> = true;
template <class A, class B>
inline constexpr bool kIsPair<std::tuple<A, B>> = true;

}  // namespace rondo::detail
