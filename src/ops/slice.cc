#include "ops/slice.h"

#include <algorithm>

#include "ir/attribute_text.h"
#include "ops/batch_rules.h"
#include "ops/broadcast.h"
#include "ops/derivative_rules.h"
#include "ops/dynamic_slice.h"
#include "ops/index_rules.h"
#include "ops/kernels/box_kernel.h"
#include "ops/support.h"
#include "rondo/ops/indexing.h"

namespace rondo {

namespace ops {

namespace {

InferredTypes infer_slice(const InferContext& context) {
  const auto& slice = context.attrs<SliceAttributes>();
  const TensorType& x = context.type(0);
  const std::size_t rank = x.shape.size();
  if (slice.starts.size() != rank || slice.limits.size() != rank || slice.strides.size() != rank) {
    context.fail(
        fmt::format("{} has {} axes; {} starts, {} limits and {} strides are given\n  Give one per "
                    "axis: slice(x, {{0, 1}}, {{2, 3}}) is x[0:2, 1:3].",
                    x.str(), rank, slice.starts.size(), slice.limits.size(), slice.strides.size()));
  }
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < rank; i++) {
    const std::int64_t start = slice.starts[i], limit = slice.limits[i], stride = slice.strides[i];
    if (start < 0 || limit > x.shape[i] || start > limit) {
      context.fail(
          fmt::format("[{}, {}) is no part of axis {} of {}, which has {} elements\n  "
                      "Starts and limits count from the front, and a start is not past its "
                      "limit.",
                      start, limit, i, x.str(), x.shape[i]));
    }
    if (stride < 1) {
      context.fail(fmt::format(
          "the stride {} of axis {} is not positive\n  To go backwards use reverse.", stride, i));
    }
    dims.push_back(start == limit ? 0 : (limit - start - 1) / stride + 1);
  }
  return {{x.dtype, dims}};
}

std::unique_ptr<ir::Kernel> prepare_slice(const Node& node) {
  const auto& slice = node.attrs<SliceAttributes>();
  const TensorType& type = node.type();
  const std::int64_t width = byte_width(type.dtype);
  Dims from = dense_strides(node.operand_type(0).shape);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < from.size() && type.elements() != 0; i++) {
    first += slice.starts[i] * from[i];
    if (type.shape[i] > 1) from[i] *= slice.strides[i];
  }
  return prepare_box(Box(type.shape.dims(), dense_strides(type.shape), from, width), first * width);
}

std::vector<Tensor> slice_transpose(const TransposeCall& c) {
  const auto& part = c.node.attrs<SliceAttributes>();
  std::vector<std::int64_t> after, between;
  for (std::size_t i = 0; i < part.starts.size(); i++) {
    const std::int64_t size = c.ct().shape().dims()[i], stride = part.strides[i];
    const std::int64_t end = part.starts[i] + (size == 0 ? 0 : (size - 1) * stride + 1);
    after.push_back(c.type(0).shape.dims()[i] - end);
    between.push_back(stride - 1);
  }
  const auto among_zeros = [=, ct = c.ct()] { return pad(ct, 0, part.starts, after, between); };
  // Threshold: Elements of an array whose cotangents are added as a whole: simpler, and as fast.
  // Not measured.
  constexpr std::int64_t kSmall = 64;
  const bool is_dense = std::all_of(part.strides.begin(), part.strides.end(),
                                    [](std::int64_t stride) { return stride == 1; });
  if (!is_dense || c.type(0).elements() <= kSmall) return {among_zeros()};
  std::vector<Tensor> starts;
  for (const std::int64_t start : part.starts)
    starts.push_back(Operand(start, c.at()).as(DType::kS64));
  ir::CotangentPart of_part = part_of_zeros(c.type(0), c.ct(), starts, c.at());
  of_part.alone = among_zeros;
  c.of_operands.add(0, std::move(of_part));
  return {};
}

void describe_slice(ir::AttributeCodec& codec, SliceAttributes& a) {
  codec.slices({{{"starts", "start_indices"}, {"limits", "limit_indices"}, {"strides"}}},
               {&a.starts, &a.limits, &a.strides});
}

}  // namespace

const ir::OpDef kSlice{
    .name = "slice",
    .arity = 1,
    .cost = ir::Cost::kMovement,
    .types = {.infer = infer_slice},
    .structure = {.loops = slice_reads},
    .kernel = {.prepare = prepare_slice},
    .derivative = {.linear = Linear::kJointly, .transpose = slice_transpose},
    .batching = {.rule = slice_batch},
    .text = {.hlo = "slice",
             .stablehlo = "stablehlo.slice",
             .attributes = &ir::kAttributeText<SliceAttributes, describe_slice>}};

Tensor row_of(const Tensor& x, std::int64_t i, SourceLocation at) {
  std::vector<std::int64_t> starts(x.shape().size(), 0), limits = x.shape().vector();
  starts[0] = i;
  limits[0] = i + 1;
  const Tensor part = slice(Operand(x, at), starts, limits);
  return reshape_to(part, Shape(x.shape().dims().subspan(1)), at);
}

}  // namespace ops

Tensor slice(const Operand& x, const std::vector<std::int64_t>& starts,
             const std::vector<std::int64_t>& limits, const std::vector<std::int64_t>& strides) {
  Tensor operand = ops::any_tensor("slice", x);
  ops::SliceAttributes attributes{starts, limits, strides};
  if (strides.empty()) attributes.strides.assign(operand.shape().size(), 1);
  const bool unit = std::all_of(attributes.strides.begin(), attributes.strides.end(),
                                [](std::int64_t s) { return s == 1; });
  const bool from_zero =
      std::all_of(starts.begin(), starts.end(), [](std::int64_t s) { return s == 0; });
  if (unit && from_zero && starts.size() == limits.size() && limits == operand.shape().vector() &&
      attributes.strides.size() == limits.size())
    return operand;
  return ops::make(ops::kSlice, {operand}, std::move(attributes), x.at());
}

}  // namespace rondo
