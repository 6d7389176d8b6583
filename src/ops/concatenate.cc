#include "ops/concatenate.h"

#include <optional>

#include "ir/attribute_text.h"
#include "ops/batch_rules.h"
#include "ops/broadcast.h"
#include "ops/create.h"
#include "ops/derivative_rules.h"
#include "ops/index_rules.h"
#include "ops/kernels/box.h"
#include "ops/support.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace ops {

namespace {

InferredTypes infer_concatenate(const InferContext& context) {
  const std::int64_t axis = context.attrs<ConcatenateAttributes>().axis;
  if (context.operands.empty()) context.fail("there is nothing to join\n  Give one array or more.");
  const TensorType& first = context.type(0);
  if (axis < 0 || axis >= first.rank())
    context.fail(
        fmt::format("{} has no axis {}\n  Axes count from 0; a scalar has none: stack makes one.",
                    first.str(), axis));
  std::vector<std::int64_t> dims = first.shape.vector();
  std::int64_t& total = dims[static_cast<std::size_t>(axis)];
  for (std::size_t i = 1; i < context.operands.size(); i++) {
    const TensorType& part = context.type(i);
    if (part.dtype != first.dtype) {
      context.fail(fmt::format(
          "part 0 is {}, part {} is {}; their dtypes must be equal\n  {}", first.str(), i,
          part.str(),
          conversion_remedy(first.dtype, part.dtype, "part 0", fmt::format("part {}", i))));
    }
    bool fits = part.rank() == first.rank();
    for (std::int64_t j = 0; fits && j < part.rank(); j++)
      fits = j == axis || part.shape[j] == first.shape[j];
    if (!fits) {
      context.fail(
          fmt::format("part {} is {}, part 0 is {}; only axis {} may differ in "
                      "size\n  Reshape, slice or pad the part.",
                      i, part.str(), first.str(), axis));
    }
    if (__builtin_add_overflow(total, part.shape[axis], &total))
      context.fail("the result has too many elements\n  Join fewer or smaller arrays.");
  }
  return {{first.dtype, dims}};
}

void concatenate_kernel(const ir::KernelRun& run) {
  const std::int64_t axis = run.attrs<ConcatenateAttributes>().axis;
  const TensorType& type = run.node.type();
  if (type.elements() == 0) return;
  std::int64_t outer = 1, inner = byte_width(type.dtype);
  for (std::int64_t i = 0; i < axis; i++) outer *= type.shape[i];
  for (std::int64_t i = axis + 1; i < type.rank(); i++) inner *= type.shape[i];
  const std::int64_t stride = inner * type.shape[axis];
  std::byte* to = run.results[0];
  ir::Poller poller(run.host);
  for (std::size_t part = 0; part < run.operands.size(); part++) {
    const std::int64_t block = inner * run.node.operand_type(part).shape[axis];
    if (block == 0) continue;
    for (std::int64_t i = 0; i < outer; i++)
      ir::copy_in_blocks(to + i * stride, run.operands[part] + i * block, block, poller);
    to += block;
  }
}

void describe_concatenate(ir::AttributeCodec& codec, ConcatenateAttributes& a) {
  codec.axis({"axis", "dimension", "dim", "dimensions"}, a.axis);
}

std::vector<Tensor> concatenate_transpose(const TransposeCall& c) {
  const auto axis = static_cast<std::size_t>(c.node.attrs<ConcatenateAttributes>().axis);
  std::vector<std::int64_t> starts(c.ct().shape().size(), 0), limits = c.ct().shape().vector();
  limits[axis] = 0;
  std::vector<Tensor> parts(c.operands.size());
  for (std::size_t i = 0; i < parts.size(); i++) {
    starts[axis] = limits[axis];
    limits[axis] += c.type(i).shape[static_cast<std::int64_t>(axis)];
    if (c.linear[i]) parts[i] = slice(c.ct(), starts, limits);
  }
  return parts;
}

/// The parts, with scalar literals in the dtype of the tensors; literals alone get that of the one
/// with the widest range.
std::vector<Tensor> of_one_dtype(const char* op, const std::vector<Tensor>& parts,
                                 SourceLocation at) {
  if (parts.empty())
    fail(op, "there is nothing to join: the vector is empty\n  Give one tensor at least.", at);
  std::optional<DType> dtype;
  for (const Tensor& part : parts) {
    if (!ir::checked(part, op, at).is_scalar_literal()) {
      dtype = part.dtype();
      break;
    }
    // DType lists pred, integers, floats and complex numbers in this order, each by its width.
    if (!dtype || *dtype < part.dtype()) dtype = part.dtype();
  }
  std::vector<Tensor> adopted;
  adopted.reserve(parts.size());
  for (const Tensor& part : parts)
    adopted.push_back(adopt_dtype(ir::checked(part, op, at), *dtype, at));
  return adopted;
}

Tensor join_along(const std::vector<Tensor>& parts, std::int64_t axis, SourceLocation at) {
  if (parts.size() == 1) return parts[0];
  return make(kConcatenate, ir::Operands(parts.begin(), parts.end()), ConcatenateAttributes{axis},
              at);
}

}  // namespace

const ir::OpDef kConcatenate{
    .name = "concatenate",
    .cost = ir::Cost::kMovement,
    .types = {.infer = infer_concatenate},
    .structure = {.loops = concatenate_writes},
    .kernel = {.prepare = ir::prepare_function<concatenate_kernel>},
    .derivative = {.linear = Linear::kJointly, .transpose = concatenate_transpose},
    .batching = {.rule = concatenate_batch},
    .text = {.hlo = "concatenate",
             .stablehlo = "stablehlo.concatenate",
             .attributes = &ir::kAttributeText<ConcatenateAttributes, describe_concatenate>}};

}  // namespace ops

Tensor concatenate(const std::vector<Tensor>& parts, std::int64_t axis, SourceLocation at) {
  const std::vector<Tensor> joined = ops::of_one_dtype("concatenate", parts, at);
  if (joined[0].rank() == 0)
    ops::fail("concatenate",
              "part 0 is a scalar, which has no axes\n  For a vector of scalars use stack: "
              "rondo::stack(parts, 0).",
              at);
  return ops::join_along(joined, ops::normal_axis("concatenate", axis, joined[0].rank(), at), at);
}

Tensor stack(const std::vector<Tensor>& parts, std::int64_t axis, SourceLocation at) {
  std::vector<Tensor> stacked = ops::of_one_dtype("stack", parts, at);
  const TensorType type = stacked[0].type();
  const std::int64_t place = ops::normal_axis("stack", axis, type.rank() + 1, at);
  std::vector<std::int64_t> dims = type.shape.vector();
  dims.insert(dims.begin() + place, 1);
  const Shape shape(dims);
  for (std::size_t i = 0; i < stacked.size(); i++) {
    if (stacked[i].type() != type) {
      ops::fail("stack",
                fmt::format("part {} is {}, part 0 is {}; their types must be equal\n  Use "
                            "rondo::convert, reshape or broadcast_to; concatenate joins parts of "
                            "several sizes.",
                            i, stacked[i].type().str(), type.str()),
                at);
    }
    stacked[i] = ops::reshape_to(stacked[i], shape, at);
  }
  return ops::join_along(stacked, place, at);
}

}  // namespace rondo
