// Scatters by any combiner into any number of arrays, one update after the other.
#include <algorithm>
#include <numeric>
#include <vector>

#include "ir/function_data.h"
#include "ir/region.h"
#include "ops/indexed_windows.h"
#include "ops/scatter.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

bool is_among(const std::vector<std::int64_t>& axes, std::int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = strides.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[static_cast<std::int64_t>(i)];
  return strides;
}

/// Where the updates of a scatter go.
class ScatterPlaces {
 public:
  explicit ScatterPlaces(const Node& node)
      : dims_(node.attrs<ScatterAttributes>().dims),
        shape_(node.type().shape),
        strides_(strides_of(shape_)),
        sizes_(window_sizes(dims_, shape_, node.operand_type(node.types.size() + 1).shape)) {}

  /// Updates as a row, with windows one after the other.
  Tensor in_windows(const Tensor& updates) const {
    std::vector<std::int64_t> order;
    for (std::int64_t axis = 0; axis < updates.rank(); axis++) {
      if (!is_among(dims_.update_window_dims, axis)) order.push_back(axis);
    }
    order.insert(order.end(), dims_.update_window_dims.begin(), dims_.update_window_dims.end());
    return reshape(transpose(updates, order), {updates.type().elements()});
  }

  /// For each of them the s64 place in the array as a row; -1 if its window does not fit.
  Tensor places(const Tensor& indices) const {
    const Tensor starts = starts_of_windows(indices), offsets = offsets_in_window();
    const std::int64_t windows = starts.dim(0), elements = offsets.dim(0);
    const std::vector<std::int64_t> dims{windows, elements};
    const Tensor start = broadcast_in_dim(starts, dims, {0});
    const Tensor place = start + broadcast_in_dim(offsets, dims, {1});
    return reshape(where(start < 0, -1, place), {windows * elements});
  }

 private:
  Tensor offsets_in_window() const {
    const TensorType window{DType::kS64, Shape(sizes_)};
    Tensor offsets = zeros(window);
    for (std::size_t axis = 0; axis < sizes_.size(); axis++) {
      if (sizes_[axis] > 1)
        offsets = offsets + iota(window, static_cast<std::int64_t>(axis)) * strides_[axis];
    }
    return reshape(offsets, {window.elements()});
  }

  Tensor starts_of_windows(const Tensor& indices) const {
    const std::int64_t of_vector = dims_.index_vector_dim;
    std::vector<std::int64_t> order;
    for (std::int64_t axis = 0; axis < indices.rank(); axis++) {
      if (axis != of_vector) order.push_back(axis);
    }
    const Dims batch = batch_sizes(indices.type(), of_vector);
    const TensorType windows{DType::kS64, Shape(batch)};
    if (of_vector < indices.rank()) order.push_back(of_vector);
    const auto components = static_cast<std::int64_t>(dims_.scatter_dims_to_operand_dims.size());
    const std::int64_t count = windows.elements();
    const Tensor vectors =
        reshape(convert(transpose(indices, order), DType::kS64), {count, components});
    Tensor start = zeros(windows);
    for (std::size_t i = 0; i < dims_.input_batching_dims.size(); i++) {
      const std::int64_t axis = dims_.scatter_indices_batching_dims[i];
      const std::int64_t stride = strides_[static_cast<std::size_t>(dims_.input_batching_dims[i])];
      start = start + iota(windows, axis > of_vector ? axis - 1 : axis) * stride;
    }
    start = reshape(start, {count});
    for (std::int64_t i = 0; i < components; i++) {
      const std::int64_t axis = dims_.scatter_dims_to_operand_dims[static_cast<std::size_t>(i)];
      const auto at = static_cast<std::size_t>(axis);
      const std::int64_t room = shape_[axis] - sizes_[at];
      const Tensor part = reshape(slice(vectors, {0, i}, {count, i + 1}), {count});
      const Tensor fits = (start >= 0) & (part >= 0) & (part <= room);
      start = where(fits, start + part * strides_[at], -1);
    }
    return start;
  }

  const ScatterDims& dims_;
  Shape shape_;
  std::vector<std::int64_t> strides_, sizes_;
};

}  // namespace

std::vector<Tensor> scatter_in_loops(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope at(node.location());
  const std::size_t count = node.types.size();
  std::vector<Tensor> arrays(operands.begin(),
                             operands.begin() + static_cast<std::ptrdiff_t>(count));
  const std::int64_t updates = operands[count + 1].type().elements();
  if (updates == 0 || node.type().elements() == 0) return arrays;
  const ScatterPlaces meant(node);
  const Tensor places = meant.places(operands[count]);
  std::vector<Tensor> given;
  for (std::size_t i = 0; i < count; i++) {
    given.push_back(meant.in_windows(operands[count + 1 + i]));
    arrays[i] = reshape(arrays[i], {node.type().elements()});
  }
  const auto combine = [&](const Tensor& number, std::vector<Tensor> all) {
    const Tensor place = places[number], fits = place >= 0;
    std::vector<Tensor> both;
    for (const Tensor& array : all) both.push_back(array[place]);
    for (const Tensor& update : given) both.push_back(update[number]);
    const std::vector<Tensor> combined = ir::Replay::inline_call(node.regions[0], both);
    for (std::size_t i = 0; i < count; i++)
      all[i] = update(all[i], place, where(fits, combined[i], both[i]));
    return all;
  };
  arrays = fori_loop(0, updates, combine, arrays, {.name = "scatter"});
  for (std::size_t i = 0; i < count; i++)
    arrays[i] = reshape(arrays[i], node.types[i].shape.vector());
  return arrays;
}

}  // namespace rondo::ops
