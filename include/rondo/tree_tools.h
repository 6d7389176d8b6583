// Functions on whole trees: mapping leaves, one vector of all elements, files.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/leaves.h"
#include "rondo/detail/tree_tools.h"
#include "rondo/literal.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// A tree of the structure of the first one, with f(leaf, ...) of the corresponding leaves of all
/// trees: an optimizer's step is
///
///     model = map_leaves([](Tensor p, Tensor g) { return p - 0.01 * g; }, model, gradient);
///
/// f takes and returns Tensors. Throws TraceError if the trees differ in structure.
template <class F, class First>
[[nodiscard("rondo: map_leaves returns a new tree; use it")]] traced_t<First> map_leaves(
    F&& f, const First& first, SourceLocation at = SourceLocation::current()) {
  return detail::map_leaves_at(at, f, first);
}
template <class F, class First, class Second>
requires(TensorTree<Second>)
    [[nodiscard("rondo: map_leaves returns a new tree; use it")]] traced_t<First> map_leaves(
        F&& f, const First& first, const Second& second,
        SourceLocation at = SourceLocation::current()) {
  return detail::map_leaves_at(at, f, first, second);
}
template <class F, class First, class Second, class Third>
requires(TensorTree<Third>)
    [[nodiscard("rondo: map_leaves returns a new tree; use it")]] traced_t<First> map_leaves(
        F&& f, const First& first, const Second& second, const Third& third,
        SourceLocation at = SourceLocation::current()) {
  return detail::map_leaves_at(at, f, first, second, third);
}
/// For more than three trees; errors name no line.
template <class F, class First, class Second, class Third, class Fourth, class... More>
requires(TensorTree<Fourth>)
    [[nodiscard("rondo: map_leaves returns a new tree; use it")]] traced_t<First> map_leaves(
        F&& f, const First& first, const Second& second, const Third& third, const Fourth& fourth,
        const More&... more) {
  return detail::map_leaves_at(SourceLocation{}, f, first, second, third, fourth, more...);
}

/// The inverse of a ravel: converts a vector with the same number of elements back to a tree.
template <class Tree>
class Unravel {
 public:
  Unravel(Tree prototype, std::vector<TensorType> types)
      : prototype_(std::move(prototype)), types_(std::move(types)) {}

  /// Throws TraceError unless it is a vector with as many elements as the tree. Its dtype is that
  /// of the leaves.
  [[nodiscard("rondo: unravel returns the tree; use it")]] Tree operator()(
      const Tensor& vector, SourceLocation at = SourceLocation::current()) const {
    return detail::whole_tree_from(prototype_, detail::unravel(vector, types_, at));
  }

 private:
  Tree prototype_;  // without its tensors
  std::vector<TensorType> types_;
};

/// All elements of a tree's leaves as one vector, in the order of the leaves, row by row, and the
/// function that converts such a vector to a tree: pair{vector, unravel}. For solvers and
/// optimizers of vectors. Throws TraceError if the leaves have different dtypes.
template <class Tree>
[[nodiscard("rondo: ravel returns the vector and its inverse; use them")]] auto ravel(
    const Tree& tree, SourceLocation at = SourceLocation::current()) {
  const detail::Leaves leaves = detail::leaves_of(tree, "tree", at);
  Tensor vector = detail::ravel(leaves, at);
  std::vector<TensorType> types;
  for (const Tensor& leaf : leaves.values) types.push_back(leaf.type());
  traced_t<Tree> prototype = rebuild_tree<Tensor>(tree, [] { return Tensor(); });
  return std::pair(std::move(vector),
                   Unravel<traced_t<Tree>>(std::move(prototype), std::move(types)));
}

/// Writes the leaves of a tree as the arrays of an .npz, by the names of its fields, like
/// numpy.savez(path, slab=…, tank=…). Lazy tensors are evaluated. Throws TraceError inside a traced
/// function, ExecutionError if the file cannot be written, or if the library was built without
/// libzip.
template <TensorTree Tree>
void save_npz(const std::string& path, const Tree& tree) {
  std::vector<Literal> values;
  for_each_leaf(tree, [&]<class Leaf>(const Leaf& leaf) {
    if constexpr (std::is_same_v<Leaf, Literal>)
      values.push_back(leaf);
    else if constexpr (std::is_same_v<Leaf, Tensor>)
      values.push_back(leaf.eval());
    else if constexpr (AdaptedArray<Leaf>)
      values.push_back(ArrayAdaptor<Leaf>::literal(leaf));
    else
      values.push_back(Literal::scalar(leaf));
  });
  detail::save_npz(path, detail::npz_names(tree), values);
}

/// Reads an .npz written by save_npz, or by NumPy with the same names (numpy.savez or
/// savez_compressed), into a tree of the structure of `prototype`, whose leaves give the types:
/// they are Tensors, Literals, C++ numbers, or TensorTypes (which become Tensors). Throws
/// ParseError, naming the file, if its names, dtypes or shapes are not the prototype's.
template <TensorTree Tree>
[[nodiscard("rondo: load_npz returns the tree; use it")]] auto load_npz(const std::string& path,
                                                                        const Tree& prototype) {
  std::vector<TensorType> types;
  for_each_leaf(prototype, [&]<class Leaf>(const Leaf& leaf) {
    if constexpr (std::is_same_v<Leaf, TensorType>)
      types.push_back(leaf);
    else if constexpr (HostScalar<Leaf>)
      types.push_back({dtype_of<Leaf>, {}});
    else if constexpr (AdaptedArray<Leaf>)
      types.push_back(ArrayAdaptor<Leaf>::literal(leaf).type());
    else
      types.push_back(leaf.type());
  });
  const std::vector<Literal> values = detail::load_npz(path, detail::npz_names(prototype), types);
  std::size_t next = 0;
  if constexpr (detail::all_leaves<Tree, detail::NoSpecs>()) {
    Tree tree = prototype;
    for_each_leaf(tree, [&]<class Leaf>(Leaf& leaf) {
      const Literal& value = values[next++];
      if constexpr (HostScalar<Leaf>)
        leaf = value.item<Leaf>();
      else if constexpr (AdaptedArray<Leaf>)
        leaf = ArrayAdaptor<Leaf>::from(value);
      else
        leaf = Leaf(value);
    });
    return tree;
  } else {
    return rebuild_tree<Tensor>(prototype, [&] { return Tensor(values[next++]); });
  }
}

}  // namespace rondo
