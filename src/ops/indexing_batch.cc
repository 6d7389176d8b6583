// The batching rules of slices and updates at computed positions. If all lanes use one position, a
// slice stays a slice; if the lanes' positions differ, it becomes a gather or scatter whose
// batching dimension is the axis of lanes.
#include <algorithm>
#include <array>
#include <optional>

#include "ops/batch_rules.h"
#include "ops/broadcast.h"
#include "ops/dynamic_slice.h"
#include "ops/elementwise.h"
#include "ops/gather.h"
#include "ops/scatter.h"
#include "ops/support.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

using ir::behind_lanes;
using ir::with_first;

namespace {

bool any_batched(const BatchCall& c, std::size_t first) {
  for (std::size_t i = first; i < c.operands.size(); i++) {
    if (c.batched(i)) return true;
  }
  return false;
}

/// The starts of a slice that is taken from every lane.
ir::Operands with_lane_start(std::span<const Tensor> before, std::span<const Tensor> starts) {
  ir::Operands operands(before.begin(), before.end());
  if (!starts.empty())
    operands.push_back(ir::make_constant(Literal::zeros({starts[0].dtype(), {}})));
  else
    operands.push_back(ir::make_constant(Literal::scalar(std::int32_t{0})));
  operands.insert(operands.end(), starts.begin(), starts.end());
  return operands;
}

std::vector<Tensor> values_from(const BatchCall& c, std::size_t first) {
  std::vector<Tensor> values;
  for (std::size_t i = first; i < c.operands.size(); i++) values.push_back(c.x(i));
  return values;
}

/// The starts as columns s64[lanes, 1], clamped so that a part of `sizes` is inside operand 0: a
/// gather would do that too, a scatter would drop the part.
std::vector<Tensor> start_columns(const BatchCall& c, std::size_t first,
                                  std::span<const std::int64_t> sizes) {
  const Shape& shape = c.type(0).shape;
  std::vector<Tensor> columns;
  for (std::size_t i = first; i < c.operands.size(); i++) {
    const std::size_t axis = i - first;
    const Tensor start = wide_index(c.full(i), c.at());
    const Tensor clamped =
        clamp_index(Operand(start, c.at()), Operand(shape[axis] - sizes[axis], c.at()),
                    {std::string(c.node.op->name), static_cast<std::int64_t>(axis), shape[axis]});
    columns.push_back(reshape(Operand(clamped, c.at()), {c.lanes(), 1}));
  }
  return columns;
}

std::vector<std::int64_t> numbers(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < count; i++) all.push_back(first + i);
  return all;
}

/// Parts of an array that is the same for all lanes, each at a position of its lane.
GatherDims dims_of_parts(std::int64_t rank) {
  return {
      .offset_dims = numbers(1, rank), .start_index_map = numbers(0, rank), .index_vector_dim = 1};
}

/// The part of `sizes` if operand 0 is a row, or a row of rows, of an array that is the same for
/// all lanes: it is read from that array, without the rest of the lanes' rows.
std::optional<Tensor> part_of_row(const BatchCall& c, std::span<const std::int64_t> sizes) {
  const Node* reshaped = c.x(0).node();
  if (!c.batched(0) || reshaped->op != &kReshape) return std::nullopt;
  const Node* rows = reshaped->operands[0].node();
  if (rows->op != &kGather) return std::nullopt;
  const auto& [dims, row_sizes] = rows->attrs<GatherAttributes>();
  const Tensor &table = rows->operands[0], &row_starts = rows->operands[1];
  if (dims != dims_of_parts(table.rank())) return std::nullopt;
  const std::vector<Tensor> columns = start_columns(c, 1, sizes);
  std::vector<Tensor> starts;
  std::vector<std::int64_t> part;
  std::size_t next = 0;  // axis of the row
  for (std::int64_t axis = 0; axis < table.rank(); axis++) {
    const std::int64_t size = row_sizes[static_cast<std::size_t>(axis)];
    if (next < sizes.size() && size == table.shape()[axis] && c.type(0).shape[next] == size) {
      starts.push_back(columns[next]);
      part.push_back(sizes[next++]);
    } else if (size == 1) {
      starts.push_back(slice(Operand(row_starts, c.at()), {0, axis}, {c.lanes(), axis + 1}));
      part.push_back(1);
    } else {
      return std::nullopt;
    }
  }
  if (next != sizes.size()) return std::nullopt;
  const Tensor found =
      make(kGather, {table, concatenate(starts, 1, c.at())}, GatherAttributes{dims, part}, c.at());
  return reshape_to(found, Shape(with_first(c.lanes(), sizes)), c.at());
}

}  // namespace

