#include "ops/indexed_windows.h"

#include <algorithm>

#include "ops/dynamic_slice.h"

namespace rondo::ops {

namespace {

/// Throws unless the axes are distinct and in [0, rank), and increasing if `sorted`.
void check_axes(const InferContext& context, std::string_view name,
                std::span<const std::int64_t> axes, std::int64_t rank, bool sorted) {
  for (std::size_t i = 0; i < axes.size(); i++) {
    if (axes[i] < 0 || axes[i] >= rank) {
      context.fail(fmt::format("{} names axis {}; there are {} axes\n  Axes count from 0.", name,
                               axes[i], rank));
    }
    if (std::find(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(i), axes[i]) !=
        axes.begin() + static_cast<std::ptrdiff_t>(i)) {
      context.fail(fmt::format("{} names axis {} twice\n  Name it once.", name, axes[i]));
    }
    if (sorted && i > 0 && axes[i] < axes[i - 1])
      context.fail(fmt::format("{} [{}] must grow\n  Name its axes from the first to the last.",
                               name, fmt::join(axes, ",")));
  }
}

void check_disjoint(const InferContext& context, std::string_view a_name,
                    std::span<const std::int64_t> a, std::string_view b_name,
                    std::span<const std::int64_t> b) {
  for (std::int64_t axis : a) {
    if (std::find(b.begin(), b.end(), axis) != b.end()) {
      context.fail(fmt::format("axis {} is in {} and in {}\n  Name it in one of them.", axis,
                               a_name, b_name));
    }
  }
}

bool names_axis(std::span<const std::int64_t> axes, std::int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

}  // namespace

Dims batch_sizes(const TensorType& indices, std::int64_t index_vector_dim) {
  Dims sizes;
  for (std::int64_t axis = 0; axis < indices.rank(); axis++) {
    if (axis != index_vector_dim) sizes.push_back(indices.shape[axis]);
  }
  return sizes;
}

ir::Gather window_elements(const IndexedWindows& dims, const Shape& operand,
                           const TensorType& indices, std::int64_t windowed_rank,
                           std::span<const std::int64_t> sizes) {
  const auto contains = [](const std::vector<std::int64_t>& axes, std::int64_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  ir::Gather places;
  // The axes of the indices, except that of the components, count windows.
  std::int64_t batch_axis = 0;
  for (std::int64_t axis = 0; axis < indices.rank(); axis++) {
    if (axis == dims.index_vector_dim) {
      places.indices.push_back({windowed_rank, 0, 1, -1, 0});
      continue;
    }
    while (contains(dims.window, batch_axis)) batch_axis++;
    places.indices.push_back({batch_axis++, 0, 1, -1, 0});
  }
  auto window = dims.window.begin();
  for (std::int64_t axis = 0; axis < operand.rank(); axis++) {
    const auto batching = std::find(dims.batching.begin(), dims.batching.end(), axis);
    if (batching != dims.batching.end()) {
      const auto of_indices =
          dims.indices_batching[static_cast<std::size_t>(batching - dims.batching.begin())];
      places.table.push_back(places.indices[static_cast<std::size_t>(of_indices)]);
    } else if (contains(dims.absent, axis)) {
      places.table.push_back({});
    } else {
      places.table.push_back({*window++, 0, 1, -1, 0});
    }
  }
  for (const std::int64_t axis : dims.start_map)
    places.components.push_back({axis, operand[axis] - sizes[static_cast<std::size_t>(axis)]});
  return places;
}

void check_indexed_windows(const InferContext& context, const IndexedWindows& dims,
                           const TensorType& operand, const TensorType& indices,
                           std::int64_t windowed_rank) {
  const IndexedWindowNames& names = dims.names;
  if (!is_integer(indices.dtype))
    context.fail(
        fmt::format("the indices are {}; they must be integers\n  Convert them: "
                    "rondo::convert(indices, DType::kS32).",
                    indices.str()));
  if (dims.index_vector_dim < 0 || dims.index_vector_dim > indices.rank()) {
    context.fail(
        fmt::format("index_vector_dim is {}; the indices {} allow 0 to {}\n  Name the axis along "
                    "which the parts of one index are; the last of these if each is one number.",
                    dims.index_vector_dim, indices.str(), indices.rank()));
  }
  check_axes(context, names.window, dims.window, windowed_rank, true);
  check_axes(context, names.absent, dims.absent, operand.rank(), true);
  check_axes(context, names.start_map, dims.start_map, operand.rank(), false);
  check_axes(context, names.batching, dims.batching, operand.rank(), true);
  check_axes(context, names.indices_batching, dims.indices_batching, indices.rank(), false);
  check_disjoint(context, names.absent, dims.absent, names.batching, dims.batching);
  check_disjoint(context, names.start_map, dims.start_map, names.batching, dims.batching);
  const std::size_t described = dims.window.size() + dims.absent.size() + dims.batching.size();
  if (described != operand.shape.size()) {
    context.fail(fmt::format(
        "{}, {} and {} name {} axes together; the operand {} has {}\n  Each axis of the operand is "
        "one of the window, or named as one that has none.",
        names.window, names.absent, names.batching, described, operand.str(), operand.rank()));
  }
  const std::int64_t parts =
      dims.index_vector_dim == indices.rank() ? 1 : indices.shape[dims.index_vector_dim];
  if (static_cast<std::int64_t>(dims.start_map.size()) != parts) {
    context.fail(fmt::format(
        "{} names {} axes; the indices {} have {} numbers along axis {}, one for each\n  Name the "
        "axis of the operand that each of these numbers counts along.",
        names.start_map, dims.start_map.size(), indices.str(), parts, dims.index_vector_dim));
  }
  if (dims.batching.size() != dims.indices_batching.size()) {
    context.fail(
        fmt::format("{} names {} axes, {} names {}; they go in pairs\n  Name as many in one as in "
                    "the other, in the same order.",
                    names.batching, dims.batching.size(), names.indices_batching,
                    dims.indices_batching.size()));
  }
  for (std::size_t i = 0; i < dims.batching.size(); i++) {
    const std::int64_t axis = dims.indices_batching[i];
    if (axis == dims.index_vector_dim) {
      context.fail(fmt::format(
          "{} names axis {}, which is the index_vector_dim\n  Name an axis that counts indices.",
          names.indices_batching, axis));
    }
    if (operand.shape[dims.batching[i]] != indices.shape[axis]) {
      context.fail(
          fmt::format("axis {} of the operand {} and axis {} of the indices {} go along with one "
                      "another and differ in size\n  Make their sizes equal, or name other axes.",
                      dims.batching[i], operand.str(), axis, indices.str()));
    }
  }
}

std::vector<ir::IndexRange> window_ranges(const IndexedWindows& dims, std::string_view op,
                                          const Shape& array, const TensorType& indices,
                                          std::size_t operand, std::span<const std::int64_t> sizes,
                                          bool drops) {
  std::vector<ir::IndexRange> ranges;
  for (std::size_t i = 0; i < dims.start_map.size(); i++) {
    const std::int64_t axis = dims.start_map[i];
    ranges.push_back(
        {.op = op,
         .operand = operand,
         .vector_dim = dims.index_vector_dim < indices.rank() ? dims.index_vector_dim : -1,
         .component = static_cast<std::int64_t>(i),
         .axis = axis,
         .size = array[axis],
         .room = array[axis] - sizes[static_cast<std::size_t>(axis)],
         .drops = drops});
  }
  return ranges;
}

WindowWalk::WindowWalk(const IndexedWindows& dims, const Shape& operand, const TensorType& indices,
                       const Shape& windowed, std::span<const std::int64_t> sizes)
    : index_dtype_(indices.dtype),
      operand_strides_(dense_strides(operand)),
      windowed_strides_(operand.size(), 0) {
  const Dims windowed_strides = dense_strides(windowed),
             indices_strides = dense_strides(indices.shape);
  const bool implied = dims.index_vector_dim == indices.rank();
  index_stride_ = implied ? 0 : indices_strides[static_cast<std::size_t>(dims.index_vector_dim)];
  std::size_t next = 0;
  for (std::int64_t axis = 0; axis < operand.rank(); axis++) {
    if (names_axis(dims.absent, axis) || names_axis(dims.batching, axis)) continue;
    windowed_strides_[static_cast<std::size_t>(axis)] =
        windowed_strides[static_cast<std::size_t>(dims.window[next++])];
  }
  for (std::int64_t axis : dims.start_map) {
    starts_.push_back({operand[axis] - sizes[static_cast<std::size_t>(axis)],
                       operand_strides_[static_cast<std::size_t>(axis)]});
  }
  std::int64_t indices_axis = 0;
  for (std::int64_t axis = 0; axis < windowed.rank(); axis++) {
    if (names_axis(dims.window, axis)) continue;
    if (indices_axis == dims.index_vector_dim) indices_axis++;
    Batch batch{windowed[axis], 0, windowed_strides[static_cast<std::size_t>(axis)],
                indices_strides[static_cast<std::size_t>(indices_axis)]};
    const auto paired =
        std::find(dims.indices_batching.begin(), dims.indices_batching.end(), indices_axis);
    if (paired != dims.indices_batching.end()) {
      batch.operand = operand_strides_[static_cast<std::size_t>(
          dims.batching[static_cast<std::size_t>(paired - dims.indices_batching.begin())])];
    }
    batch_.push_back(batch);
    indices_axis++;
  }
}

bool WindowWalk::start_of(const std::byte* indices, std::int64_t indices_at, bool clamped,
                          std::int64_t& offset) const {
  for (const Start& start : starts_) {
    std::int64_t index = index_at(index_dtype_, indices, indices_at);
    if (clamped)
      index = std::clamp<std::int64_t>(index, 0, start.room);
    else if (index < 0 || index > start.room)
      return false;
    offset += index * start.stride;
    indices_at += index_stride_;
  }
  return true;
}

}  // namespace rondo::ops
