#include "ops/permute.h"

#include <vector>

#include "ir/attribute_text.h"
#include "ops/batch_rules.h"
#include "ops/derivative_rules.h"
#include "ops/index_rules.h"
#include "ops/kernels/box_kernel.h"
#include "ops/support.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace ops {

namespace {

InferredTypes infer_transpose(const InferContext& context) {
  const auto& permutation = context.attrs<TransposeAttributes>().permutation;
  const TensorType& x = context.type(0);
  std::vector<bool> seen(x.shape.size(), false);
  std::vector<std::int64_t> dims;
  bool valid = permutation.size() == x.shape.size();
  for (std::size_t i = 0; valid && i < permutation.size(); i++) {
    const std::int64_t axis = permutation[i];
    valid = axis >= 0 && axis < x.rank() && !seen[static_cast<std::size_t>(axis)];
    if (!valid) break;
    seen[static_cast<std::size_t>(axis)] = true;
    dims.push_back(x.shape[axis]);
  }
  if (!valid) {
    context.fail(
        fmt::format("[{}] is no order of the {} axes of {}\n  Each axis must be named once.",
                    fmt::join(permutation, ","), x.rank(), x.str()));
  }
  return {{x.dtype, dims}};
}

std::unique_ptr<ir::Kernel> prepare_transpose(const Node& node) {
  const TensorType& type = node.type();
  const Dims x_strides = dense_strides(node.operand_type(0).shape);
  Dims from;
  for (std::int64_t axis : node.attrs<TransposeAttributes>().permutation)
    from.push_back(x_strides[static_cast<std::size_t>(axis)]);
  return prepare_box(
      Box(type.shape.dims(), dense_strides(type.shape), from, byte_width(type.dtype)), 0);
}

void describe_transpose(ir::AttributeCodec& codec, TransposeAttributes& a) {
  codec.integers({"permutation", "", "dims", "dimensions"}, a.permutation);
}

std::vector<Tensor> transpose_transpose(const TransposeCall& c) {
  const auto& permutation = c.node.attrs<TransposeAttributes>().permutation;
  std::vector<std::int64_t> inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); i++)
    inverse[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  return {transposed(c.ct(), std::move(inverse), c.at())};
}

InferredTypes infer_reverse(const InferContext& context) {
  std::int64_t last = -1;
  for (std::int64_t axis : context.attrs<ReverseAttributes>().axes) {
    if (axis <= last || axis >= context.type(0).rank()) {
      context.fail(
          fmt::format("{} has no axis {}, or it is named twice\n  Name each axis once, in their "
                      "new order: transpose(x, {{1, 0}}).",
                      context.type(0).str(), axis));
    }
    last = axis;
  }
  return {context.type(0)};
}

std::unique_ptr<ir::Kernel> prepare_reverse(const Node& node) {
  const TensorType& type = node.type();
  const std::int64_t width = byte_width(type.dtype);
  const Dims to = dense_strides(type.shape);
  Dims from = to;
  std::int64_t first = 0;
  for (std::int64_t axis : node.attrs<ReverseAttributes>().axes) {
    if (type.elements() == 0) break;
    std::int64_t& stride = from[static_cast<std::size_t>(axis)];
    first += stride * (type.shape[axis] - 1);
    stride = -stride;
  }
  return prepare_box(Box(type.shape.dims(), to, from, width), first * width);
}

std::vector<Tensor> reverse_transpose(const TransposeCall& c) {
  return {reverse(c.ct(), c.node.attrs<ReverseAttributes>().axes)};
}

void describe_reverse(ir::AttributeCodec& codec, ReverseAttributes& a) {
  codec.integers({"axes", "dimensions", "dims"}, a.axes);
  if (codec.reads()) std::sort(a.axes.begin(), a.axes.end());
}

}  // namespace

const ir::OpDef kTranspose{
    .name = "transpose",
    .arity = 1,
    .cost = ir::Cost::kMovement,
    .types = {.infer = infer_transpose},
    .structure = {.loops = transpose_reads},
    .kernel = {.prepare = prepare_transpose},
    .derivative = {.linear = Linear::kJointly, .transpose = transpose_transpose},
    .batching = {.rule = transpose_batch},
    .text = {.hlo = "transpose",
             .stablehlo = "stablehlo.transpose",
             .attributes = &ir::kAttributeText<TransposeAttributes, describe_transpose>}};

const ir::OpDef kReverse{
    .name = "reverse",
    .arity = 1,
    .cost = ir::Cost::kMovement,
    .types = {.infer = infer_reverse},
    .structure = {.loops = reverse_reads},
    .kernel = {.prepare = prepare_reverse},
    .derivative = {.linear = Linear::kJointly, .transpose = reverse_transpose},
    .batching = {.rule = reverse_batch},
    .text = {.hlo = "reverse",
             .stablehlo = "stablehlo.reverse",
             .attributes = &ir::kAttributeText<ReverseAttributes, describe_reverse>}};

Tensor transposed(const Tensor& x, std::vector<std::int64_t> permutation, SourceLocation at) {
  bool changes = permutation.size() != x.shape().size();
  for (std::size_t i = 0; i < permutation.size(); i++)
    changes = changes || permutation[i] != static_cast<std::int64_t>(i);
  return changes ? make(kTranspose, {x}, TransposeAttributes{std::move(permutation)}, at) : x;
}

}  // namespace ops

Tensor transpose(const Operand& x, const std::vector<std::int64_t>& perm) {
  const Tensor operand = ops::any_tensor("transpose", x);
  std::vector<std::int64_t> permutation = perm;
  for (std::int64_t& axis : permutation) {
    if (axis < 0) axis += operand.rank();  // the op reports what is still out of range
  }
  for (std::int64_t axis = operand.rank(); perm.empty() && axis-- > 0;) permutation.push_back(axis);
  return ops::transposed(operand, std::move(permutation), x.at());
}

Tensor reverse(const Operand& x, const Axes& axes) {
  Tensor operand = ops::any_tensor("reverse", x);
  std::vector<std::int64_t> moving = ops::normal_axes("reverse", axes, operand.rank(), x.at());
  std::erase_if(moving, [&](std::int64_t axis) { return operand.shape()[axis] <= 1; });
  if (moving.empty()) return operand;
  return ops::make(ops::kReverse, {operand}, ops::ReverseAttributes{std::move(moving)}, x.at());
}

}  // namespace rondo
