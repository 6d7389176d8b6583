#include "ops/dot.h"

#include <algorithm>
#include <numeric>

#include "ir/attribute_text.h"
#include "ops/batch_rules.h"
#include "ops/broadcast.h"
#include "ops/derivative_rules.h"
#include "ops/permute.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

/// The two lists of one side: in range, nothing twice.
void check_dot_axes(const InferContext& context, const TensorType& type, const char* side,
                    std::span<const std::int64_t> batch,
                    std::span<const std::int64_t> contracting) {
  std::vector<bool> seen(static_cast<std::size_t>(type.rank()), false);
  for (auto axes : {batch, contracting}) {
    for (std::int64_t axis : axes) {
      if (axis < 0 || axis >= type.rank()) {
        context.fail(
            fmt::format("axis {} of the {} operand {} is out of range: its axes are 0 to {}\n  "
                        "Axes in DotDims may count from the end: -1 is the last.",
                        axis, side, type.str(), type.rank() - 1));
      }
      if (seen[static_cast<std::size_t>(axis)]) {
        context.fail(
            fmt::format("axis {} of the {} operand {} is named twice; an axis is batch, "
                        "contracting or neither\n  Name it in one list.",
                        axis, side, type.str()));
      }
      seen[static_cast<std::size_t>(axis)] = true;
    }
  }
}

void check_dot_pairs(const InferContext& context, const char* what,
                     std::span<const std::int64_t> left, std::span<const std::int64_t> right) {
  const TensorType &a = context.type(0), &b = context.type(1);
  if (left.size() != right.size()) {
    context.fail(
        fmt::format("{} {} axes on the left and {} on the right; they belong together in pairs\n  "
                    "Name as many on the right as on the left, in the same order.",
                    left.size(), what, right.size()));
  }
  for (std::size_t i = 0; i < left.size(); i++) {
    if (a.shape[left[i]] != b.shape[right[i]]) {
      context.fail(fmt::format(
          "{} axis {} of {} has {} elements, axis {} of {} has {}\n  They must be equal: "
          "transpose, reshape or slice one "
          "operand.",
          what, left[i], a.str(), a.shape[left[i]], right[i], b.str(), b.shape[right[i]]));
    }
  }
}

InferredTypes infer_dot(const InferContext& context) {
  const auto& dims = context.attrs<DotDims>();
  const TensorType &a = context.type(0), &b = context.type(1);
  if (a.dtype != b.dtype) {
    context.fail(fmt::format("the operands are {} and {}; their dtypes must be equal\n  {}",
                             a.str(), b.str(), conversion_remedy(a.dtype, b.dtype)));
  }
  if (is_pred(a.dtype)) {
    context.fail(
        fmt::format("{} and {} hold no numbers\n  Convert them: rondo::convert(x, DType::kS32).",
                    a.str(), b.str()));
  }
  check_dot_axes(context, a, "left", dims.lhs_batch, dims.lhs_contracting);
  check_dot_axes(context, b, "right", dims.rhs_batch, dims.rhs_contracting);
  check_dot_pairs(context, "batch", dims.lhs_batch, dims.rhs_batch);
  check_dot_pairs(context, "contracting", dims.lhs_contracting, dims.rhs_contracting);
  std::vector<std::int64_t> result;
  for (std::int64_t axis : dims.lhs_batch) result.push_back(a.shape[axis]);
  for (std::int64_t axis : free_axes(a.rank(), dims.lhs_batch, dims.lhs_contracting))
    result.push_back(a.shape[axis]);
  for (std::int64_t axis : free_axes(b.rank(), dims.rhs_batch, dims.rhs_contracting))
    result.push_back(b.shape[axis]);
  return {{a.dtype, result}};
}

void describe_dot(ir::AttributeCodec& codec, DotDims& dims) {
  codec.group({"", "dot_dimension_numbers"}, "dot", [&] {
    codec.axes_of_both(
        "batching_dims", {"lhs_batch", "lhs_batching_dimensions", "", "lhs_batch_dims"},
        dims.lhs_batch, {"rhs_batch", "rhs_batching_dimensions", "", "rhs_batch_dims"},
        dims.rhs_batch);
    codec.axes_of_both(
        "contracting_dims",
        {"lhs_contracting", "lhs_contracting_dimensions", "", "lhs_contracting_dims"},
        dims.lhs_contracting,
        {"rhs_contracting", "rhs_contracting_dimensions", "", "rhs_contracting_dims"},
        dims.rhs_contracting);
  });
  codec.hint({"precision_config", "", "precision", "operand_precision"});
  codec.hint({"algorithm"});
}