BatchValues dynamic_slice_batch(const BatchCall& c) {
  const auto& sizes = c.node.attrs<DynamicSliceAttributes>().sizes;
  const std::int64_t rank = c.type(0).rank();
  if (const auto part = part_of_row(c, sizes)) return ir::all_batched({*part});
  if (!any_batched(c, 1)) {
    const Tensor& x = c.x(0);
    return ir::all_batched({make(kDynamicSlice, with_lane_start({&x, 1}, values_from(c, 1)),
                                 DynamicSliceAttributes{with_first(c.lanes(), sizes)}, c.at())});
  }
  const Tensor starts = concatenate(start_columns(c, 1, sizes), 1, c.at());
  if (!c.batched(0)) {
    return ir::all_batched(
        {make(kGather, {c.x(0), starts}, GatherAttributes{dims_of_parts(rank), sizes}, c.at())});
  }
  const GatherDims dims{.offset_dims = numbers(1, rank),
                        .start_index_map = numbers(1, rank),
                        .index_vector_dim = 1,
                        .operand_batching_dims = {0},
                        .start_indices_batching_dims = {0}};
  const std::int64_t one = std::min<std::int64_t>(c.lanes(), 1);
  return ir::all_batched(
      {make(kGather, {c.x(0), starts}, GatherAttributes{dims, with_first(one, sizes)}, c.at())});
}

BatchValues dynamic_update_slice_batch(const BatchCall& c) {
  const std::int64_t rank = c.type(0).rank();
  if (!any_batched(c, 2)) {
    const std::array<Tensor, 2> both{c.full(0), c.full(1)};
    return ir::all_batched(
        {make(kDynamicUpdateSlice, with_lane_start(both, values_from(c, 2)), {}, c.at())});
  }
  const Tensor starts = concatenate(start_columns(c, 2, c.type(1).shape.dims()), 1, c.at());
  const ScatterDims dims{.update_window_dims = numbers(1, rank),
                         .scatter_dims_to_operand_dims = numbers(1, rank),
                         .index_vector_dim = 1,
                         .input_batching_dims = {0},
                         .scatter_indices_batching_dims = {0}};
  return ir::all_batched(
      {scatter(Operand(c.full(0), c.at()), Operand(starts, c.at()), Operand(c.full(1), c.at()),
               dims, [](const Tensor&, const Tensor& update) { return update; })});
}

Tensor dynamic_update_slice_blend(const Node& node, std::span<const Tensor> operands,
                                  const Tensor& active) {
  const SourceLocation at = node.location();
  const Tensor& update = operands[1];
  // An update of all lanes; if positions differ by lane, it is a scatter.
  if (update.shape()[0] != operands[0].shape()[0]) {
    const Tensor updated =
        make(kDynamicUpdateSlice, ir::Operands(operands.begin(), operands.end()), {}, at);
    return where(Operand(ir::broadcast_lanes(active, updated.shape(), at), at),
                 Operand(updated, at), Operand(operands[0], at));
  }
  ir::Operands place(operands.begin() + 1, operands.end());
  place[0] = operands[0];
  const Tensor before =
      make(kDynamicSlice, std::move(place), DynamicSliceAttributes{update.shape().vector()}, at);
  ir::Operands all(operands.begin(), operands.end());
  all[1] = where(Operand(ir::broadcast_lanes(active, update.shape(), at), at), Operand(update, at),
                 Operand(before, at));
  return make(kDynamicUpdateSlice, std::move(all), {}, at);
}

