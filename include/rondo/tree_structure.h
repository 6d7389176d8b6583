// The structure of a tree as a value, without its leaves.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "rondo/detail/reflect.h"
#include "rondo/detail/tree.h"
#include "rondo/detail/tree_structure.h"

namespace rondo {

/// The structure of a tree: the C++ types of its nodes, the sizes of its vectors and maps, and
/// their keys; not its leaves, which may be Tensors, Literals, types or numbers. Two trees of equal
/// structure have their leaves at the same paths. Comparable and hashable.
class TreeStructure {
 public:
  /// Of no tree: equal only to another such one.
  TreeStructure() = default;

  template <class T>
  static TreeStructure of(const T& tree) {
    using Fault = detail::type_at_fault_t<T>;
    detail::assert_tree<Fault>();
    detail::assert_reflectable<Fault>();
    TreeStructure structure;
    if constexpr (detail::kIsTree<T>) {
      structure.type_ = detail::tree_type<T>();
      detail::append_sizes(tree, structure.sizes_);
    }
    return structure;
  }

  /// Of several trees: like that of a tuple of them.
  template <class... Trees>
  static TreeStructure of_all(const Trees&... trees) {
    TreeStructure structure;
    structure.type_ = detail::tree_type<std::tuple<Trees...>>();
    (detail::append_sizes(trees, structure.sizes_), ...);
    return structure;
  }

  /// The path of each leaf, in order: `root` with ".slab" for a field, "[0]" for an element of a
  /// tuple, pair, array or vector and for what tree_fields lists, and "[\"key\"]" for one of a map.
  std::vector<std::string> leaf_paths(std::string_view root) const { return paths(root).leaves; }
  /// The paths of the nodes that have no entries: `()`, an empty vector, map or struct.
  std::vector<std::string> empty_paths(std::string_view root) const { return paths(root).empty; }
  std::size_t hash() const noexcept {
    std::size_t h = type_ ? type_->type->hash_code() : 0;
    const auto mix = [&h](std::size_t value) { h = (h ^ value) * 0x9e3779b97f4a7c15u + (h >> 32); };
    for (const std::size_t count : sizes_.counts) mix(count);
    for (const std::string& key : sizes_.keys) mix(std::hash<std::string>{}(key));
    return h;
  }

  friend bool operator==(const TreeStructure& a, const TreeStructure& b) noexcept {
    const bool same_type =
        a.type_ == b.type_ || (a.type_ && b.type_ && *a.type_->type == *b.type_->type);
    return same_type && a.sizes_ == b.sizes_;
  }
  template <class H>
  friend H AbslHashValue(H state, const TreeStructure& structure) {
    return H::combine(std::move(state), structure.hash());
  }

 private:
  detail::TreePaths paths(std::string_view root) const {
    detail::TreePaths paths(root, sizes_);
    if (type_) type_->walk(paths);
    return paths;
  }

  const detail::TreeType* type_ = nullptr;
  detail::TreeSizes sizes_;
};

/// The paths of the leaves of a tree (see TreeStructure::leaf_paths).
template <class T>
std::vector<std::string> leaf_paths(const T& tree, std::string_view root) {
  return TreeStructure::of(tree).leaf_paths(root);
}

}  // namespace rondo

template <>
struct std::hash<rondo::TreeStructure> {
  std::size_t operator()(const rondo::TreeStructure& structure) const noexcept {
    return structure.hash();
  }
};
