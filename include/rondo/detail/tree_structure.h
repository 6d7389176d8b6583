// The structure of a tree as a value: its sizes, and the paths of its leaves.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "rondo/detail/tree.h"
#include "rondo/error.h"
#include "rondo/export.h"
#include "rondo/reflect.h"

namespace rondo {
class TreeStructure;
}  // namespace rondo

namespace rondo::detail {

// What the type of a tree does not determine: the sizes of its vectors and maps, and the keys, in
// the order of the leaves.
struct TreeSizes {
  std::vector<std::size_t> counts;
  std::vector<std::string> keys;
  bool operator==(const TreeSizes&) const = default;
};

template <class T>
constexpr bool has_sizes() {
  if constexpr (kTreeKind<T> == TreeKind::kVector || kTreeKind<T> == TreeKind::kMap) {
    return true;
  } else {
    return []<class... Children>(TypeList<Children...>) {
      return (has_sizes<std::remove_cvref_t<Children>>() || ...);
    }(children_t<T>{});
  }
}

template <class T>
void append_sizes(const T& tree, TreeSizes& sizes) {
  constexpr TreeKind kind = kTreeKind<T>;
  [[maybe_unused]] const auto append_all = [&sizes](const auto&... children) {
    (append_sizes(children, sizes), ...);
  };
  if constexpr (!has_sizes<T>()) {
    return;
  } else if constexpr (kind == TreeKind::kTuple) {
    std::apply(append_all, tree);
  } else if constexpr (kind == TreeKind::kStruct) {
    apply_fields(append_all, tree);
  } else if constexpr (kind == TreeKind::kOwnFields) {
    std::apply(append_all, own_fields_of(tree));
  } else if constexpr (kind == TreeKind::kArray) {
    for (const auto& element : tree) append_sizes(element, sizes);
  } else if constexpr (kind == TreeKind::kMap) {
    sizes.counts.push_back(tree.size());
    for (const auto& [key, element] : tree) {
      sizes.keys.push_back(key);
      append_sizes(element, sizes);
    }
  } else {
    sizes.counts.push_back(tree.size());
    if constexpr (has_sizes<typename T::value_type>()) {
      for (const auto& element : tree) append_sizes(element, sizes);
    }
  }
}

// Lists the paths of a tree, given its type and sizes, in the order of its leaves. `path_` is that
// of the current node.
class TreePaths {
 public:
  TreePaths(std::string_view root, const TreeSizes& sizes)
      : path_(root),
        counts_(sizes.counts.data(), sizes.counts.size()),
        keys_(sizes.keys.data(), sizes.keys.size()) {}

  std::vector<std::string> leaves;
  std::vector<std::string> empty;  // of nodes without entries

  template <class T>
  void walk() {
    constexpr TreeKind kind = kTreeKind<T>;
    if constexpr (kind == TreeKind::kLeaf) {
      leaves.push_back(path_);
    } else if constexpr (kind == TreeKind::kArray) {
      walk_elements<typename T::value_type>(std::tuple_size_v<T>);
    } else if constexpr (kind == TreeKind::kVector) {
      walk_elements<typename T::value_type>(next_count());
    } else if constexpr (kind == TreeKind::kMap) {
      const std::size_t count = next_count();
      note_if_empty(count);
      for (std::size_t i = 0; i < count; i++) {
        const std::string& key = keys_.front();
        keys_ = keys_.subspan(1);
        walk_below<typename T::mapped_type>("[\"", escaped(key), "\"]");
      }
    } else {
      [this]<class... Children>(TypeList<Children...>) {
        note_if_empty(sizeof...(Children));
        [[maybe_unused]] std::size_t index = 0;
        (walk_child<T, std::remove_cvref_t<Children>>(index++), ...);
      }(children_types<T>());
    }
  }

 private:
  template <class T>
  static constexpr auto children_types() {
    if constexpr (kTreeKind<T> == TreeKind::kTuple) {
      return TreeTraits<T>::children();
    } else {
      return children_t<T>{};
    }
  }
  template <class Parent, class Child>
  void walk_child(std::size_t index) {
    if constexpr (kTreeKind<Parent> == TreeKind::kStruct) {
      walk_below<Child>(".", field_name<Parent>(index), "");
    } else {
      walk_below<Child>("[", std::to_string(index), "]");
    }
  }
  template <class Element>
  void walk_elements(std::size_t count) {
    note_if_empty(count);
    for (std::size_t i = 0; i < count; i++) walk_below<Element>("[", std::to_string(i), "]");
  }
  template <class Child>
  void walk_below(std::string_view open, std::string_view step, std::string_view close) {
    const std::size_t length = path_.size();
    path_.append(open).append(step).append(close);
    walk<Child>();
    path_.resize(length);
  }
  void note_if_empty(std::size_t entries) {
    if (entries == 0) empty.push_back(path_);
  }
  std::size_t next_count() {
    const std::size_t count = counts_.front();
    counts_ = counts_.subspan(1);
    return count;
  }
  static std::string escaped(std::string_view key) {
    std::string result;
    for (char c : key) {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
    return result;
  }

  std::string path_;
  std::span<const std::size_t> counts_;
  std::span<const std::string> keys_;
};

// A type of trees, independent of the types of its leaves.
struct TreeType {
  const std::type_info* type;
  void (*walk)(TreePaths& paths);
};
template <class T>
inline constexpr TreeType kTreeType{&typeid(T), [](TreePaths& paths) { paths.walk<T>(); }};

template <class T>
constexpr const TreeType* tree_type() {
  if constexpr (is_replaceable<T, Tensor>()) {
    return &kTreeType<replaced_t<T, Tensor>>;
  } else {
    return &kTreeType<T>;
  }
}

/// How the structure `is` differs from `meant`: "2 leaves are meant, 3 are given; new: carry[2]";
/// empty if it does not. The paths start with `root`.
RONDO_API std::string structure_difference(const TreeStructure& meant, const TreeStructure& is,
                                           std::string_view root);
/// Throws TraceError, listing what is missing and what is new, if the structure `is` is not the
/// expected one: vectors of another size, maps with other keys. `what` is "reduce: the combiner's
/// result".
RONDO_API void check_same_structure(std::string_view what, const TreeStructure& meant,
                                    const TreeStructure& is, std::string_view root,
                                    SourceLocation at);

}  // namespace rondo::detail