BatchValues gather_batch(const BatchCall& c) {
  const auto& [dims, sizes] = c.node.attrs<GatherAttributes>();
  GatherDims batched = dims;
  batched.offset_dims = behind_lanes(dims.offset_dims);
  if (!c.batched(0)) {
    batched.index_vector_dim++;
    batched.start_indices_batching_dims = behind_lanes(dims.start_indices_batching_dims);
    return ir::all_batched(
        {make(kGather, {c.x(0), c.x(1)}, GatherAttributes{batched, sizes}, c.at())});
  }
  batched.collapsed_slice_dims = behind_lanes(dims.collapsed_slice_dims);
  batched.start_index_map = behind_lanes(dims.start_index_map);
  batched.operand_batching_dims = behind_lanes(dims.operand_batching_dims);
  if (!c.batched(1)) {
    batched.offset_dims = with_first(0, batched.offset_dims);
    return ir::all_batched({make(kGather, {c.x(0), c.x(1)},
                                 GatherAttributes{batched, with_first(c.lanes(), sizes)}, c.at())});
  }
  batched.index_vector_dim++;
  batched.operand_batching_dims = with_first(0, batched.operand_batching_dims);
  batched.start_indices_batching_dims =
      with_first(0, behind_lanes(dims.start_indices_batching_dims));
  const std::int64_t one = std::min<std::int64_t>(c.lanes(), 1);
  return ir::all_batched(
      {make(kGather, {c.x(0), c.x(1)}, GatherAttributes{batched, with_first(one, sizes)}, c.at())});
}

BatchValues scatter_batch(const BatchCall& c) {
  const ScatterDims& dims = c.node.attrs<ScatterAttributes>().dims;
  const std::size_t arrays = c.operands.size() / 2;
  ScatterDims batched = dims;
  batched.update_window_dims = behind_lanes(dims.update_window_dims);
  batched.inserted_window_dims = behind_lanes(dims.inserted_window_dims);
  batched.scatter_dims_to_operand_dims = behind_lanes(dims.scatter_dims_to_operand_dims);
  batched.input_batching_dims = behind_lanes(dims.input_batching_dims);
  if (c.batched(arrays)) {
    batched.index_vector_dim++;
    batched.input_batching_dims = with_first(0, batched.input_batching_dims);
    batched.scatter_indices_batching_dims =
        with_first(0, behind_lanes(dims.scatter_indices_batching_dims));
  } else {
    batched.update_window_dims = with_first(0, batched.update_window_dims);
  }
  ir::Operands operands = c.all_full();
  operands[arrays] = c.x(arrays);
  return ir::all_batched(ir::make_many(kScatter, std::move(operands), ScatterAttributes{batched},
                                       c.at(), c.node.regions));
}

Tensor scatter_blend(const Node& node, std::span<const Tensor> operands, const Tensor& active) {
  const SourceLocation at = node.location();
  const ScatterDims& dims = node.attrs<ScatterAttributes>().dims;
  const Tensor& indices = operands[1];
  const auto leads = [](const std::vector<std::int64_t>& axes) {
    return !axes.empty() && axes[0] == 0;
  };
  ir::Operands all(operands.begin(), operands.end());
  const bool by_index =
      leads(dims.input_batching_dims) && leads(dims.scatter_indices_batching_dims) &&
      is_signed_integer(indices.dtype()) && !dims.scatter_dims_to_operand_dims.empty();
  if (by_index) {
    const Tensor nowhere = ir::make_constant(
        ir::scalar_literal(Scalar::of(no_place(indices.dtype())), indices.dtype(), at), at);
    all[1] = where(Operand(ir::broadcast_lanes(active, indices.shape(), at), at),
                   Operand(indices, at), Operand(nowhere, at));
  }
  Tensor updated = make(kScatter, std::move(all), node.attributes, at, node.regions);
  if (by_index) return updated;
  return where(Operand(ir::broadcast_lanes(active, updated.shape(), at), at), Operand(updated, at),
               Operand(operands[0], at));
}

}  // namespace rondo::ops
