// The batching rules of ops along axes: reductions, sorting, prefix scans, products.
#include <algorithm>
#include <numeric>

#include "ops/arg_extreme.h"
#include "ops/batch_rules.h"
#include "ops/cumulative.h"
#include "ops/dot.h"
#include "ops/elementwise_region.h"
#include "ops/permute.h"
#include "ops/reduce.h"
#include "ops/sort.h"
#include "ops/support.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

using ir::behind_lanes;
using ir::with_first;

namespace {

/// The elements that are reduced along axis 0, in row-major order; then the kept axes.
Tensor terms_in_front(const Tensor& x, const std::vector<std::int64_t>& axes, SourceLocation at) {
  std::vector<std::int64_t> order = axes;
  std::vector<std::int64_t> dims{1};
  for (const std::int64_t axis : axes) dims[0] *= x.shape()[axis];
  for (std::int64_t axis = 0; axis < x.rank(); axis++) {
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
    order.push_back(axis);
    dims.push_back(x.shape()[axis]);
  }
  return reshape(Operand(transposed(x, order, at), at), dims);
}

/// A reduction whose initial values differ by lane: a loop over the terms, since the op starts
/// from scalars and the combiner may have no identity.
std::vector<Tensor> reduced_from_arrays(const BatchCall& c, const std::vector<std::int64_t>& axes) {
  const std::size_t count = c.operands.size() / 2;
  const Function& region = c.node.regions[0];
  if (const Node* other = first_not_elementwise(region)) {
    fail("reduce",
         fmt::format("its initial values differ by lane, and its combiner uses {}, which does not "
                     "act element by element\n  Give all lanes one initial value.",
                     other->op->name),
         c.at());
  }
  detail::Leaves init, terms;
  Shape kept;
  for (std::size_t i = 0; i < count; i++) {
    terms.values.push_back(terms_in_front(c.full(i), axes, c.at()));
    terms.paths.push_back(fmt::format("x{}", i));
    const Shape& shape = terms.values[i].shape();
    kept = Shape(shape.dims().subspan(1));
    init.values.push_back(ir::broadcast_lanes(c.full(count + i), kept, c.at()));
    init.paths.push_back(fmt::format("carry.acc{}", i));
  }
  const detail::RegionCallable combine = [&](std::span<const Tensor> leaves) {
    return detail::Leaves{call_elementwise(region, leaves, kept), init.paths};
  };
  return detail::scan(combine, init, terms, {.name = "reduce"}, c.at());
}

}  // namespace

BatchValues reduce_batch(const BatchCall& c) {
  const std::size_t count = c.operands.size() / 2;
  const std::vector<std::int64_t> axes = behind_lanes(c.node.attrs<ReduceAttributes>().dimensions);
  ir::Operands operands;
  bool from_arrays = false;
  for (std::size_t i = 0; i < count; i++) operands.push_back(c.full(i));
  for (std::size_t i = count; i < 2 * count; i++) {
    operands.push_back(c.x(i));
    from_arrays = from_arrays || c.batched(i);
  }
  if (from_arrays) {
    const Combiner combiner = count == 1 ? known_combiner(c.node.regions[0]) : Combiner::kOther;
    if (combiner == Combiner::kOther) return ir::all_batched(reduced_from_arrays(c, axes));
    const Tensor reduced = reduce_by(combiner, operands[0], axes, c.at());
    return ir::all_batched({combined(combiner, ir::broadcast_lanes(c.x(1), reduced.shape(), c.at()),
                                     reduced, c.at())});
  }
  return ir::all_batched(
      ir::make_many(kReduce, std::move(operands), ReduceAttributes{axes}, c.at(), c.node.regions));
}

BatchValues arg_extreme_batch(const BatchCall& c) {
  const auto& a = c.node.attrs<ArgExtremeAttributes>();
  return ir::batch_with(c, ArgExtremeAttributes{a.axis + 1, a.greatest});
}

BatchValues cumulative_batch(const BatchCall& c) {
  const auto& a = c.node.attrs<CumulativeAttributes>();
  return ir::batch_with(c, CumulativeAttributes{a.combiner, a.axis + 1, a.reverse});
}

BatchValues sort_batch(const BatchCall& c) {
  const auto& a = c.node.attrs<SortAttributes>();
  SortAttributes moved = a;
  moved.axis++;
  return ir::batch_with(c, moved);
}

BatchValues dot_batch(const BatchCall& c) {
  const auto& dims = c.node.attrs<DotDims>();
  const auto product = [&](DotDims batched) {
    return make(kDotGeneral, {c.x(0), c.x(1)}, std::move(batched), c.at());
  };
  if (c.batched(0) && c.batched(1)) {
    return ir::all_batched({product(
        {with_first(0, behind_lanes(dims.lhs_batch)), with_first(0, behind_lanes(dims.rhs_batch)),
         behind_lanes(dims.lhs_contracting), behind_lanes(dims.rhs_contracting)})});
  }
  // The lanes are a free axis, the first one of its operand: in the product it comes after the
  // batch axes, and for the right operand after the free axes of the left one too.
  const bool left = c.batched(0);
  const Tensor together = left
                              ? product({behind_lanes(dims.lhs_batch), dims.rhs_batch,
                                         behind_lanes(dims.lhs_contracting), dims.rhs_contracting})
                              : product({dims.lhs_batch, behind_lanes(dims.rhs_batch),
                                         dims.lhs_contracting, behind_lanes(dims.rhs_contracting)});
  const std::size_t before =
      left ? dims.lhs_batch.size() : c.type(0).shape.size() - dims.lhs_contracting.size();
  std::vector<std::int64_t> order(static_cast<std::size_t>(together.rank()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(before));
  order.insert(order.begin(), static_cast<std::int64_t>(before));
  return ir::all_batched({transposed(together, std::move(order), c.at())});
}

Tensor dot_batch_sum(const BatchCall& c) {
  const auto& dims = c.node.attrs<DotDims>();
  return make(kDotGeneral, {c.x(0), c.x(1)},
              DotDims{behind_lanes(dims.lhs_batch), behind_lanes(dims.rhs_batch),
                      with_first(0, behind_lanes(dims.lhs_contracting)),
                      with_first(0, behind_lanes(dims.rhs_contracting))},
              c.at());
}

}  // namespace rondo::ops
