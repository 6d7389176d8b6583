// Derivatives of gather and scatter. A gather is the transpose of a scatter that adds, except for
// windows that cross the edge, which a gather shifts inwards and a scatter drops. If several
// updates overwrite one element, the last one counts. Extreme values that are equal share the
// cotangent. Any other combiner is differentiated by its definition: a loop over the windows.
#include <algorithm>
#include <limits>

#include "ir/region.h"
#include "ops/broadcast.h"
#include "ops/combiners.h"
#include "ops/derivative_rules.h"
#include "ops/dynamic_slice.h"
#include "ops/elementwise.h"
#include "ops/elementwise_region.h"
#include "ops/gather.h"
#include "ops/indexed_windows.h"
#include "ops/permute.h"
#include "ops/scatter.h"
#include "rondo/loops.h"
#include "rondo/ops/reduce.h"

namespace rondo::ops {

namespace {

bool has_axis(const std::vector<std::int64_t>& axes, std::int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

GatherDims gather_dims_of(const ScatterDims& dims) {
  return {dims.update_window_dims, dims.inserted_window_dims, dims.scatter_dims_to_operand_dims,
          dims.index_vector_dim,   dims.input_batching_dims,  dims.scatter_indices_batching_dims};
}

/// Index vectors, and their valid range.
struct Starts {
  Tensor indices;
  std::int64_t vector_dim;
  std::vector<std::int64_t> last;  // the last position along each component at which a window fits
  std::int64_t axis = ir::kSeveralAxes, size = 0;  // if an index is one number
};

Starts starts_of(const Tensor& indices, const ScatterDims& dims, const Shape& operand,
                 std::span<const std::int64_t> sizes) {
  Starts starts{indices, dims.index_vector_dim, {}};
  for (std::int64_t axis : dims.scatter_dims_to_operand_dims)
    starts.last.push_back(operand[axis] - sizes[static_cast<std::size_t>(axis)]);
  if (starts.last.size() == 1) {
    starts.axis = dims.scatter_dims_to_operand_dims[0];
    starts.size = operand[starts.axis];
  }
  return starts;
}

/// `last` for each component of each index, in the dtype of the indices, or as much as that can
/// hold.
Tensor last_starts(const Starts& starts, SourceLocation at) {
  const TensorType& type = starts.indices.type();
  const auto most = static_cast<std::int64_t>(
      std::min<std::uint64_t>(integer_limits(type.dtype).greatest, INT64_MAX));
  std::vector<std::int64_t> last = starts.last;
  for (std::int64_t& place : last) place = std::min(place, most);
  std::vector<std::int64_t> map;
  Shape shape;
  if (starts.vector_dim < type.rank()) {
    map = {starts.vector_dim};
    shape = Shape{static_cast<std::int64_t>(last.size())};
  }
  const Tensor parts = ir::make_constant(Literal::from(last, shape), at);
  return broadcast_axes(parts.dtype() == type.dtype ? parts : convert(parts, type.dtype),
                        type.shape, std::move(map), at);
}

/// The indices as a gather reads them.
Tensor clamped_starts(const Starts& starts, SourceLocation at) {
  if (starts.last.empty()) return starts.indices;
  return clamp_index({starts.indices, at}, {last_starts(starts, at), at},
                     {"gather", starts.axis, starts.size});
}

/// pred of the updates' shape: whether their window is in bounds.
Tensor updates_that_fit(const Starts& starts, const ScatterDims& dims, const Shape& updates,
                        SourceLocation at) {
  Tensor fit = (starts.indices >= 0) & (starts.indices <= last_starts(starts, at));
  if (starts.vector_dim < starts.indices.rank()) fit = all(fit, {starts.vector_dim});
  std::vector<std::int64_t> counting;
  for (std::int64_t axis = 0; axis < updates.rank(); axis++) {
    if (!has_axis(dims.update_window_dims, axis)) counting.push_back(axis);
  }
  return broadcast_axes(fit, updates, std::move(counting), at);
}

Tensor overwritten(const Tensor& x, const Tensor& indices, const Tensor& updates,
                   const ScatterDims& dims) {
  return scatter(x, indices, updates, dims,
                 [](const Tensor&, const Tensor& update) { return update; });
}

/// A scatter of one operand or several, as the rules below need it.
struct ScatterNode {
  ScatterNode(const Node& scatter, std::span<const Tensor> operands)
      : node(scatter),
        dims(scatter.attrs<ScatterAttributes>().dims),
        count(scatter.types.size()),
        indices(operands[count]),
        shape(scatter.operand_type(0).shape),
        updates_shape(scatter.operand_type(count + 1).shape),
        sizes(window_sizes(dims, shape, updates_shape)),
        starts(starts_of(indices, dims, shape, sizes)) {}

  bool nothing_happens() const { return shape.elements() == 0 || updates_shape.elements() == 0; }
  Tensor fit() const { return updates_that_fit(starts, dims, updates_shape, node.location()); }
  /// The elements that are updated; any values for dropped updates.
  Tensor read(const Tensor& x) const { return gather(x, indices, gather_dims_of(dims), sizes); }
  Tensor add(const Tensor& x, const Tensor& updates) const {
    return scatter_add(x, indices, updates, dims);
  }
  /// pred of the updates' shape: the updates that remain after an overwriting scatter.
  Tensor survive() const {
    std::int64_t window = 1;
    for (std::int64_t size : sizes) window *= size;
    if (updates_shape.elements() == window) return fit();  // a single window
    const DType dtype = updates_shape.elements() <= std::numeric_limits<std::int32_t>::max()
                            ? DType::kS32
                            : DType::kS64;
    const Tensor numbers = reshape(iota({dtype, {updates_shape.elements()}}, 0), updates_shape);
    return read(overwritten(full({dtype, shape}, -1), indices, numbers, dims)) == numbers;
  }

  const Node& node;
  const ScatterDims& dims;
  std::size_t count;
  Tensor indices;
  const Shape& shape;
  const Shape& updates_shape;
  std::vector<std::int64_t> sizes;
  Starts starts;
};

Combiner scatter_combiner(const Node& node) {
  return node.types.size() == 1 ? known_combiner(node.regions[0]) : Combiner::kOther;
}

/// All values that equal the result share the cotangent, including the old element.
std::vector<Tensor> scatter_extreme_jvp(const JvpCall& c) {
  const ScatterNode scatter(c.node, c.operands);
  const Tensor x_is_it = c.x(0) == c.y();
  const Tensor update_is_it = (c.x(2) == scatter.read(c.y())) & scatter.fit();
  const DType dtype = c.y().dtype();
  const Tensor count =
      scatter.add(convert(x_is_it, DType::kS32), convert(update_is_it, DType::kS32));
  const Tensor of_x = c.has(0) ? c.dx(0) * convert(x_is_it, dtype) : zeros(c.x(0).type());
  const Tensor total = c.has(2) ? scatter.add(of_x, c.dx(2) * convert(update_is_it, dtype)) : of_x;
  return {total / convert(count, dtype)};
}

/// x[n, ...]: the axes that count windows as one leading axis.
Tensor windows_in_front(const Tensor& x, const std::vector<std::int64_t>& counting,
                        std::vector<std::int64_t> rest, std::span<const std::int64_t> sizes,
                        SourceLocation at) {
  std::vector<std::int64_t> order = counting, dims{1};
  for (std::int64_t axis : counting) dims[0] *= x.shape()[axis];
  order.insert(order.end(), rest.begin(), rest.end());
  dims.insert(dims.end(), sizes.begin(), sizes.end());
  return reshape_to(transposed(x, std::move(order), at), dims, at);
}

/// For each axis of the operand the start of each window, s64[n].
std::vector<Tensor> starts_by_axis(const ScatterNode& scatter, SourceLocation at) {
  const ScatterDims& dims = scatter.dims;
  const TensorType& type = scatter.indices.type();
  std::vector<std::int64_t> counting, counts, vector;
  for (std::int64_t axis = 0; axis < type.rank(); axis++) {
    if (axis == dims.index_vector_dim) continue;
    counting.push_back(axis);
    counts.push_back(type.shape[axis]);
  }
  if (dims.index_vector_dim < type.rank()) vector.push_back(dims.index_vector_dim);
  const auto parts = static_cast<std::int64_t>(dims.scatter_dims_to_operand_dims.size());
  const Tensor clamped = convert(clamped_starts(scatter.starts, at), DType::kS64);
  const Tensor vectors = windows_in_front(clamped, counting, vector, std::array{parts}, at);
  const std::int64_t n = vectors.shape()[0];
  std::vector<Tensor> starts(scatter.shape.size(), zeros({DType::kS64, {n}}));
  for (std::int64_t part = 0; part < parts; part++) {
    const auto axis = dims.scatter_dims_to_operand_dims[static_cast<std::size_t>(part)];
    starts[static_cast<std::size_t>(axis)] =
        reshape_to(slice(vectors, {0, part}, {n, part + 1}), {n}, at);
  }
  for (std::size_t i = 0; i < dims.input_batching_dims.size(); i++) {
    const std::int64_t axis = dims.scatter_indices_batching_dims[i];
    const Tensor place =
        iota({DType::kS64, Shape(counts)}, axis - (dims.index_vector_dim < axis ? 1 : 0));
    starts[static_cast<std::size_t>(dims.input_batching_dims[i])] = reshape_to(place, {n}, at);
  }
  return starts;
}

std::vector<Tensor> scatter_as_scan(const Node& node, std::span<const Tensor> operands) {
  const SourceLocation at = node.location();
  const ScatterNode scatter(node, operands);
  const std::size_t count = scatter.count, rank = scatter.shape.size();
  if (scatter.nothing_happens())
    return {operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(count)};
  std::vector<std::int64_t> counting;
  for (std::int64_t axis = 0; axis < scatter.updates_shape.rank(); axis++) {
    if (!has_axis(scatter.dims.update_window_dims, axis)) counting.push_back(axis);
  }
  detail::Leaves init, xs;
  const auto add_xs = [&](Tensor x) {
    xs.paths.push_back(fmt::format("xs[{}]", xs.values.size()));
    xs.values.push_back(std::move(x));
  };
  for (std::size_t i = 0; i < count; i++) {
    init.values.push_back(operands[i]);
    init.paths.push_back(fmt::format("carry[{}]", i));
    add_xs(windows_in_front(operands[count + 1 + i], counting, scatter.dims.update_window_dims,
                            scatter.sizes, at));
  }
  for (Tensor& start : starts_by_axis(scatter, at)) add_xs(std::move(start));
  const Tensor fit = reshape_to(
      windows_in_front(scatter.fit(), counting, scatter.dims.update_window_dims, scatter.sizes, at),
      xs.values[0].shape(), at);
  std::vector<std::int64_t> first(rank + 1, 0), one = fit.shape().vector();
  std::fill(one.begin() + 1, one.end(), 1);
  add_xs(reshape_to(slice(fit, first, one), {one[0]}, at));
  const Shape window(scatter.sizes);
  const Shape shape = window.elements() == 1 ? Shape() : window;
  const auto body = [&](std::span<const Tensor> leaves) {
    const std::span<const Tensor> updates = leaves.subspan(count, count),
                                  starts = leaves.subspan(2 * count, rank);
    const std::vector<Tensor> place(starts.begin(), starts.end());
    std::vector<Tensor> old, arguments;
    for (std::size_t i = 0; i < count; i++) {
      old.push_back(dynamic_slice(leaves[i], place, scatter.sizes));
      arguments.push_back(reshape_to(old[i], shape, at));
    }
    for (const Tensor& update : updates) arguments.push_back(reshape_to(update, shape, at));
    std::vector<Tensor> combined = call_elementwise(node.regions[0], arguments, shape);
    for (std::size_t i = 0; i < count; i++) {
      const Tensor kept = where(leaves.back(), reshape_to(combined[i], window, at), old[i]);
      combined[i] = dynamic_update_slice(leaves[i], kept, place);
    }
    return detail::Leaves{std::move(combined), init.paths};
  };
  return detail::scan(body, init, xs, {.name = "scatter"}, at);
}

}  // namespace

ScatterDims scatter_dims_of(const GatherDims& dims) {
  return {dims.offset_dims,      dims.collapsed_slice_dims,  dims.start_index_map,
          dims.index_vector_dim, dims.operand_batching_dims, dims.start_indices_batching_dims};
}

Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates,
                   const ScatterDims& dims) {
  return make(kScatter, {x, indices, updates}, ScatterAttributes{dims}, indices.node()->location(),
              {combiner_region(Combiner::kAdd, x.dtype())});
}

ir::CotangentPart added_to_zeros(const TensorType& type, const Tensor& indices,
                                 const Tensor& updates, const ScatterDims& dims) {
  const auto add_to = [=](const Tensor& sum) { return scatter_add(sum, indices, updates, dims); };
  return {add_to, [=] { return add_to(zeros(type)); }, indices.node()->location()};
}

std::vector<Tensor> gather_transpose(const TransposeCall& c) {
  const auto& [gather_dims, slice_sizes] = c.node.attrs<GatherAttributes>();
  const TensorType& type = c.type(0);
  if (type.elements() == 0) return {};
  std::vector<std::int64_t> sizes = slice_sizes;
  for (std::int64_t& size : sizes) size = std::max<std::int64_t>(size, 1);
  const ScatterDims dims = scatter_dims_of(gather_dims);
  const Starts starts = starts_of(c.x(1), dims, type.shape, sizes);
  c.of_operands.add(0, added_to_zeros(type, clamped_starts(starts, c.at()), c.ct(), dims));
  return {};
}

bool is_linear_scatter(const Node& node) {
  return scatter_combiner(node) == Combiner::kAdd || overwrites(node.regions[0]);
}

std::vector<Tensor> scatter_transpose(const TransposeCall& c) {
  const ScatterNode scatter(c.node, c.operands);
  const bool adds = !overwrites(c.node.regions[0]);
  std::vector<Tensor> all(c.operands.size());
  Tensor counts;  // the updates that have a cotangent
  for (std::size_t i = 0; i < scatter.count; i++) {
    const std::size_t update = scatter.count + 1 + i;
    const Tensor& ct = c.ct(i);
    if (ct.empty()) continue;
    // Read first: then the cotangent is zeroed in place.
    if (c.linear[update] && !scatter.nothing_happens()) {
      if (counts.empty()) counts = adds ? scatter.fit() : scatter.survive();
      all[update] = where(counts, scatter.read(ct), 0);
    }
    if (c.linear[i]) {
      const bool whole = adds || scatter.nothing_happens();
      all[i] = whole ? ct : overwritten(ct, scatter.indices, zeros(c.type(update)), scatter.dims);
    }
  }
  return all;
}

std::vector<Tensor> scatter_jvp(const JvpCall& c) {
  const Combiner combiner = scatter_combiner(c.node);
  if (combiner == Combiner::kMaximum || combiner == Combiner::kMinimum)
    return scatter_extreme_jvp(c);
  const Node* other = first_not_elementwise(c.node.regions[0]);
  const ScatterNode scatter(c.node, c.operands);
  if (other && Shape(scatter.sizes).elements() != 1) {
    c.fail(
        fmt::format("no derivative passes its combiner, which uses {} at {}\n  Derivatives pass "
                    "combiners of ops that act element by element. Use rondo::scan with "
                    "rondo::update in the place of scatter.",
                    other->op->name, other->location().str()));
  }
  return c.derivatives.jvp_expanded(c, scatter_as_scan).tangents;
}

}  // namespace rondo::ops
