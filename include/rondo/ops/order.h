// Sorting.
//
// The order of sort and argsort: ascending, -0 equal to 0, NaN last, complex numbers by real and
// then by imaginary part. Equal elements keep their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/leaves.h"
#include "rondo/detail/ops.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// x with the elements along the axis sorted. The axis may be negative. Throws TraceError if it is
/// out of range.
RONDO_API Tensor sort(const Operand& x, std::int64_t axis = -1);

/// s32: the positions in x, along the axis, of the elements of sort(x, axis). Throws TraceError for
/// more than 2^31 - 1 elements.
RONDO_API Tensor argsort(const Operand& x, std::int64_t axis = -1);

/// The k greatest elements along the last axis, in descending order, and their positions: {values,
/// s32 indices}, both with k in place of that axis. NaN counts as the greatest; of equal elements
/// the one with the least position comes first. Like jax.lax.top_k. Throws TraceError for a scalar,
/// for complex numbers, and unless 0 <= k <= the size of the axis.
RONDO_API std::pair<Tensor, Tensor> top_k(const Operand& x, std::int64_t k);

/// s32: positions along the axis, such that the element at position number k is the one that a sort
/// would put there, none before it is greater and none after it less: those of argsort. k may be
/// negative and then counts from the end. Throws TraceError if k is out of range.
RONDO_API Tensor argpartition(const Operand& x, std::int64_t k, std::int64_t axis = -1);

/// Sorts one or several arrays of one shape together along the axis, so that no element precedes
/// one that it is `less` than: `less(a, b)` takes two trees of scalars of the structure of
/// `operands` and returns a scalar pred; it may capture only constants. Equal elements keep their
/// order if `stable`. With a comparator that is no strict weak order the order is unspecified.
///
/// Throws TraceError if the operands differ in shape, or if `less` returns anything but a scalar
/// pred.
template <TensorTree T, class Less>
[[nodiscard("rondo: sort_by sorts nothing in place: it returns what is sorted")]] traced_t<T>
sort_by(const T& operands, std::int64_t axis, Less&& less, bool stable = true,
        SourceLocation at = SourceLocation::current()) {
  using Traced = traced_t<T>;
  static_assert(std::is_invocable_r_v<Tensor, Less&, const Traced&, const Traced&>,
                "rondo: the comparator of sort_by takes two values of the operands' structure, and "
                "returns a scalar pred: whether the first goes before the second");
  std::vector<Tensor> leaves = detail::leaf_tensors(operands, at);
  const std::size_t n = leaves.size();
  const std::vector<Tensor> results = detail::sort_leaves(
      std::move(leaves), axis,
      [&](std::span<const Tensor> p) -> Tensor {
        return less(detail::whole_tree_from(operands, p.first(n)),
                    detail::whole_tree_from(operands, p.subspan(n)));
      },
      stable, at);
  return detail::whole_tree_from(operands, results);
}

}  // namespace rondo
