// Trees of tensors: the carries of loops, and the arguments and results of transforms.
//
// A tree is a leaf, or a std::tuple, std::pair, std::array, std::vector or std::map<std::string, _>
// of trees, or a plain aggregate of trees, nested arbitrarily. An empty tuple is a tree without
// leaves. Leaves are Tensor, Literal, TensorType, the C++ scalars, and arrays of other libraries
// that have an adaptor (array_adaptor.h). No registration is needed: reflect.h handles aggregates.
// A struct that it does not support may provide
//
//     auto tree_fields(State& s) { return std::tie(s.position, s.velocity); }
//
// in its own namespace. It takes precedence over reflection, and the struct must be copyable.
// Members that it does not list are copied from the tree that serves as prototype: those of a
// jitted function come from its first call.
//
// Leaves are always visited in the same order: elements and fields as they are declared, maps by
// ascending key.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <type_traits>
#include <utility>

#include "rondo/detail/reflect.h"
#include "rondo/detail/tree.h"
#include "rondo/detail/tree_visit.h"
#include "rondo/detail/why.h"
#include "rondo/error.h"
#include "rondo/tree_structure.h"

namespace rondo {

/// A type that is one leaf.
template <class T>
concept TreeLeaf = detail::kIsLeaf<std::remove_cvref_t<T>>;

/// A type that is a tree of tensors (see above), possibly const or a reference.
template <class T>
concept TensorTree = detail::kIsTree<std::remove_cvref_t<T>>;

/// The same structure with every leaf replaced by L: std::tuple<int, Tensor> gives std::tuple<L,
/// L>. A struct whose leaves are all L is unchanged; a template on the types of its leaves becomes
/// another instance; any other does not compile.
template <class T, class L>
using replace_leaves_t = detail::replaced_t<T, L>;

/// What a value of type T becomes inside a traced program.
template <class T>
using traced_t = typename detail::Replacement<std::decay_t<T>, Tensor>::type;

/// Calls visit(leaf&) for each leaf in order; the leaves are const if the tree is.
template <class T, class Visit>
constexpr void for_each_leaf(T& tree, Visit&& visit) {
  using Fault = detail::type_at_fault_t<std::remove_cv_t<T>>;
  detail::assert_tree<Fault>();
  detail::assert_reflectable<Fault>();
  if constexpr (TensorTree<T>) detail::visit_leaves(tree, visit);
}

/// The tree with make(leaf), an L, in place of each leaf, called in order.
template <class L, class T, class Make>
constexpr replace_leaves_t<T, L> transform_leaves(const T& tree, Make&& make) {
  return detail::transform_tree<L>(tree, make);
}

/// A tree of the structure of `prototype` (vector sizes and map keys too) with the result of
/// make(), an L, for each leaf, called in order.
template <class L, class T, class Make>
constexpr replace_leaves_t<T, L> rebuild_tree(const T& prototype, Make&& make) {
  return transform_leaves<L>(prototype, [&make](const auto&) -> L { return make(); });
}

/// The number of leaves: 1 for a leaf, 0 for an empty tuple, the sum of those of its parts for any
/// other tree. Does not compile for a type that is no tree, with the reason.
template <class T>
constexpr std::size_t leaf_count(const T& tree) {
  using Fault = detail::type_at_fault_t<T>;  // here too, for a message with less before it
  detail::assert_tree<Fault>();
  detail::assert_reflectable<Fault>();
  std::size_t count = 0;
  for_each_leaf(tree, [&count](const auto&) { ++count; });
  return count;
}

// clang-format off
template <class T, detail::Why kWhy = "rondo: << prints one tensor; of a tree it is for each leaf: rondo::for_each_leaf(tree, [](const Tensor& t) { std::cout << t; })"> requires(detail::kIsTree<T> && !detail::kIsStruct<T> && !detail::kIsLeaf<T> && detail::all_leaves<T, detail::LeafIs<Tensor>>()) std::ostream& operator<<(std::ostream&, const T&) = delete;
// clang-format on

/// From converts to To: itself, or leaf by leaf if To has a Tensor in place of each leaf.
template <class From, class To>
concept TreeConvertible = std::is_convertible_v<std::decay_t<From>, To> ||
    detail::is_leafwise_convertible<std::decay_t<From>, To>();

/// Converts a tree to To as in TreeConvertible. C++ scalars and literals that become tensors here
/// are recorded as created at `at`.
template <class To, class From>
requires TreeConvertible<From, To> To
tree_cast(From&& from, [[maybe_unused]] SourceLocation at = SourceLocation::current()) {
  using Source = std::decay_t<From>;
  if constexpr (!std::is_same_v<Source, To> && detail::is_leafwise_convertible<Source, To>()) {
    return transform_leaves<Tensor>(from, [&at]<class Leaf>(const Leaf& leaf) {
      if constexpr (std::is_constructible_v<Tensor, const Leaf&, SourceLocation>) {
        return Tensor(leaf, at);
      } else {
        return Tensor(leaf);
      }
    });
  } else {
    return std::forward<From>(from);
  }
}

}  // namespace rondo
