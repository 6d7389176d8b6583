// Trees made of other trees of the same structure.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rondo/detail/reflect.h"
#include "rondo/detail/tree.h"

namespace rondo::detail {

/// The tree of type To whose leaves are `leaf.template operator()<LeafOfTo>(leaf of from)`.
template <class To, class From, class Leaf>
To mapped_tree(const From& from, const Leaf& leaf) {
  constexpr TreeKind kind = kTreeKind<To>;
  [[maybe_unused]] const auto each = [&leaf]<class... Children>(TypeList<Children...>) {
    return [&leaf](const auto&... children) {
      return To{mapped_tree<std::remove_cvref_t<Children>>(children, leaf)...};
    };
  };
  if constexpr (kind == TreeKind::kLeaf) {
    return leaf.template operator()<To>(from);
  } else if constexpr (kind == TreeKind::kTuple) {
    return std::apply(each(children_t<To>{}), from);
  } else if constexpr (kind == TreeKind::kStruct) {
    return apply_fields(each(children_t<To>{}), from);
  } else if constexpr (kind == TreeKind::kOwnFields) {
    To result;
    [&]<std::size_t... I>(auto&& to, const auto& given, std::index_sequence<I...>) {
      ((std::get<I>(to) =
            mapped_tree<std::remove_cvref_t<decltype(std::get<I>(to))>>(std::get<I>(given), leaf)),
       ...);
    }
    (tree_fields(result), own_fields_of(from),
     std::make_index_sequence<std::tuple_size_v<decltype(tree_fields(result))>>{});
    return result;
  } else if constexpr (kind == TreeKind::kMap) {
    To result;
    for (const auto& [key, element] : from)
      result.emplace(key, mapped_tree<typename To::mapped_type>(element, leaf));
    return result;
  } else {
    To result{};
    std::size_t i = 0;
    if constexpr (kind == TreeKind::kVector) result.resize(from.size());
    for (const auto& element : from)
      result[i++] = mapped_tree<typename To::value_type>(element, leaf);
    return result;
  }
}

}  // namespace rondo::detail
