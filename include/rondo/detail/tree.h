// Which types are trees of tensors, of what their nodes consist, and the types of trees with other
// leaves. rondo/tree.h describes trees.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/array_adaptor.h"
#include "rondo/detail/reflect.h"
#include "rondo/dtype.h"

namespace rondo {
class Tensor;
class Literal;
struct TensorType;
}  // namespace rondo

namespace rondo::detail {

template <class T>
inline constexpr bool kIsLeaf = false;
template <class T>
requires(std::is_object_v<T>) && HostScalar<T> inline constexpr bool kIsLeaf<T> = true;
template <class T>
requires(!HostScalar<T> && AdaptedArray<T>) inline constexpr bool kIsLeaf<T> = true;
template <>
inline constexpr bool kIsLeaf<Tensor> = true;
template <>
inline constexpr bool kIsLeaf<Literal> = true;
template <>
inline constexpr bool kIsLeaf<TensorType> = true;

template <class T>
concept HasTreeFields = std::is_class_v<T> && requires(T& object) {
  tree_fields(object);
};

// Like fields_of, for a struct that has its own tree_fields. One that takes T& also serves const
// objects: nothing is written through the references, which become const again at once.
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

// The kind of a tree and the types of its children, which may be const or references.
template <class T>
struct TreeTraits {
  static constexpr TreeKind kind() {
    if constexpr (kIsLeaf<T>) {
      return TreeKind::kLeaf;
    } else if constexpr (HasTreeFields<T>) {
      return TreeKind::kOwnFields;
    } else if constexpr (kReflection<T> == Reflection::kYes) {
      return TreeKind::kStruct;
    } else {
      return TreeKind::kNone;
    }
  }
  template <class... Fields>
  static TypeList<Fields...> own_types(const std::tuple<Fields...>&);
  static constexpr auto children() {
    if constexpr (kind() == TreeKind::kOwnFields) {
      return decltype(own_types(tree_fields(std::declval<T&>()))){};
    } else if constexpr (kind() == TreeKind::kStruct) {
      return field_types_t<T>{};
    } else {
      return TypeList<>{};
    }
  }
};

template <TreeKind kKind, class... Ts>
struct ContainerTraits {
  static constexpr TreeKind kind() { return kKind; }
  static constexpr TypeList<Ts...> children() { return {}; }
};
template <class... Ts>
struct TreeTraits<std::tuple<Ts...>> : ContainerTraits<TreeKind::kTuple, Ts...> {};
template <class First, class Second>
struct TreeTraits<std::pair<First, Second>> : ContainerTraits<TreeKind::kTuple, First, Second> {};
template <class T, std::size_t N>
struct TreeTraits<std::array<T, N>> : ContainerTraits<TreeKind::kArray, T> {};
template <class T, class Allocator>
struct TreeTraits<std::vector<T, Allocator>> : ContainerTraits<TreeKind::kVector, T> {};
template <class T, class Compare, class Allocator>
struct TreeTraits<std::map<std::string, T, Compare, Allocator>>
    : ContainerTraits<TreeKind::kMap, T> {};

template <class T>
inline constexpr TreeKind kTreeKind = TreeTraits<T>::kind();
template <class T>
using children_t = decltype(TreeTraits<T>::children());

// Whether T is a tree whose leaves all satisfy `Condition`. `Outer` are the enclosing types: a
// struct that holds a vector of itself is a tree if the rest of it is one.
template <class T, class Condition, class... Outer>
constexpr bool all_leaves() {
  if constexpr (kTreeKind<T> == TreeKind::kNone) {
    return false;
  } else if constexpr (kTreeKind<T> == TreeKind::kLeaf) {
    return Condition::template holds<T>;
  } else if constexpr ((std::is_same_v<T, Outer> || ...)) {
    return true;
  } else {
    return []<class... Children>(TypeList<Children...>) {
      return (all_leaves<std::remove_cvref_t<Children>, Condition, Outer..., T>() && ...);
    }(children_t<T>{});
  }
}

struct AnyLeaf {
  template <class Leaf>
  static constexpr bool holds = true;
};
template <class L>
struct LeafIs {
  template <class Leaf>
  static constexpr bool holds = std::is_same_v<Leaf, L>;
};
struct LeafIsNotAdapted {
  template <class Leaf>
  static constexpr bool holds = !AdaptedArray<Leaf>;
};
template <class L>
struct LeafConvertsTo {
  template <class Leaf>
  static constexpr bool holds = std::is_convertible_v<const Leaf&, L>;
};

template <class T>
inline constexpr bool kIsTree = all_leaves<T, AnyLeaf>();

template <class T>
inline constexpr bool kIsStruct =
    kTreeKind<T> == TreeKind::kStruct || kTreeKind<T> == TreeKind::kOwnFields;

// An instance of a class template with L in place of the leaves among its arguments: State<float>
// gives State<L>. Any other type is unchanged.
template <class T, class L>
struct Rebound {
  using type = std::conditional_t<kIsLeaf<T>, L, T>;
};
template <template <class...> class Template, class... Ts, class L>
requires(!kIsLeaf<Template<Ts...>>) struct Rebound<Template<Ts...>, L> {
  using type = Template<typename Rebound<Ts, L>::type...>;
};

// A struct with leaves of type L: itself if it has no others, or another instance of its template;
// void if there is none.
template <class T, class L>
constexpr auto struct_of() {
  if constexpr (all_leaves<T, LeafIs<L>>()) {
    return std::type_identity<T>{};
  } else {
    using Other = typename Rebound<T, L>::type;
    if constexpr (std::is_same_v<Other, T>) {
      return std::type_identity<void>{};
    } else if constexpr (all_leaves<Other, LeafIs<L>>()) {
      return std::type_identity<Other>{};
    } else {
      return std::type_identity<void>{};
    }
  }
}
template <class T, class L>
using struct_of_t = typename decltype(struct_of<T, L>())::type;

// Whether each leaf of T can become an L.
template <class T, class L>
constexpr bool is_replaceable() {
  if constexpr (kTreeKind<T> == TreeKind::kNone) {
    return false;
  } else if constexpr (kTreeKind<T> == TreeKind::kLeaf) {
    return true;
  } else if constexpr (kIsStruct<T>) {
    return !std::is_void_v<struct_of_t<T, L>>;
  } else {
    return []<class... Children>(TypeList<Children...>) {
      return (is_replaceable<std::remove_cvref_t<Children>, L>() && ...);
    }(children_t<T>{});
  }
}

template <class... Faults>
struct FirstFault {
  using type = void;
};
template <class First, class... Rest>
struct FirstFault<First, Rest...> {
  using type = First;
};
template <class... Rest>
struct FirstFault<void, Rest...> : FirstFault<Rest...> {};

// The first type that prevents T from being a tree or, if L is given, the first struct that cannot
// have an L in place of each leaf; void if there is none. The assertions below are on that type
// itself, so that compilers do not print the path to it before their message.
template <class T, class L = void, class... Outer>
constexpr auto type_at_fault() {
  if constexpr (kTreeKind<T> == TreeKind::kNone) {
    return std::type_identity<T>{};
  } else if constexpr (kTreeKind<T> == TreeKind::kLeaf || (std::is_same_v<T, Outer> || ...)) {
    return std::type_identity<void>{};
  } else if constexpr (!std::is_void_v<L> && kIsStruct<T> && kIsTree<T>) {
    return std::type_identity<std::conditional_t<is_replaceable<T, L>(), void, T>>{};
  } else {
    return []<class... Children>(TypeList<Children...>) {
      return std::type_identity<
          typename FirstFault<typename decltype(type_at_fault<std::remove_cvref_t<Children>, L,
                                                              Outer..., T>())::type...>::type>{};
    }(children_t<T>{});
  }
}
template <class T, class L = void>
using type_at_fault_t = typename decltype(type_at_fault<T, L>())::type;

// Does not compile, with the reason, if Fault is a type at fault about which reflection has nothing
// to report: assert_reflectable reports the others.
template <class Fault>
constexpr void assert_tree() {
  static_assert(!std::is_array_v<Fault>,
                "rondo: this type is not a tree of tensors: a C array is none; use std::array.");
  static_assert(
      std::is_void_v<Fault> || std::is_array_v<Fault> ||
          kReflection<Fault> != Reflection::kNotAnAggregate,
      "rondo: this type is not a tree of tensors: it is no Tensor, Literal, TensorType or C++ "
      "scalar, no std::tuple, pair, array, vector or map<std::string, _> of trees, and no "
      "plain struct of trees (one without constructors, private members and virtual "
      "functions). A class of your own may offer a function tree_fields(T&) that returns "
      "std::tie of its fields.");
}

template <class T, class L>
struct ReplaceLeaves {
  static constexpr auto replaced() {
    if constexpr (kTreeKind<T> == TreeKind::kLeaf) {
      return std::type_identity<L>{};
    } else if constexpr (kIsStruct<T> && is_replaceable<T, L>()) {
      return std::type_identity<struct_of_t<T, L>>{};
    } else {
      return std::type_identity<T>{};
    }
  }
  using type = typename decltype(replaced())::type;
};
template <class T, class L>
using leaves_replaced_t = typename ReplaceLeaves<std::remove_cvref_t<T>, L>::type;

template <class... Ts, class L>
struct ReplaceLeaves<std::tuple<Ts...>, L> {
  using type = std::tuple<leaves_replaced_t<Ts, L>...>;
};
template <class First, class Second, class L>
struct ReplaceLeaves<std::pair<First, Second>, L> {
  using type = std::pair<leaves_replaced_t<First, L>, leaves_replaced_t<Second, L>>;
};
template <class T, std::size_t N, class L>
struct ReplaceLeaves<std::array<T, N>, L> {
  using type = std::array<leaves_replaced_t<T, L>, N>;
};
template <class T, class Allocator, class L>
struct ReplaceLeaves<std::vector<T, Allocator>, L> {
  using Element = leaves_replaced_t<T, L>;
  using type =
      std::vector<Element,
                  typename std::allocator_traits<Allocator>::template rebind_alloc<Element>>;
};
template <class T, class Compare, class Allocator, class L>
struct ReplaceLeaves<std::map<std::string, T, Compare, Allocator>, L> {
  using Element = std::pair<const std::string, leaves_replaced_t<T, L>>;
  using type = std::map<std::string, leaves_replaced_t<T, L>, Compare,
                        typename std::allocator_traits<Allocator>::template rebind_alloc<Element>>;
};

// Like ReplaceLeaves. Does not compile, with the reason, if it is not possible.
template <class T, class L, class Fault = type_at_fault_t<T, L>>
struct Replacement {
  static_assert(std::is_void_v<Fault> || kIsTree<Fault>,
                "rondo: this type is not a tree of tensors: it is no Tensor, Literal, TensorType "
                "or C++ scalar, no std::tuple, pair, array, vector or map<std::string, _> of "
                "trees, and no plain struct of trees.");
  static_assert(std::is_void_v<Fault> || !kIsTree<Fault>,
                "rondo: a struct carried by a loop or passed through a transform must have Tensor "
                "fields (or trees of Tensors): this one has a field of another type, or the result "
                "asked for is not made of Tensors. Give it Tensor fields, or make it a template on "
                "the type of its leaves: template <class T> struct State { T x, v; };");
  using type = leaves_replaced_t<T, L>;
};
template <class T, class L>
using replaced_t = typename Replacement<std::remove_cvref_t<T>, L>::type;

}  // namespace rondo::detail
