// Random windows for gather and scatter, and the definition of both, element by element, as XLA's
// operation semantics give it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "ops/moved.h"

namespace rondo::testing {

inline bool contains(const std::vector<std::int64_t>& values, std::int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// A valid use of gather: `windowed` is the shape of its result. The corresponding use of scatter
/// has updates of that shape.
struct WindowCase {
  Shape operand, indices, windowed;
  GatherDims dims;
  std::vector<std::int64_t> sizes;  // of a window along each axis of the operand
  std::vector<std::int32_t>
      starts;  // the values of the indices: some in range, some beyond both ends

  ScatterDims scatter_dims() const {
    return {.update_window_dims = dims.offset_dims,
            .inserted_window_dims = dims.collapsed_slice_dims,
            .scatter_dims_to_operand_dims = dims.start_index_map,
            .index_vector_dim = dims.index_vector_dim,
            .input_batching_dims = dims.operand_batching_dims,
            .scatter_indices_batching_dims = dims.start_indices_batching_dims};
  }
};

inline WindowCase random_window_case(Shapes& shapes) {
  WindowCase c;
  const std::int64_t rank = shapes.number(1, 4);
  std::vector<std::int64_t> dims, batch, map_candidates, window_sizes;
  for (std::int64_t axis = 0; axis < rank; axis++) {
    dims.push_back(shapes.number(0, 19) == 0 ? 0 : shapes.number(1, 5));
    const std::int64_t role = shapes.number(0, 4);
    if (role == 0) {
      c.dims.operand_batching_dims.push_back(axis);
      c.sizes.push_back(std::min<std::int64_t>(dims.back(), 1));
      continue;
    }
    map_candidates.push_back(axis);
    if (role <= 2 && dims.back() > 0) {
      c.dims.collapsed_slice_dims.push_back(axis);
      c.sizes.push_back(1);
    } else {
      c.sizes.push_back(shapes.number(std::min<std::int64_t>(dims.back(), 1), dims.back()));
      window_sizes.push_back(c.sizes.back());
    }
  }
  c.operand = Shape(dims);
  // The indices: axes paired with the operand's, others that only count, in any order, and the
  // index vector.
  std::shuffle(map_candidates.begin(), map_candidates.end(), shapes.engine());
  map_candidates.resize(
      static_cast<std::size_t>(shapes.number(0, static_cast<std::int64_t>(map_candidates.size()))));
  c.dims.start_index_map = map_candidates;
  for (std::int64_t i = shapes.number(0, 2); i > 0; i--) batch.push_back(shapes.number(1, 3));
  std::vector<std::int64_t> batch_axis;  // of each batching dimension, among the axes of `batch`
  for (std::int64_t axis : c.dims.operand_batching_dims) {
    const std::int64_t place = shapes.number(0, static_cast<std::int64_t>(batch.size()));
    for (std::int64_t& other : batch_axis) other += other >= place ? 1 : 0;
    batch_axis.push_back(place);
    batch.insert(batch.begin() + place, dims[static_cast<std::size_t>(axis)]);
  }
  const auto batch_rank = static_cast<std::int64_t>(batch.size());
  c.dims.index_vector_dim = shapes.number(0, batch_rank);
  for (std::int64_t axis : batch_axis)
    c.dims.start_indices_batching_dims.push_back(axis + (axis >= c.dims.index_vector_dim ? 1 : 0));
  std::vector<std::int64_t> indices = batch;
  const bool implied = c.dims.start_index_map.size() == 1 &&
                       c.dims.index_vector_dim == batch_rank && shapes.number(0, 1) == 0;
  if (!implied)
    indices.insert(indices.begin() + c.dims.index_vector_dim,
                   static_cast<std::int64_t>(c.dims.start_index_map.size()));
  c.indices = Shape(indices);
  for (std::int64_t i = 0; i < c.indices.elements(); i++)
    c.starts.push_back(static_cast<std::int32_t>(shapes.number(-2, 6)));
  // The result: the window axes between the counting axes.
  const std::int64_t windowed_rank = batch_rank + static_cast<std::int64_t>(window_sizes.size());
  std::vector<std::int64_t> places(static_cast<std::size_t>(windowed_rank));
  std::iota(places.begin(), places.end(), 0);
  std::shuffle(places.begin(), places.end(), shapes.engine());
  places.resize(window_sizes.size());
  std::sort(places.begin(), places.end());
  c.dims.offset_dims = places;
  std::vector<std::int64_t> windowed;
  auto next_window = window_sizes.begin();
  auto next_batch = batch.begin();
  for (std::int64_t axis = 0; axis < windowed_rank; axis++)
    windowed.push_back(contains(places, axis) ? *next_window++ : *next_batch++);
  c.windowed = Shape(windowed);
  return c;
}

/// The position in the operand of an element of the result (or of the updates): its window's start,
/// from the indices, and its offset in the window.
struct Place {
  Index start, offset;
};

inline Place place_of(const WindowCase& c, const Index& windowed_index) {
  Index batch, offsets;
  for (std::size_t axis = 0; axis < windowed_index.size(); axis++) {
    (contains(c.dims.offset_dims, static_cast<std::int64_t>(axis)) ? offsets : batch)
        .push_back(windowed_index[axis]);
  }
  Place place{Index(c.operand.size(), 0), Index(c.operand.size(), 0)};
  const auto implied = c.dims.index_vector_dim == c.indices.rank();
  for (std::size_t part = 0; part < c.dims.start_index_map.size(); part++) {
    Index at = batch;
    if (!implied) at.insert(at.begin() + c.dims.index_vector_dim, static_cast<std::int64_t>(part));
    place.start[static_cast<std::size_t>(c.dims.start_index_map[part])] =
        c.starts[static_cast<std::size_t>(position(at, c.indices))];
  }
  for (std::size_t i = 0; i < c.dims.operand_batching_dims.size(); i++) {
    std::int64_t axis = c.dims.start_indices_batching_dims[i];
    if (axis > c.dims.index_vector_dim) axis--;
    place.start[static_cast<std::size_t>(c.dims.operand_batching_dims[i])] =
        batch[static_cast<std::size_t>(axis)];
  }
  std::size_t next = 0;
  for (std::int64_t axis = 0; axis < c.operand.rank(); axis++) {
    if (contains(c.dims.collapsed_slice_dims, axis) || contains(c.dims.operand_batching_dims, axis))
      continue;
    place.offset[static_cast<std::size_t>(axis)] = offsets[next++];
  }
  return place;
}

/// The element of the operand that gather reads for an element of its result.
inline std::int64_t gathered(const WindowCase& c, const Index& result_index) {
  Place place = place_of(c, result_index);
  for (std::int64_t axis = 0; axis < c.operand.rank(); axis++) {
    const auto i = static_cast<std::size_t>(axis);
    if (!contains(c.dims.operand_batching_dims, axis)) {
      place.start[i] = std::clamp<std::int64_t>(place.start[i], 0, c.operand[axis] - c.sizes[i]);
    }
    place.start[i] += place.offset[i];
  }
  return position(place.start, c.operand);
}

/// The element of the operand that scatter changes for an element of the updates; none if its
/// window does not fit.
inline std::optional<std::int64_t> scattered(const WindowCase& c, const Index& updates_index) {
  Place place = place_of(c, updates_index);
  for (std::int64_t axis = 0; axis < c.operand.rank(); axis++) {
    const auto i = static_cast<std::size_t>(axis);
    if (place.start[i] < 0 || place.start[i] + c.sizes[i] > c.operand[axis]) {
      return std::nullopt;
    }
    place.start[i] += place.offset[i];
  }
  return position(place.start, c.operand);
}

}  // namespace rondo::testing
