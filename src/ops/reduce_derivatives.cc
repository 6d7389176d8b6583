// Derivatives of reductions. Sums are linear. Extreme elements that are equal share the cotangent,
// as in JAX. Products are differentiated as a tree of products, which needs no division and so is
// right at zeros, in every order. Any other combiner is differentiated by its definition: a scan
// over the elements in row-major order.
#include <numeric>

#include "ops/broadcast.h"
#include "ops/derivative_rules.h"
#include "ops/elementwise_region.h"
#include "ops/permute.h"
#include "ops/reduce.h"
#include "rondo/loops.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/reduce.h"

namespace rondo::ops {

namespace {

/// For a single array; kOther for several.
Combiner combiner_of(const Node& node) {
  return node.types.size() == 1 ? known_combiner(node.regions[0]) : Combiner::kOther;
}

std::vector<std::int64_t> axes_left(const Node& node) {
  const auto& reduced = node.attrs<ReduceAttributes>().dimensions;
  std::vector<std::int64_t> kept;
  for (std::int64_t axis = 0; axis < node.operand_type(0).rank(); axis++) {
    if (std::find(reduced.begin(), reduced.end(), axis) == reduced.end()) kept.push_back(axis);
  }
  return kept;
}

/// x[n, ...]: the reduced axes as one leading axis, in row-major order.
Tensor reduced_in_front(const Node& node, const Tensor& x) {
  std::vector<std::int64_t> order = node.attrs<ReduceAttributes>().dimensions;
  std::int64_t n = 1;
  for (std::int64_t axis : order) n *= x.shape()[axis];
  const std::vector<std::int64_t> kept = axes_left(node);
  order.insert(order.end(), kept.begin(), kept.end());
  std::vector<std::int64_t> dims{n};
  dims.insert(dims.end(), node.type().shape.begin(), node.type().shape.end());
  return reshape_to(transposed(x, std::move(order), node.location()), dims, node.location());
}

bool is_identity(Combiner combiner, const Tensor& init) {
  const Literal* value = ir::constant_value(init);
  return value && value->identical(combiner_identity(combiner, init.dtype()));
}

std::vector<Tensor> extreme_jvp(const JvpCall& c, Combiner combiner) {
  const auto& axes = c.node.attrs<ReduceAttributes>().dimensions;
  const Tensor& x = c.x(0);
  // The initial value is a term like any other, unless it is the identity.
  const bool counts_init = x.type().elements() == 0 || !is_identity(combiner, c.x(1));
  const Tensor is_it = x == broadcast_axes(c.y(), x.shape(), axes_left(c.node), c.at());
  const Tensor init_is_it = c.x(1) == c.y();
  // Counted in the dtype of x if that can hold the number of elements.
  const bool counts_exactly =
      x.dtype() == DType::kF64 ||
      (x.dtype() == DType::kF32 && x.type().elements() < std::int64_t{1} << 24);
  const DType counted = counts_exactly ? x.dtype() : DType::kS32;
  Tensor count = reduce_by(Combiner::kAdd, convert(is_it, counted), axes, c.at());
  if (counts_init) count = count + convert(init_is_it, counted);
  Tensor total;
  // Nothing equals NaN: if the maximum is NaN, its elements get no cotangent, so that a value which
  // `where` does not select does no harm.
  if (c.has(0)) total = reduce_by(Combiner::kAdd, where(is_it, c.dx(0), 0), axes, c.at());
  if (counts_init && c.has(1)) {
    const Tensor everywhere = broadcast_axes(c.dx(1), c.y().shape(), {}, c.at());
    total = ir::add_tangents(total, where(init_is_it, everywhere, 0));
  }
  if (total.empty()) return {total};
  return {total / convert(count, x.dtype())};
}

std::vector<Tensor> product_as_tree(const Node& node, std::span<const Tensor> operands) {
  Tensor x = reduced_in_front(node, operands[0]);
  const auto rows = [](const Tensor& all, std::int64_t from, std::int64_t to) {
    std::vector<std::int64_t> starts(all.shape().size(), 0), limits = all.shape().vector();
    starts[0] = from;
    limits[0] = to;
    return slice(all, starts, limits);
  };
  while (x.shape()[0] > 1) {
    const std::int64_t n = x.shape()[0], half = (n + 1) / 2;
    Tensor rest = rows(x, half, n);
    if (n % 2 == 1) {
      std::vector<std::int64_t> low(x.shape().size(), 0), high = low;
      high[0] = 1;
      rest = pad(rest, 1, low, high);
    }
    x = rows(x, 0, half) * rest;
  }
  const Tensor product =
      x.shape()[0] == 0 ? ones(node.type()) : reshape_to(x, node.type().shape, node.location());
  return {is_identity(Combiner::kMultiply, operands[1]) ? product : operands[1] * product};
}

std::vector<Tensor> reduce_as_scan(const Node& node, std::span<const Tensor> operands) {
  const std::size_t count = node.types.size();
  const Shape& shape = node.type().shape;
  detail::Leaves init, xs;
  for (std::size_t i = 0; i < count; i++) {
    init.values.push_back(broadcast_axes(operands[count + i], shape, {}, node.location()));
    init.paths.push_back(fmt::format("carry[{}]", i));
    xs.values.push_back(reduced_in_front(node, operands[i]));
    xs.paths.push_back(fmt::format("xs[{}]", i));
  }
  const std::int64_t n = xs.values[0].shape()[0];
  const auto body = [&](std::span<const Tensor> leaves) {
    return detail::Leaves{call_elementwise(node.regions[0], leaves, shape), init.paths};
  };
  return detail::scan(body, init, xs, {.length = n, .name = "reduce"}, node.location());
}

}  // namespace

Tensor sum_of_cotangents(const Tensor& x, std::vector<std::int64_t> axes, SourceLocation at) {
  if (axes.empty()) return x;
  const bool narrow = is_floating(x.dtype()) && byte_width(x.dtype()) <= 2;
  const Tensor total =
      reduce_by(Combiner::kAdd, narrow ? convert(x, DType::kF32) : x, std::move(axes), at);
  return narrow ? convert(total, x.dtype()) : total;
}

std::vector<std::int64_t> all_axes(const Tensor& x) {
  std::vector<std::int64_t> axes(x.shape().size());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  return axes;
}

bool is_sum(const Node& node) { return combiner_of(node) == Combiner::kAdd; }

std::vector<Tensor> sum_transpose(const TransposeCall& c) {
  std::vector<Tensor> all(2);
  if (c.linear[0]) all[0] = broadcast_axes(c.ct(), c.type(0).shape, axes_left(c.node), c.at());
  if (c.linear[1]) all[1] = sum_of_cotangents(c.ct(), all_axes(c.ct()), c.at());
  return all;
}

std::vector<Tensor> reduce_jvp(const JvpCall& c) {
  const Combiner combiner = combiner_of(c.node);
  switch (combiner) {
    case Combiner::kMaximum:
    case Combiner::kMinimum:
      return extreme_jvp(c, combiner);
    case Combiner::kMultiply:
      return c.derivatives.jvp_expanded(c, product_as_tree).tangents;
    default:
      break;
  }
  const Node* other = first_not_elementwise(c.node.regions[0]);
  if (other && c.node.type().rank() != 0) {
    c.fail(
        fmt::format("no derivative passes its combiner, which uses {} at {}\n  Derivatives pass "
                    "combiners of ops that act element by element. Use rondo::scan or "
                    "rondo::associative_scan in the place of reduce.",
                    other->op->name, other->location().str()));
  }
  return c.derivatives.jvp_expanded(c, reduce_as_scan).tangents;
}

}  // namespace rondo::ops
