// Walks trees leaf by leaf.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rondo/detail/tree.h"

namespace rondo::detail {

template <class T, class Visit>
constexpr void visit_leaves(T& tree, Visit& visit) {
  constexpr TreeKind kind = kTreeKind<std::remove_cv_t<T>>;
  [[maybe_unused]] const auto visit_all = [&visit](auto&... children) {
    (visit_leaves(children, visit), ...);
  };
  if constexpr (kind == TreeKind::kLeaf) {
    visit(tree);
  } else if constexpr (kind == TreeKind::kTuple) {
    std::apply(visit_all, tree);
  } else if constexpr (kind == TreeKind::kStruct) {
    apply_fields(visit_all, tree);
  } else if constexpr (kind == TreeKind::kOwnFields) {
    std::apply(visit_all, own_fields_of(tree));
  } else if constexpr (kind == TreeKind::kMap) {
    for (auto& entry : tree) visit_leaves(entry.second, visit);
  } else {
    for (auto&& element : tree) {
      if constexpr (std::is_reference_v<decltype(*tree.begin())>) {
        visit_leaves(element, visit);
      } else if constexpr (std::is_const_v<T>) {  // std::vector<bool> has no bools to refer to
        const bool value = element;
        visit_leaves(value, visit);
      } else {
        bool value = element;
        visit_leaves(value, visit);
        element = value;
      }
    }
  }
}

template <class L, class T, class Make>
constexpr replaced_t<T, L> transform_tree(const T& tree, Make& make) {
  using Result = replaced_t<T, L>;
  constexpr TreeKind kind = kTreeKind<T>;
  // Braces evaluate from left to right, so `make` sees the leaves in order.
  [[maybe_unused]] const auto transform_all = [&make](const auto&... children) {
    return Result{transform_tree<L>(children, make)...};
  };
  if constexpr (kind == TreeKind::kLeaf) {
    return make(tree);
  } else if constexpr (kind == TreeKind::kTuple) {
    return std::apply(transform_all, tree);
  } else if constexpr (kind == TreeKind::kStruct) {
    return apply_fields(transform_all, tree);
  } else if constexpr (kind == TreeKind::kOwnFields) {
    Result result = [&tree] {
      if constexpr (std::is_same_v<Result, T>)
        return tree;  // with the members that tree_fields does not list
      else
        return Result();
    }();
    [&]<std::size_t... I>(auto&& to, const auto& from, std::index_sequence<I...>) {
      ((std::get<I>(to) = transform_tree<L>(std::get<I>(from), make)), ...);
    }
    (tree_fields(result), own_fields_of(tree),
     std::make_index_sequence<std::tuple_size_v<decltype(tree_fields(result))>>{});
    return result;
  } else if constexpr (kind == TreeKind::kArray) {
    Result result{};
    auto place = result.begin();
    for (const auto& element : tree) *place++ = transform_tree<L>(element, make);
    return result;
  } else if constexpr (kind == TreeKind::kVector) {
    Result result;
    result.reserve(tree.size());
    for (const auto& element : tree) result.push_back(transform_tree<L>(element, make));
    return result;
  } else if constexpr (kind == TreeKind::kMap) {
    Result result;
    for (const auto& [key, element] : tree) {
      result.emplace_hint(result.end(), key, transform_tree<L>(element, make));
    }
    return result;
  }
}

template <class From, class To>
constexpr bool is_leafwise_convertible() {
  if constexpr (is_replaceable<From, Tensor>()) {
    return std::is_same_v<replaced_t<From, Tensor>, To> &&
           all_leaves<From, LeafConvertsTo<Tensor>>();
  } else {
    return false;
  }
}

}  // namespace rondo::detail
