// Trees of tensors: what loops carry and transforms take and return.
//
// A tree is a leaf, or a std::tuple, std::pair, std::array, std::vector or std::map<std::string, _>
// of trees, or a plain aggregate of trees, nested at will. An empty tuple is a tree without leaves.
// Leaves are Tensor, Literal, TensorType and the C++ scalars. Nothing is registered: reflect.h
// takes an aggregate apart. A struct that it cannot take apart may offer
//
//     auto tree_fields(State& s) { return std::tie(s.position, s.velocity); }
//
// in its own namespace; it goes before reflection, and the struct must be copyable.
//
// Leaves are always visited in the same order: elements and fields as they are declared, maps by
// ascending key.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/dtype.h"
#include "rondo/reflect.h"

namespace rondo {

class Tensor;
class Literal;
struct TensorType;

namespace detail {

template <class T>
inline constexpr bool kIsLeaf = HostScalar<T>;
template <>
inline constexpr bool kIsLeaf<Tensor> = true;
template <>
inline constexpr bool kIsLeaf<Literal> = true;
template <>
inline constexpr bool kIsLeaf<TensorType> = true;

template <class T>
concept HasTreeFields = std::is_class_v<T> && requires(T& object) { tree_fields(object); };

// Like fields_of, for a struct that has its own tree_fields. One that takes T& only serves const
// objects too: nothing is written through the references, they become const again at once.
template <class T>
constexpr auto own_fields_of(T& object) {
  if constexpr (HasTreeFields<T>) {
    return tree_fields(object);
  } else {
    return std::apply([](auto&... fields) { return std::tie(std::as_const(fields)...); },
                      tree_fields(const_cast<std::remove_const_t<T>&>(object)));
  }
}

enum class TreeKind { kNone, kLeaf, kTuple, kArray, kVector, kMap, kStruct, kOwnFields };

// What holds for one kind of tree: its kind, the types of its children, and the type of the tree
// that has `Replace<child>` in place of each child.
template <class T>
struct TreeTraits {
  static constexpr TreeKind kKind = [] {
    if constexpr (kIsLeaf<T>) {
      return TreeKind::kLeaf;
    } else if constexpr (HasTreeFields<T>) {
      return TreeKind::kOwnFields;
    } else if constexpr (kReflection<T> == Reflection::kYes) {
      return TreeKind::kStruct;
    } else {
      return TreeKind::kNone;
    }
  }();
};
template <class... Ts>
struct TreeTraits<std::tuple<Ts...>> {
  static constexpr TreeKind kKind = TreeKind::kTuple;
  using Children = TypeList<Ts...>;
  template <template <class> class Replace>
  using Replaced = std::tuple<Replace<Ts>...>;
};
template <class First, class Second>
struct TreeTraits<std::pair<First, Second>> {
  static constexpr TreeKind kKind = TreeKind::kTuple;
  using Children = TypeList<First, Second>;
  template <template <class> class Replace>
  using Replaced = std::pair<Replace<First>, Replace<Second>>;
};
template <class T, std::size_t N>
struct TreeTraits<std::array<T, N>> {
  static constexpr TreeKind kKind = TreeKind::kArray;
  using Children = TypeList<T>;
  template <template <class> class Replace>
  using Replaced = std::array<Replace<T>, N>;
};
template <class T, class Allocator>
struct TreeTraits<std::vector<T, Allocator>> {
  static constexpr TreeKind kKind = TreeKind::kVector;
  using Children = TypeList<T>;
  template <template <class> class Replace>
  using Replaced = std::vector<Replace<T>>;
};
template <class T, class Compare, class Allocator>
struct TreeTraits<std::map<std::string, T, Compare, Allocator>> {
  static constexpr TreeKind kKind = TreeKind::kMap;
  using Children = TypeList<T>;
  template <template <class> class Replace>
  using Replaced = std::map<std::string, Replace<T>, Compare>;
};

template <class T>
inline constexpr TreeKind kTreeKind = TreeTraits<T>::kKind;

template <class T>
constexpr auto children_of() {
  if constexpr (kTreeKind<T> == TreeKind::kStruct) {
    return field_types_t<T>{};
  } else if constexpr (kTreeKind<T> == TreeKind::kOwnFields) {
    return []<class... Fields>(const std::tuple<Fields...>*) {
      return TypeList<Fields...>{};
    }(static_cast<decltype(tree_fields(std::declval<T&>()))*>(nullptr));
  } else if constexpr (kTreeKind<T> == TreeKind::kLeaf || kTreeKind<T> == TreeKind::kNone) {
    return TypeList<>{};
  } else {
    return typename TreeTraits<T>::Children{};
  }
}
