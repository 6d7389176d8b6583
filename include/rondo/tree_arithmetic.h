// Arithmetic on whole trees, leaf by leaf, for solvers and optimizers of users' structs.
//
// Two trees have the same structure and leaves of the same types. All throw TraceError if they do
// not, naming the leaf by its path.
#pragma once

#include <cstdint>

#include "rondo/detail/leaves.h"
#include "rondo/detail/tree_arithmetic.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// a * x + y, leaf by leaf, as a tree like x. `a` is a scalar: a C++ one takes the dtype of each
/// leaf, a tensor has that dtype.
template <TensorTree X, TensorTree Y>
[[nodiscard("rondo: axpy returns a new tree; use it")]] traced_t<X> axpy(const Operand& a,
                                                                         const X& x, const Y& y) {
  return detail::whole_tree_from(
      x, detail::axpy(a, detail::leaves_of(x, "x", a.at()), detail::leaves_of(y, "y", a.at())));
}

/// The sum over all elements of all leaves of x * y: one scalar, of the dtype that the leaves
/// share. For complex numbers conj(x) * y, like NumPy's vdot. 0 in f32 for trees without leaves.
template <TensorTree X, TensorTree Y>
[[nodiscard]] Tensor dot_of(const X& x, const Y& y, SourceLocation at = SourceLocation::current()) {
  return detail::dot_of(detail::leaves_of(x, "x", at), detail::leaves_of(y, "y", at), at);
}

/// The root of the sum of |x|^2 over all elements of all leaves, which are floats or complex
/// numbers of one width. Where all are 0 its derivative is 0, like that of norm.
template <TensorTree Tree>
[[nodiscard]] Tensor norm_of(const Tree& tree, SourceLocation at = SourceLocation::current()) {
  return detail::norm_of(detail::leaves_of(tree, "tree", at), at);
}

/// Zeros of the leaves' types, as a tree of Tensors.
template <TensorTree Tree>
[[nodiscard]] traced_t<Tree> zeros_like(const Tree& tree,
                                        SourceLocation at = SourceLocation::current()) {
  return detail::whole_tree_from(
      tree, detail::full_like("zeros_like", detail::leaves_of(tree, "tree", at), Operand(0, at)));
}

/// Ones of the leaves' types, as a tree of Tensors.
template <TensorTree Tree>
[[nodiscard]] traced_t<Tree> ones_like(const Tree& tree,
                                       SourceLocation at = SourceLocation::current()) {
  return detail::whole_tree_from(
      tree, detail::full_like("ones_like", detail::leaves_of(tree, "tree", at), Operand(1, at)));
}

/// take(leaf, index, axis) for each leaf: one element of a tree of stacked arrays, as a scan
/// returns them, or several with an array of indices. Indices are clamped. A negative axis counts
/// from the end of each leaf.
template <TensorTree Tree>
[[nodiscard]] traced_t<Tree> take_of(const Tree& tree, const Operand& index,
                                     std::int64_t axis = 0) {
  return detail::whole_tree_from(
      tree, detail::take_of(detail::leaves_of(tree, "tree", index.at()), index, axis));
}

}  // namespace rondo
