// Trees of tensors: the carries of loops, and the arguments and results of transforms.
//
// A tree is a leaf, or a std::tuple, std::pair, std::array, std::vector or std::map<std::string, _>
// of trees, or a plain aggregate of trees, nested arbitrarily. An empty tuple is a tree without
// leaves. Leaves are Tensor, Literal, TensorType and the C++ scalars. No registration is needed:
// reflect.h handles aggregates. A struct that it does not support may provide
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

#include <array>
#include <cstddef>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/call_with.h"
#include "rondo/dtype.h"
#include "rondo/error.h"
#include "rondo/literal.h"
#include "rondo/reflect.h"

namespace rondo {

class Tensor;
class Literal;
struct TensorType;

namespace detail {

template <class T>
inline constexpr bool kIsLeaf = false;
template <class T>
requires(std::is_object_v<T>) && HostScalar<T> inline constexpr bool kIsLeaf<T> = true;
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

}  // namespace detail

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
using replace_leaves_t = typename detail::Replacement<std::remove_cvref_t<T>, L>::type;

/// What a value of type T becomes inside a traced program.
template <class T>
using traced_t = typename detail::Replacement<std::decay_t<T>, Tensor>::type;

namespace detail {

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
constexpr replace_leaves_t<T, L> transform_tree(const T& tree, Make& make) {
  using Result = replace_leaves_t<T, L>;
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
    return std::is_same_v<replace_leaves_t<From, Tensor>, To> &&
           all_leaves<From, LeafConvertsTo<Tensor>>();
  } else {
    return false;
  }
}

}  // namespace detail

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

#include "rondo/tree_structure.h"  // leaf_paths, and the structure as a value
