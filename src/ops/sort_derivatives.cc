// Derivatives of sorting: the positions are sorted as well, and tangents are gathered from there.
#include <array>
#include <limits>
#include <numeric>

#include "ir/function_data.h"
#include "ir/region.h"
#include "ops/derivative_rules.h"
#include "ops/gather.h"
#include "ops/scatter.h"
#include "ops/sort.h"

namespace rondo::ops {

namespace {

/// The sort of the operands with other arrays permuted alike, whose results come last.
std::vector<Tensor> sort_along(const Node& node, std::span<const Tensor> operands,
                               std::span<const Tensor> others) {
  const Function& less = node.regions[0];
  std::vector<TensorType> scalars = less.params();
  for (const Tensor& other : others)
    scalars.insert(scalars.end(), 2, TensorType{other.dtype(), {}});
  const std::size_t own = less.parameters().size();
  Function region = ir::trace_closed(
      less.name(), "the comparator of sort", scalars,
      [&](std::span<const Tensor> p) { return ir::Replay::inline_call(less, p.first(own)); },
      node.location());
  ir::Operands all(operands.begin(), operands.end());
  all.insert(all.end(), others.begin(), others.end());
  return ir::make_many(kSort, std::move(all), node.attributes, node.location(),
                       {std::move(region)});
}

struct SortedWithPlaces {
  std::vector<Tensor> results;
  Tensor places;  // positions along the axis before the sort
};

SortedWithPlaces sort_with_places(const Node& node, std::span<const Tensor> operands) {
  const std::int64_t axis = node.attrs<SortAttributes>().axis;
  const bool wide = node.type().shape[axis] > std::numeric_limits<std::int32_t>::max();
  const Tensor places = iota({wide ? DType::kS64 : DType::kS32, node.type().shape}, axis);
  SortedWithPlaces sorted{sort_along(node, operands, {&places, 1}), {}};
  sorted.places = sorted.results.back();
  sorted.results.pop_back();
  return sorted;
}

/// With few elements a sort is as cheap as a gather, and loops keep them in registers.
bool has_few(const Node& node) {
  // Threshold: Elements up to which cotangents are sorted back: as cheap as a gather, and loops
  // keep them in registers. Not measured.
  constexpr std::int64_t kFew = 8;
  return node.type().shape[node.attrs<SortAttributes>().axis] <= kFew;
}

/// Back to the original order: sorted by these positions.
Tensor at_places(const Tensor& places, const Tensor& x, std::int64_t axis, SourceLocation at) {
  return ir::make_many(kSort, {places, x}, SortAttributes{axis, true, KnownOrder{}}, at,
                       {ascending_comparator(std::array{places.dtype(), x.dtype()})})[1];
}

/// Element by element along one axis; for all other axes at once.
GatherDims along_axis(std::int64_t rank, std::int64_t axis) {
  GatherDims dims{
      .collapsed_slice_dims = {axis}, .start_index_map = {axis}, .index_vector_dim = rank};
  for (std::int64_t i = 0; i < rank; i++) {
    if (i == axis) continue;
    dims.operand_batching_dims.push_back(i);
    dims.start_indices_batching_dims.push_back(i);
  }
  return dims;
}

}  // namespace

Tensor elements_at(const Tensor& x, const Tensor& places, std::int64_t axis) {
  return gather(x, places, along_axis(x.rank(), axis),
                std::vector<std::int64_t>(x.shape().size(), 1));
}

ir::Jvp sort_jvp(const JvpCall& c) {
  if (has_few(c.node)) {
    std::vector<Tensor> given, tangents(c.operands.size());
    for (std::size_t i = 0; i < tangents.size(); i++) {
      if (c.has(i)) given.push_back(c.dx(i));
    }
    std::vector<Tensor> all = sort_along(c.node, c.operands, given);
    std::size_t next = tangents.size();
    for (std::size_t i = 0; i < tangents.size(); i++) {
      if (c.has(i)) tangents[i] = all[next++];
    }
    all.resize(tangents.size());
    return {std::move(all), std::move(tangents)};
  }
  SortedWithPlaces sorted = sort_with_places(c.node, c.operands);
  const std::int64_t axis = c.node.attrs<SortAttributes>().axis;
  std::vector<Tensor> tangents(c.operands.size());
  for (std::size_t i = 0; i < tangents.size(); i++) {
    if (!c.has(i)) continue;
    if (c.node.type().elements() == 0) {  // slices of one element are too small
      tangents[i] = c.dx(i);
      continue;
    }
    tangents[i] = elements_at(c.dx(i), sorted.places, axis);
  }
  return {std::move(sorted.results), std::move(tangents)};
}

ir::Reverse sort_reverse(const ir::ReverseCall& c) {
  SortedWithPlaces sorted = sort_with_places(c.node, c.operands);
  if (has_few(c.node)) {
    auto pullback = [places = sorted.places, axis = c.node.attrs<SortAttributes>().axis,
                     at = c.node.location()](std::span<const Tensor> cotangents,
                                             const ir::Cotangents& of_operands) {
      for (std::size_t i = 0; i < cotangents.size(); i++) {
        if (!cotangents[i].empty()) of_operands.add(i, at_places(places, cotangents[i], axis, at));
      }
    };
    return {std::move(sorted.results), std::move(pullback)};
  }
  const ScatterDims dims =
      scatter_dims_of(along_axis(c.node.type().rank(), c.node.attrs<SortAttributes>().axis));
  auto pullback = [places = sorted.places, dims](std::span<const Tensor> cotangents,
                                                 const ir::Cotangents& of_operands) {
    for (std::size_t i = 0; i < cotangents.size(); i++) {
      if (cotangents[i].empty()) continue;
      of_operands.add(i, added_to_zeros(cotangents[i].type(), places, cotangents[i], dims));
    }
  };
  return {std::move(sorted.results), std::move(pullback)};
}

}  // namespace rondo::ops