std::vector<std::int64_t> first_axes(std::int64_t count) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(count));
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  return axes;
}

/// The cotangent of one side from that of the product (axes: batch, free ones of the left, free
/// ones of the right) and the other side: the other side's free axes are summed over, which leaves
/// the batch axes, the free axes of this side, and the contracted axes in the other side's order.
Tensor dot_cotangent(const TransposeCall& c, bool left) {
  const auto& dims = c.node.attrs<DotDims>();
  const auto& batch = left ? dims.lhs_batch : dims.rhs_batch;
  const auto& contracting = left ? dims.lhs_contracting : dims.rhs_contracting;
  const auto& other_batch = left ? dims.rhs_batch : dims.lhs_batch;
  const auto& other_contracting = left ? dims.rhs_contracting : dims.lhs_contracting;
  const Tensor& other = c.x(left ? 1 : 0);
  const std::vector<std::int64_t> own_free =
      free_axes(c.type(left ? 0 : 1).rank(), batch, contracting);
  const std::vector<std::int64_t> summed = free_axes(other.rank(), other_batch, other_contracting);
  std::vector<std::int64_t> summed_in_ct(summed.size());
  std::iota(summed_in_ct.begin(), summed_in_ct.end(),
            static_cast<std::int64_t>(batch.size() + (left ? own_free.size() : 0)));
  const Tensor product = make(kDotGeneral, {c.ct(), other},
                              DotDims{first_axes(static_cast<std::int64_t>(batch.size())),
                                      other_batch, summed_in_ct, summed},
                              c.at());
  // The axis of this side for each axis of the product.
  std::vector<std::int64_t> axes = batch;
  axes.insert(axes.end(), own_free.begin(), own_free.end());
  std::vector<std::size_t> order(contracting.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return other_contracting[a] < other_contracting[b];
  });
  for (std::size_t pair : order) axes.push_back(contracting[pair]);
  std::vector<std::int64_t> permutation(axes.size());
  for (std::size_t i = 0; i < axes.size(); i++)
    permutation[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
  return transposed(product, std::move(permutation), c.at());
}

std::vector<Tensor> dot_transpose(const TransposeCall& c) {
  if (c.linear[0]) return {dot_cotangent(c, true), Tensor()};
  return {Tensor(), dot_cotangent(c, false)};
}

/// Contraction of one axis of each, with `op`'s name in messages.
void check_summed(const char* op, const Tensor& a, std::int64_t a_axis, const Tensor& b,
                  std::int64_t b_axis, SourceLocation at) {
  if (a.shape()[a_axis] == b.shape()[b_axis]) return;
  fail(op,
       fmt::format("{} and {} do not fit: axis {} of the left one has {} elements, axis {} of the "
                   "right one has {}\n  The sizes that are "
                   "summed over must be equal; did you mean to transpose one?",
                   a.type().str(), b.type().str(), a_axis, a.shape()[a_axis], b_axis,
                   b.shape()[b_axis]),
       at);
}

/// The leading axes, all but the last two, broadcast to the given ones.
Tensor broadcast_leading(const Tensor& x, const Shape& leading, SourceLocation at) {
  std::vector<std::int64_t> dims = leading.vector();
  dims.insert(dims.end(), x.shape().end() - 2, x.shape().end());
  return broadcast(x, dims, at);
}

