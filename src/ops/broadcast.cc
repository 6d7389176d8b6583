#include "ops/broadcast.h"

#include <algorithm>

#include "ir/attribute_text.h"
#include "ops/batch_rules.h"
#include "ops/derivative_rules.h"
#include "ops/index_rules.h"
#include "ops/kernels/box_kernel.h"
#include "ops/reduce.h"
#include "ops/support.h"

namespace rondo::ops {

namespace {

InferredTypes infer_broadcast(const InferContext& context) {
  const auto& attributes = context.attrs<BroadcastAttributes>();
  const TensorType& x = context.type(0);
  const Shape& shape = attributes.shape;
  if (attributes.dimensions.size() != x.shape.size()) {
    context.fail(
        fmt::format("{} axes of {} need a place each in {}; {} are given\n  Give one per axis.",
                    x.rank(), x.str(), shape.str(), attributes.dimensions.size()));
  }
  std::int64_t last = -1;
  for (std::size_t i = 0; i < attributes.dimensions.size(); i++) {
    const std::int64_t to = attributes.dimensions[i];
    if (to <= last || to >= shape.rank())
      context.fail(
          fmt::format("axis {} cannot go to axis {} of {}: places must grow and lie in the shape\n "
                      " Name each once, in order.",
                      i, to, shape.str()));
    if (shape[to] != x.shape[i]) {
      context.fail(
          fmt::format("axis {} of {} has {} elements, axis {} of {} has {}\n  Give it the same "
                      "size; rondo::broadcast_in_dim repeats axes of one element.",
                      i, x.str(), x.shape[i], to, shape.str(), shape[to]));
    }
    last = to;
  }
  return {{x.dtype, shape}};
}

std::unique_ptr<ir::Kernel> prepare_broadcast(const Node& node) {
  const TensorType &x = node.operand_type(0), &type = node.type();
  if (x.elements() == 1) return prepare_fill(node, 0);
  const auto& map = node.attrs<BroadcastAttributes>().dimensions;
  const Dims x_strides = dense_strides(x.shape);
  Dims from(type.shape.size(), 0);
  for (std::size_t i = 0; i < map.size(); i++)
    from[static_cast<std::size_t>(map[i])] = x_strides[i];
  return prepare_box(
      Box(type.shape.dims(), dense_strides(type.shape), from, byte_width(type.dtype)), 0);
}

void describe_broadcast(ir::AttributeCodec& codec, BroadcastAttributes& a) {
  codec.derived("shape", a.shape, [&] { return codec.result(0).shape; });
  codec.integers({"dimensions", "broadcast_dimensions", "dims", "dimensions"}, a.dimensions);
}

void describe_reshape(ir::AttributeCodec& codec, ReshapeAttributes& a) {
  codec.derived("shape", a.shape, [&] { return codec.result(0).shape; });
}

/// The cotangent of a repeated element is the sum of its copies' cotangents.
std::vector<Tensor> broadcast_transpose(const TransposeCall& c) {
  const auto& map = c.node.attrs<BroadcastAttributes>().dimensions;
  std::vector<std::int64_t> added;
  for (std::int64_t axis = 0; axis < c.ct().rank(); axis++) {
    if (std::find(map.begin(), map.end(), axis) == map.end()) added.push_back(axis);
  }
  return {sum_of_cotangents(c.ct(), added, c.at())};
}

InferredTypes infer_reshape(const InferContext& context) {
  const TensorType& x = context.type(0);
  const Shape& shape = context.attrs<ReshapeAttributes>().shape;
  if (shape.elements() != x.elements()) {
    context.fail(
        fmt::format("{} has {} elements, the shape {} has {}\n  Reshape keeps the elements; "
                    "broadcast_to repeats them.",
                    x.str(), x.elements(), shape.str(), shape.elements()));
  }
  return {{x.dtype, shape}};
}

std::vector<Tensor> reshape_transpose(const TransposeCall& c) {
  return {reshape_to(c.ct(), c.type(0).shape, c.at())};
}

}  // namespace

const ir::OpDef kBroadcastInDim{
    .name = "broadcast_in_dim",
    .arity = 1,
    .cost = ir::Cost::kMovement,
    .types = {.infer = infer_broadcast},
    .structure = {.loops = broadcast_reads},
    .kernel = {.prepare = prepare_broadcast},
    .derivative = {.linear = Linear::kJointly, .transpose = broadcast_transpose},
    .batching = {.rule = broadcast_batch},
    .text = {.hlo = "broadcast",
             .stablehlo = "stablehlo.broadcast_in_dim",
             .attributes = &ir::kAttributeText<BroadcastAttributes, describe_broadcast>}};

const ir::OpDef kReshape{
    .name = "reshape",
    .arity = 1,
    .cost = ir::Cost::kMovement,
    .types = {.infer = infer_reshape},
    .structure = {.loops = same_bytes},
    .kernel = {.prepare = ir::prepare_forwarding},
    .derivative = {.linear = Linear::kJointly, .transpose = reshape_transpose},
    .batching = {.rule = reshape_batch},
    .text = {.hlo = "reshape",
             .stablehlo = "stablehlo.reshape",
             .attributes = &ir::kAttributeText<ReshapeAttributes, describe_reshape, false>}};

Tensor broadcast_axes(const Tensor& x, const Shape& shape, std::vector<std::int64_t> map,
                      SourceLocation at) {
  return make(kBroadcastInDim, {x}, BroadcastAttributes{shape, std::move(map)}, at);
}

Tensor reshape_to(const Tensor& x, const Shape& shape, SourceLocation at) {
  return x.shape() == shape ? x : make(kReshape, {x}, ReshapeAttributes{shape}, at);
}

}  // namespace rondo::ops
