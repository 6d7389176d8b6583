// Reading and writing parts of arrays.
//
// Index tensors are integer scalars or arrays of any integer dtype; unsigned ones are read as
// unsigned. Indices that are known only at run time are never errors: they are clamped so that the
// slice is within the array, as in XLA, and scatter drops updates that do not fit. All of these
// throw TraceError, naming the types, for shapes that do not fit.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "rondo/detail/ops.h"
#include "rondo/tensor.h"

namespace rondo {

/// Elements starts[i], starts[i] + strides[i], ... before limits[i] along each axis i; the default
/// strides are 1. Throws TraceError unless 0 <= start <= limit <= size and the stride is positive.
RONDO_API Tensor slice(const Operand& x, const std::vector<std::int64_t>& starts,
                       const std::vector<std::int64_t>& limits,
                       const std::vector<std::int64_t>& strides = {});

/// The slice of the given sizes that begins at `starts`, an integer scalar for each axis (tensors
/// or C++ integers), which are clamped so that the slice is within x.
RONDO_API Tensor dynamic_slice(const Operand& x, const std::vector<Tensor>& starts,
                               const std::vector<std::int64_t>& sizes);

/// x with the slice that begins at `starts` replaced by `update`, of the same rank and dtype;
/// `starts` are clamped so that it fits.
RONDO_API Tensor dynamic_update_slice(const Operand& x, const Operand& update,
                                      const std::vector<Tensor>& starts);

/// x with row `i` of axis 0 replaced. `i` is a C++ integer (negative counts from the end; out of
/// range throws) or an integer scalar tensor (clamped). `row` broadcasts to the shape of a row; a
/// C++ scalar takes the dtype of x.
[[nodiscard("rondo: update leaves x as it is: x = rondo::update(x, i, row)")]] RONDO_API Tensor
update(const Operand& x, const Operand& i, const Operand& row);

/// The elements, rows, ... of x along `axis` at the indices, an integer array of any shape, which
/// replaces that axis in the result: shape x.shape[:axis] + indices.shape + x.shape[axis + 1:].
/// Indices are clamped, negative ones too.
RONDO_API Tensor take(const Operand& x, const Operand& indices, std::int64_t axis = 0);

/// How gather reads slices of an array, after XLA's Gather
/// (openxla.org/xla/operation_semantics#gather). The axis `index_vector_dim` of the indices (or an
/// implied last one of size 1, if it is their rank) holds the start of a slice; all other axes of
/// the indices count slices.
struct GatherDims {
  /// Axes of the result that are within a slice; the others count slices.
  std::vector<std::int64_t> offset_dims = {};
  /// Axes of the operand along which slices have size 1 and which are removed.
  std::vector<std::int64_t> collapsed_slice_dims = {};
  /// The axis of the operand to which each component of an index applies.
  std::vector<std::int64_t> start_index_map = {};
  std::int64_t index_vector_dim = 0;
  /// Axes of the operand, and the axes of the indices with which they are paired: slice i along the
  /// latter comes from position i of the former.
  std::vector<std::int64_t> operand_batching_dims = {};
  std::vector<std::int64_t> start_indices_batching_dims = {};
  bool operator==(const GatherDims&) const = default;
};

/// Slices of the given sizes, one size for each axis of x, at the positions in `indices`, an
/// integer array; starts are clamped so that each slice is within x.
RONDO_API Tensor gather(const Operand& x, const Operand& indices, const GatherDims& dims,
                        const std::vector<std::int64_t>& slice_sizes);

/// Where scatter writes its updates, after XLA's Scatter
/// (openxla.org/xla/operation_semantics#scatter): the counterpart of GatherDims.
struct ScatterDims {
  /// Axes of the updates that are within a window; the others count windows.
  std::vector<std::int64_t> update_window_dims = {};
  /// Axes of the operand along which windows have size 1, and which the updates lack.
  std::vector<std::int64_t> inserted_window_dims = {};
  /// The axis of the operand to which each component of an index applies.
  std::vector<std::int64_t> scatter_dims_to_operand_dims = {};
  std::int64_t index_vector_dim = 0;
  /// Axes of the operand, and the axes of the indices with which they are paired.
  std::vector<std::int64_t> input_batching_dims = {};
  std::vector<std::int64_t> scatter_indices_batching_dims = {};
  bool operator==(const ScatterDims&) const = default;
};

/// x with each updated element replaced by `combine(element, update)`, two scalars of the dtype of
/// x; it may capture only constants. Updates are applied in the order of their indices, so each one
/// sees the results of earlier ones at the same position. A window that is not completely within x
/// is dropped.
template <class Combine>
Tensor scatter(const Operand& x, const Operand& indices, const Operand& updates,
               const ScatterDims& dims, Combine&& combine) {
  static_assert(
      std::is_invocable_r_v<Tensor, Combine&, const Tensor&, const Tensor&>,
      "rondo: the combiner of scatter takes two scalar Tensors (element, update) and returns one.");
  return detail::scatter_with(x, indices, updates, dims, [&](std::span<const Tensor> p) {
    return std::vector<Tensor>{combine(p[0], p[1])};
  });
}

}  // namespace rondo
