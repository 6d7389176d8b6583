// Shared by gather and scatter: windows of an array, one for each index vector of an array of
// indices.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/index_range.h"
#include "ir/loop_nest.h"
#include "ops/kernels/box.h"
#include "ops/support.h"

namespace rondo::ops {

/// The names of the fields of GatherDims or ScatterDims.
struct IndexedWindowNames {
  std::string_view window, absent, start_map, batching, indices_batching;
};

/// The fields of GatherDims and ScatterDims under one set of names. `windowed` is the result of a
/// gather, the updates of a scatter.
struct IndexedWindows {
  const IndexedWindowNames& names;
  const std::vector<std::int64_t>& window;  // axes of `windowed` inside a window
  const std::vector<std::int64_t>&
      absent;  // axes of the operand with windows of size 1 that `windowed` lacks
  const std::vector<std::int64_t>& start_map;  // the axis of the operand for each component of an
                                               // index
  std::int64_t index_vector_dim;
  const std::vector<std::int64_t>& batching;          // axes of the operand
  const std::vector<std::int64_t>& indices_batching;  // the matching axes of the indices
};

/// The sizes of the indices without the index vector's axis.
Dims batch_sizes(const TensorType& indices, std::int64_t index_vector_dim);

/// Throws unless the axes exist in the types, are distinct and agree in number and size.
/// `windowed_rank` is the rank of the result or of the updates.
void check_indexed_windows(const InferContext& context, const IndexedWindows& dims,
                           const TensorType& operand, const TensorType& indices,
                           std::int64_t windowed_rank);

/// The position in the operand of an element of `windowed`. `sizes`: of a window along each axis of
/// it.
ir::Gather window_elements(const IndexedWindows& dims, const Shape& operand,
                           const TensorType& indices, std::int64_t windowed_rank,
                           std::span<const std::int64_t> sizes);

/// The valid range of the indices, which are the operand of that number.
std::vector<ir::IndexRange> window_ranges(const IndexedWindows& dims, std::string_view op,
                                          const Shape& array, const TensorType& indices,
                                          std::size_t operand, std::span<const std::int64_t> sizes,
                                          bool drops);

/// Walks the windows in the order of their index vectors.
class WindowWalk {
 public:
  /// `sizes`: of a window along each axis of the operand. `windowed`: the shape of the result or of
  /// the updates.
  WindowWalk(const IndexedWindows& dims, const Shape& operand, const TensorType& indices,
             const Shape& windowed, std::span<const std::int64_t> sizes);

  /// Strides in elements along each axis of the operand; 0 in `windowed` for axes that it lacks.
  std::span<const std::int64_t> operand_strides() const { return operand_strides_; }
  std::span<const std::int64_t> windowed_strides() const { return windowed_strides_; }

  /// Calls visit(operand_offset, windowed_offset), in elements, for each window. One that crosses
  /// the edge of the operand is shifted inwards if `clamped`, else skipped.
  template <class Visit>
  void for_each(const std::byte* indices, bool clamped, Visit&& visit) const {
    Dims index(batch_.size(), 0);
    std::int64_t operand_at = 0, windowed_at = 0, indices_at = 0;
    for (const Batch& axis : batch_) {
      if (axis.size == 0) return;
    }
    while (true) {
      std::int64_t start = 0;
      if (start_of(indices, indices_at, clamped, start)) visit(operand_at + start, windowed_at);
      std::size_t axis = batch_.size();
      while (true) {
        if (axis-- == 0) return;
        const Batch& batch = batch_[axis];
        operand_at += batch.operand;
        windowed_at += batch.windowed;
        indices_at += batch.indices;
        if (++index[axis] < batch.size) break;
        operand_at -= batch.operand * batch.size;
        windowed_at -= batch.windowed * batch.size;
        indices_at -= batch.indices * batch.size;
        index[axis] = 0;
      }
    }
  }

 private:
  struct Batch {  // an axis that counts windows, with its strides
    std::int64_t size;
    std::int64_t operand;  // not 0 for a batching axis
    std::int64_t windowed;
    std::int64_t indices;
  };
  struct Start {          // a component of the index vector
    std::int64_t room;    // the last position at which a window fits
    std::int64_t stride;  // in the operand
  };

  /// The offset of a window; false if it is out of bounds.
  bool start_of(const std::byte* indices, std::int64_t indices_at, bool clamped,
                std::int64_t& offset) const;

  DType index_dtype_;
  std::int64_t index_stride_;
  absl::InlinedVector<Batch, 4> batch_;
  absl::InlinedVector<Start, 4> starts_;
  Dims operand_strides_;
  Dims windowed_strides_;
};

}  // namespace rondo::ops