Tensor batched_product(const Tensor& a, const Tensor& b, SourceLocation at) {
  check_summed("matmul", a, a.rank() - 1, b, b.rank() - 2, at);
  const std::span<const std::int64_t> a_dims = a.shape().dims(), b_dims = b.shape().dims();
  const Shape a_leading(a_dims.first(a_dims.size() - 2)),
      b_leading(b_dims.first(b_dims.size() - 2));
  // A plain matrix on the right needs no batch axes: the left operand's leading axes are rows.
  if (b.rank() == 2) return make(kDotGeneral, {a, b}, DotDims{{}, {}, {a.rank() - 1}, {0}}, at);
  const auto batch_shape = [&] {
    try {
      return broadcast_shape("matmul", {a.dtype(), a_leading}, {b.dtype(), b_leading}, at);
    } catch (const TraceError&) {
      fail("matmul",
           fmt::format("{} and {} do not fit: the axes before the last two, {} and {}, do not "
                       "broadcast\n  Their sizes must be equal or 1, counted from the last one.",
                       a.type().str(), b.type().str(), a_leading.str(), b_leading.str()),
           at);
    }
  };
  const Shape leading = batch_shape();
  const std::vector<std::int64_t> batch = first_axes(leading.rank());
  const std::int64_t n = leading.rank();
  return make(kDotGeneral, {broadcast_leading(a, leading, at), broadcast_leading(b, leading, at)},
              DotDims{batch, batch, {n + 1}, {n}}, at);
}

}  // namespace

const ir::OpDef kDotGeneral{
    .name = "dot_general",
    .arity = 2,
    .types = {.infer = infer_dot},
    .structure = {.loops = dot_loops, .contraction = dot_contraction},
    .kernel = {.prepare = prepare_dot},
    .expansion = {.in_loops = dot_in_loops},
    .derivative = {.linear = Linear::kSeparately, .transpose = dot_transpose},
    .batching = {.rule = dot_batch, .sum = dot_batch_sum},
    .text = {.hlo = "dot",
             .stablehlo = "stablehlo.dot_general",
             .attributes = &ir::kAttributeText<DotDims, describe_dot>}};

std::vector<std::int64_t> free_axes(std::int64_t rank, std::span<const std::int64_t> batch,
                                    std::span<const std::int64_t> contracting) {
  std::vector<std::int64_t> free;
  for (std::int64_t axis = 0; axis < rank; axis++) {
    if (std::find(batch.begin(), batch.end(), axis) != batch.end()) continue;
    if (std::find(contracting.begin(), contracting.end(), axis) != contracting.end()) continue;
    free.push_back(axis);
  }
  return free;
}

}  // namespace rondo::ops

namespace rondo {

Tensor dot(const Operand& a, const Operand& b) {
  const auto [x, y] = ops::same_dtype({"dot", "dot"}, a, b);
  const SourceLocation at = a.at();
  if (x.rank() == 0 || y.rank() == 0) return Operand(x, at) * Operand(y, at);
  const std::int64_t x_axis = x.rank() - 1, y_axis = y.rank() == 1 ? 0 : y.rank() - 2;
  ops::check_summed("dot", x, x_axis, y, y_axis, at);
  return ir::make(ops::kDotGeneral, {x, y}, DotDims{{}, {}, {x_axis}, {y_axis}}, at);
}

Tensor matmul(const Operand& a, const Operand& b) {
  const auto [x, y] = ops::same_dtype({"matmul", "matmul"}, a, b);
  const SourceLocation at = a.at();
  if (x.rank() == 0 || y.rank() == 0) {
    ops::fail("matmul",
              fmt::format("{} and {}: a scalar is no matrix\n  Use * to multiply by a scalar.",
                          x.type().str(), y.type().str()),
              at);
  }
  if (x.rank() == 1 || y.rank() == 1) {
    // Sums over the last axis on the left and the second to last on the right, with the other axes
    // in order.
    const std::int64_t y_axis = y.rank() == 1 ? 0 : y.rank() - 2;
    ops::check_summed("matmul", x, x.rank() - 1, y, y_axis, at);
    return ir::make(ops::kDotGeneral, {x, y}, DotDims{{}, {}, {x.rank() - 1}, {y_axis}}, at);
  }
  return ops::batched_product(x, y, at);
}

Tensor dot_general(const Operand& a, const Operand& b, const DotDims& dims) {
  const auto [x, y] = ops::same_dtype("dot_general", a, b);
  auto normal = [&](const std::vector<std::int64_t>& axes, const Tensor& operand) {
    std::vector<std::int64_t> from_front;
    for (std::int64_t axis : axes)
      from_front.push_back(ops::normal_axis("dot_general", axis, operand.rank(), a.at()));
    return from_front;
  };
  DotDims from_front{normal(dims.lhs_batch, x), normal(dims.rhs_batch, y),
                     normal(dims.lhs_contracting, x), normal(dims.rhs_contracting, y)};
  return ir::make(ops::kDotGeneral, {x, y}, std::move(from_front), a.at());
}

}  // namespace rondo
