// Slices at positions known only at run time.
#pragma once

#include <span>
#include <vector>

#include "ir/cotangents.h"
#include "ir/node.h"

namespace rondo::ops {

/// Operands: the array, then a scalar start for each of its axes, all of one integer dtype.
struct DynamicSliceAttributes {
  std::vector<std::int64_t> sizes;
  bool operator==(const DynamicSliceAttributes&) const = default;
};

extern const ir::OpDef kDynamicSlice;
/// Operands: the array, the update, then the starts.
extern const ir::OpDef kDynamicUpdateSlice;

/// The cotangent of an array of which the part at `starts` was read, from the cotangent of the
/// part.
ir::CotangentPart part_of_zeros(const TensorType& type, const Tensor& part,
                                std::span<const Tensor> starts, SourceLocation at);

/// Starts in the form that the op takes: integer scalars of one dtype. C++ integers get the
/// tensors' dtype; if they are out of its range, or the tensors differ, all become s64. Throws
/// TraceError naming `op` for starts that are not integer scalars.
std::vector<Tensor> matched_starts(std::string_view op, std::span<const Tensor> starts,
                                   SourceLocation at);

/// The least number of a signed dtype: an index that drops an update on purpose.
std::int64_t no_place(DType dtype);

/// As s64; unsigned values past its range become its largest value, as they are clamped anyway.
Tensor wide_index(const Tensor& index, SourceLocation at);

/// Element `i` of an integer array as an index; unsigned values past the range of s64 become its
/// largest one.
std::int64_t index_at(DType dtype, const std::byte* indices, std::int64_t i);
std::int64_t index_at(const Literal& indices, std::int64_t i);

}  // namespace rondo::ops
