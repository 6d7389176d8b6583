// Reductions: ops that combine the elements along axes, to one element or to a prefix scan.
//
// `axes` may be negative (they count from the end) and is empty for all axes. The axes are removed
// from the result, or stay with size 1 if `keepdims`. All of these throw TraceError for axes out of
// range or named twice.
//
// Rounding of sums: f32 and c64 are accumulated in double precision and rounded once, f64 and c128
// in their own, so a million terms are accurate to 1e-6 relative to the sum of their magnitudes.
// f16 and bf16 round at every step, like XLA's reduce: a bf16 sum of ones stays at 256. Convert to
// f32 first if that is not intended.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/leaves.h"
#include "rondo/detail/ops.h"
#include "rondo/detail/why.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// The sum of the elements. Integers wrap in their own dtype; pred counts in s32. The sum of no
/// elements is 0.
RONDO_API Tensor sum(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// The product of the elements. Integers wrap in their own dtype; pred multiplies in s32. The
/// product of no elements is 1. The derivative is right where elements are 0, too.
RONDO_API Tensor prod(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// The greatest element; NaN if any is NaN. Throws TraceError for no elements and for complex
/// numbers. The derivative is shared equally by the elements that are the greatest.
RONDO_API Tensor max(const Operand& x, const std::vector<std::int64_t>& axes = {},
                     bool keepdims = false);
/// The least element; NaN if any is NaN. Throws TraceError for no elements and for complex numbers.
/// The derivative is shared equally by the elements that are the least.
RONDO_API Tensor min(const Operand& x, const std::vector<std::int64_t>& axes = {},
                     bool keepdims = false);
// clang-format off
template <class T, detail::Why kWhy = "rondo: write an axis of max in braces, max(x, {1}); the greater of two is maximum(x, y)"> requires(ScalarValue<T> || std::same_as<T, Tensor>) Tensor max(const Operand&, const T&, bool = false) = delete;
template <class T, detail::Why kWhy = "rondo: write an axis of min in braces, min(x, {1}); the lesser of two is minimum(x, y)"> requires(ScalarValue<T> || std::same_as<T, Tensor>) Tensor min(const Operand&, const T&, bool = false) = delete;
// clang-format on
/// The arithmetic mean (f16 and bf16 are summed in f32); NaN for no elements. Throws TraceError for
/// integers and pred.
RONDO_API Tensor mean(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// pred: whether any element is true, or not 0 for other dtypes. False for no elements.
RONDO_API Tensor any(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// pred: whether all elements are true, or not 0 for other dtypes. True for no elements.
RONDO_API Tensor all(const Operand& x, const Axes& axes = {}, bool keepdims = false);

/// s32: the position along the axis of the greatest element: the first of equal ones, the first NaN
/// if there is one. The axis is removed. Throws TraceError for complex numbers, for no elements and
/// for more than 2^31 - 1 of them.
RONDO_API Tensor argmax(const Operand& x, std::int64_t axis);
/// s32: the position along the axis of the least element: the first of equal ones, the first NaN if
/// there is one. The axis is removed. Throws TraceError as argmax.
RONDO_API Tensor argmin(const Operand& x, std::int64_t axis);

/// Element i along the axis is the sum of elements 0 to i of x, or of i to the last if `reverse`.
/// Accumulated like sums, but f16 and bf16 in f32. pred counts in s32.
RONDO_API Tensor cumsum(const Operand& x, std::int64_t axis, bool reverse = false);
/// Element i along the axis is the product of elements 0 to i of x, or of i to the last if
/// `reverse`. Integers wrap in their own dtype; pred multiplies in s32.
RONDO_API Tensor cumprod(const Operand& x, std::int64_t axis, bool reverse = false);
/// Element i along the axis is the greatest of elements 0 to i of x, or of i to the last if
/// `reverse`: NaN from the first NaN on. Throws TraceError for complex numbers. Equal elements
/// share the derivative.
RONDO_API Tensor cummax(const Operand& x, std::int64_t axis, bool reverse = false);
/// Element i along the axis is the least of elements 0 to i of x, or of i to the last if `reverse`.
/// NaN, errors and derivative as for cummax.
RONDO_API Tensor cummin(const Operand& x, std::int64_t axis, bool reverse = false);

/// Combines the elements of one or several arrays of one shape along the axes: `combine(acc, x)`
/// takes two trees of scalars of the structure of `operands` and returns a third. It starts from
/// `inits`, scalars of the operands' dtypes, takes the elements in row-major order, and may capture
/// only constants. Without elements the result is `inits`.
///
/// Throws TraceError if the operands differ in shape, if an initial value is no scalar of its
/// operand's dtype, or if `combine` returns other types than it takes. A combiner that only adds,
/// multiplies, takes the maximum or minimum, or the bitwise or logical `and` or `or` is as fast as
/// sum and similar functions (and as accurate).
template <TensorTree T, TensorTree Inits, class Combine>
[[nodiscard("rondo: reduce returns the combined elements; use them")]] traced_t<T> reduce(
    const T& operands, const Inits& inits, const std::vector<std::int64_t>& axes, Combine&& combine,
    SourceLocation at = SourceLocation::current()) {
  using Traced = traced_t<T>;
  static_assert(std::is_invocable_v<Combine&, const Traced&, const Traced&>,
                "rondo: the combiner of reduce takes two values of the operands' structure: "
                "(accumulator, element).");
  std::vector<Tensor> operand_leaves = detail::leaf_tensors(operands, at);
  const std::size_t n = operand_leaves.size();
  const TreeStructure structure = TreeStructure::of(operands);
  if constexpr (TreeConvertible<Inits, Traced>) {
    const TreeStructure of_inits = TreeStructure::of(inits);
    if (leaf_count(inits) == n)  // other numbers are rejected below
      detail::check_same_structure("reduce: the tree of initial values", structure, of_inits, "",
                                   at);
  }
  const std::vector<Tensor> results = detail::reduce_leaves(
      std::move(operand_leaves), detail::leaf_tensors(inits, at), axes,
      [&](std::span<const Tensor> p) {
        const Traced combined =
            tree_cast<Traced>(combine(detail::whole_tree_from(operands, p.first(n)),
                                      detail::whole_tree_from(operands, p.subspan(n))),
                              at);
        detail::check_same_structure("reduce: the result of the combiner", structure,
                                     TreeStructure::of(combined), "", at);
        return detail::leaf_tensors(combined, at);
      },
      at);
  return detail::whole_tree_from(operands, results);
}
/// The same for inits of the operands' own type: without this overload, std::reduce would be an
/// equally good match for unqualified calls.
template <TensorTree T, class Combine>
[[nodiscard("rondo: reduce returns the combined elements; use them")]] traced_t<T> reduce(
    const T& operands, const T& inits, const std::vector<std::int64_t>& axes, Combine&& combine,
    SourceLocation at = SourceLocation::current()) {
  return rondo::reduce<T, T, Combine>(operands, inits, axes, std::forward<Combine>(combine), at);
}

}  // namespace rondo
