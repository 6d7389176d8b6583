#include "ops/dynamic_slice.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "ir/attribute_text.h"
#include "ir/index_range.h"
#include "ops/batch_rules.h"
#include "ops/create.h"
#include "ops/derivative_rules.h"
#include "ops/index_rules.h"
#include "ops/kernels/box.h"
#include "ops/support.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"

namespace rondo {

namespace ops {

namespace {

void check_starts(const InferContext& context, std::size_t first,
                  std::span<const std::int64_t> sizes) {
  const TensorType& x = context.type(0);
  if (context.operands.size() != first + x.shape.size()) {
    context.fail(
        fmt::format("{} has {} axes and needs a start for each; {} are given\n  Give a start per "
                    "axis, 0 where the part begins at the front.",
                    x.str(), x.rank(), context.operands.size() - first));
  }
  if (sizes.size() != x.shape.size()) {
    context.fail(
        fmt::format("{} has {} axes, the part has {}\n  Give the part a size for each axis, 1 for "
                    "a single index; reshape drops it afterwards.",
                    x.str(), x.rank(), sizes.size()));
  }
  for (std::size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] < 0 || sizes[i] > x.shape[i]) {
      context.fail(
          fmt::format("the part is {} long along axis {}, where {} has {}\n  Take a "
                      "part that fits: sizes from 0 to {}.",
                      sizes[i], i, x.str(), x.shape[i], x.shape[i]));
    }
  }
  for (std::size_t i = first; i < context.operands.size(); i++) {
    const TensorType& start = context.type(i);
    if (!is_integer(start.dtype) || start.rank() != 0 || start != context.type(first)) {
      context.fail(
          fmt::format("start {} is {}, start 0 {}; starts must be integer scalars of one dtype\n  "
                      "Convert them (rondo::convert), and take one element of an array.",
                      i - first, start.str(), context.type(first).str()));
    }
  }
}

InferredTypes infer_dynamic_slice(const InferContext& context) {
  if (context.operands.empty())
    context.fail("there is no operand\n  Give the array to take a part of.");
  const auto& sizes = context.attrs<DynamicSliceAttributes>().sizes;
  check_starts(context, 1, sizes);
  return {{context.type(0).dtype, sizes}};
}

InferredTypes infer_dynamic_update_slice(const InferContext& context) {
  if (context.operands.size() < 2)
    context.fail("it takes an operand and an update\n  Give both, and then the starts.");
  const TensorType &x = context.type(0), &update = context.type(1);
  if (x.dtype != update.dtype) {
    context.fail(
        fmt::format("the update is {}, the operand {}; their dtypes must be equal\n  Convert "
                    "the update: rondo::convert(update, DType::k{}).",
                    update.str(), x.str(), dtype_constant(x.dtype)));
  }
  check_starts(context, 2, update.shape.dims());
  return {x};
}

/// A part of an array at a position known at run time.
class PartPlan {
 public:
  /// `first_start` is the index of the operand of `node` with the first start.
  PartPlan(const Node& node, const TensorType& array, std::span<const std::int64_t> sizes,
           std::size_t first_start)
      : width_(byte_width(array.dtype)), first_start_(first_start) {
    const Shape& shape = array.shape;
    if (shape.elements() == 0) {
      elements_ = 0;
      return;
    }
    index_dtype_ = shape.rank() == 0 ? DType::kS32 : node.operand_type(first_start).dtype;
    std::int64_t stride = width_;
    axes_.resize(shape.size());
    bool whole = true;  // all axes so far are taken whole, so the next one is contiguous
    for (std::size_t i = shape.size(); i-- > 0;) {
      axes_[i] = {shape[i] - sizes[i], stride};
      stride *= shape[i];
      if (!whole && sizes[i] != 1) contiguous_ = false;
      whole = whole && sizes[i] == shape[i];
      elements_ *= sizes[i];
    }
  }

  bool empty() const { return elements_ == 0; }
  bool contiguous() const { return contiguous_; }
  std::int64_t bytes() const { return elements_ * width_; }
  /// The offset of the part's first element in the array, in bytes. Starts are clamped.
  std::int64_t offset(ir::OperandPlaces operands) const {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < axes_.size(); i++) {
      const std::int64_t start = index_at(index_dtype_, operands[first_start_ + i], 0);
      offset += std::clamp<std::int64_t>(start, 0, axes_[i].room) * axes_[i].stride;
    }
    return offset;
  }

 private:
  struct Axis {
    std::int64_t room, stride;
  };
  std::int64_t width_;
  std::size_t first_start_;
  DType index_dtype_ = DType::kS32;
  absl::InlinedVector<Axis, 4> axes_;
  std::int64_t elements_ = 1;
  bool contiguous_ = true;
};

class DynamicSliceKernel final : public ir::Kernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  explicit DynamicSliceKernel(const Node& node)
      : part_(node, node.operand_type(0), node.attrs<DynamicSliceAttributes>().sizes, 1),
        box_(node.type().shape.dims(), dense_strides(node.type().shape),
             dense_strides(node.operand_type(0).shape), byte_width(node.type().dtype)) {}
  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    if (part_.empty()) return;
    const std::byte* from = operands[0] + part_.offset(operands);
    ir::Poller poller(host);
    if (part_.contiguous())
      ir::copy_in_blocks(results[0], from, part_.bytes(), poller);
    else
      box_.copy(results[0], from, poller);
  }

 private:
  PartPlan part_;
  Box box_;
};

/// Writes in place if the result aliases the operand: a loop that fills n rows then costs O(n).
class DynamicUpdateSliceKernel final : public ir::Kernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  explicit DynamicUpdateSliceKernel(const Node& node)
      : part_(node, node.type(), node.operand_type(1).shape.dims(), 2),
        box_(node.operand_type(1).shape.dims(), dense_strides(node.type().shape),
             dense_strides(node.operand_type(1).shape), byte_width(node.type().dtype)),
        bytes_(node.type().bytes()),
        whole_(node.operand_type(1) == node.type()) {}
  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    ir::Poller poller(host);
    if (whole_) {
      if (results[0] != operands[1]) ir::copy_in_blocks(results[0], operands[1], bytes_, poller);
      return;
    }
    const std::int64_t offset = part_.offset(operands);
    if (results[0] != operands[0]) ir::copy_in_blocks(results[0], operands[0], bytes_, poller);
    if (part_.empty()) return;
    std::byte* to = results[0] + offset;
    if (part_.contiguous())
      ir::copy_in_blocks(to, operands[1], part_.bytes(), poller);
    else
      box_.copy(to, operands[1], poller);
  }
  std::uint64_t overwrites(std::size_t) const override { return whole_ ? 2 : 1; }

 private:
  PartPlan part_;
  Box box_;
  std::int64_t bytes_;
  bool whole_;
};

template <class K>
std::unique_ptr<ir::Kernel> prepare_part(const Node& node) {
  return std::make_unique<K>(node);
}

std::vector<Tensor> dynamic_slice_transpose(const TransposeCall& c) {
  c.of_operands.add(0, part_of_zeros(c.type(0), c.ct(), c.operands.subspan(1), c.at()));
  return {};
}

std::vector<Tensor> dynamic_update_slice_transpose(const TransposeCall& c) {
  std::vector<Tensor> all(c.operands.size());
  const Shape& part = c.type(1).shape;
  // Read first: then the cotangent is zeroed in place.
  if (c.linear[1]) {
    ir::Operands operands(c.operands.begin() + 1, c.operands.end());
    operands[0] = c.ct();
    all[1] =
        make(kDynamicSlice, std::move(operands), DynamicSliceAttributes{part.vector()}, c.at());
  }
  if (c.linear[0]) {
    ir::Operands operands(c.operands.begin(), c.operands.end());
    operands[0] = c.ct();
    operands[1] = zeros(c.type(1));
    all[0] = make(kDynamicUpdateSlice, std::move(operands), {}, c.at());
  }
  return all;
}

/// `first` is the index of the operand with the first start.
std::vector<ir::IndexRange> start_ranges(const Node& node, std::string_view op, std::size_t first,
                                         const Shape& part) {
  const Shape& shape = node.operand_type(0).shape;
  std::vector<ir::IndexRange> ranges;
  for (std::size_t i = 0; i < shape.size() && part.elements() != 0; i++) {
    ranges.push_back({.op = op,
                      .operand = first + i,
                      .axis = static_cast<std::int64_t>(i),
                      .size = shape[i],
                      .room = shape[i] - part[i]});
  }
  return ranges;
}

std::vector<ir::IndexRange> dynamic_slice_indices(const Node& node) {
  return start_ranges(node, "dynamic_slice", 1, node.type().shape);
}

std::vector<ir::IndexRange> dynamic_update_slice_indices(const Node& node) {
  return start_ranges(node, "dynamic_update_slice", 2, node.operand_type(1).shape);
}

void describe_dynamic_slice(ir::AttributeCodec& codec, DynamicSliceAttributes& a) {
  codec.integers({"sizes", "slice_sizes", "sizes", "dynamic_slice_sizes"}, a.sizes);
}

/// The number as an index of this dtype; none if it is out of range. A number less than the least
/// one of a signed dtype becomes that: both are before the first position.
std::optional<std::int64_t> index_in(DType dtype, std::int64_t value) {
  const auto [least, greatest] = integer_limits(dtype);
  if (value < 0) return least == 0 ? std::nullopt : std::optional(std::max(value, least));
  return static_cast<std::uint64_t>(value) <= greatest ? std::optional(value) : std::nullopt;
}

Tensor index_constant(std::int64_t value, DType dtype, SourceLocation at) {
  return ir::make_constant(ir::scalar_literal(Scalar::of(value), dtype, at), at);
}

}  // namespace

std::int64_t no_place(DType dtype) {
  if (!is_signed_integer(dtype))
    throw InternalError("an index of a dtype without a sign, which is to be out of range");
  return integer_limits(dtype).least;
}

Tensor wide_index(const Tensor& index, SourceLocation at) {
  const bool past = index.dtype() == DType::kU64;
  const Tensor bounded =
      past ? minimum(Operand(index, at), Operand(std::numeric_limits<std::int64_t>::max(), at))
           : index;
  return bounded.dtype() == DType::kS64 ? bounded : convert(Operand(bounded, at), DType::kS64);
}

ir::CotangentPart part_of_zeros(const TensorType& type, const Tensor& part,
                                std::span<const Tensor> starts, SourceLocation at) {
  const std::vector<Tensor> place(starts.begin(), starts.end());
  return {[part, place](const Tensor& sum) {
            const Tensor there = dynamic_slice(sum, place, part.shape().vector());
            return dynamic_update_slice(sum, there + part, place);
          },
          [type, part, place] { return dynamic_update_slice(zeros(type), part, place); }, at};
}

const ir::OpDef kDynamicSlice{
    .name = "dynamic_slice",
    .cost = ir::Cost::kMovement,
    .types = {.infer = infer_dynamic_slice},
    .structure = {.loops = dynamic_slice_reads, .indices = dynamic_slice_indices},
    .kernel = {.prepare = prepare_part<DynamicSliceKernel>},
    .derivative = {.linear = Linear::kJointly, .transpose = dynamic_slice_transpose},
    .batching = {.rule = dynamic_slice_batch},
    .text = {.hlo = "dynamic-slice",
             .stablehlo = "stablehlo.dynamic_slice",
             .attributes = &ir::kAttributeText<DynamicSliceAttributes, describe_dynamic_slice>}};

const ir::OpDef kDynamicUpdateSlice{
    .name = "dynamic_update_slice",
    .cost = ir::Cost::kMovement,
    .types = {.infer = infer_dynamic_update_slice},
    .structure = {.loops = dynamic_update_slice_writes,
                  .indices = dynamic_update_slice_indices,
                  .updates = true},
    .kernel = {.prepare = prepare_part<DynamicUpdateSliceKernel>},
    .derivative = {.linear = Linear::kJointly, .transpose = dynamic_update_slice_transpose},
    .batching = {.rule = dynamic_update_slice_batch, .blend = dynamic_update_slice_blend},
    .text = {.hlo = "dynamic-update-slice", .stablehlo = "stablehlo.dynamic_update_slice"}};

std::int64_t index_at(DType dtype, const std::byte* indices, std::int64_t i) {
  const std::byte* at = indices + i * byte_width(dtype);
  auto read = [at]<class T>(T) {
    return static_cast<std::int64_t>(*reinterpret_cast<const T*>(at));
  };
  switch (dtype) {
    case DType::kS32:
      return read(std::int32_t());
    case DType::kS64:
      return read(std::int64_t());
    case DType::kU32:
      return read(std::uint32_t());
    case DType::kU64: {
      const std::int64_t value = read(std::int64_t());
      return value < 0 ? std::numeric_limits<std::int64_t>::max() : value;
    }
    case DType::kS8:
      return read(std::int8_t());
    case DType::kS16:
      return read(std::int16_t());
    case DType::kU8:
      return read(std::uint8_t());
    case DType::kU16:
      return read(std::uint16_t());
    default:
      throw InternalError("indices that are no integers");
  }
}

std::int64_t index_at(const Literal& indices, std::int64_t i) {
  return index_at(indices.dtype(), indices.bytes(), i);
}

std::vector<Tensor> matched_starts(std::string_view op, std::span<const Tensor> starts,
                                   SourceLocation at) {
  std::optional<DType> common;
  bool wide = false;
  for (std::size_t i = 0; i < starts.size(); i++) {
    const TensorType& type = ir::checked(starts[i], op.data(), at).type();
    if (!is_integer(type.dtype) || type.rank() != 0) {
      fail(op,
           fmt::format("start {} is {}; starts must be integer scalars\n  Convert it: "
                       "rondo::convert(i, DType::kS32); take its element, if it is an array: i[0].",
                       i, type.str()),
           at);
    }
    if (starts[i].is_scalar_literal()) continue;
    wide = wide || (common && *common != type.dtype);
    common = type.dtype;
  }
  auto literal_at = [&](std::size_t i) { return index_at(*ir::constant_value(starts[i]), 0); };
  const DType narrow = common.value_or(DType::kS32);
  for (std::size_t i = 0; i < starts.size(); i++) {
    wide = wide || (starts[i].is_scalar_literal() && !index_in(narrow, literal_at(i)));
  }
  const DType dtype = wide ? DType::kS64 : narrow;
  std::vector<Tensor> matched;
  matched.reserve(starts.size());
  for (std::size_t i = 0; i < starts.size(); i++) {
    if (!starts[i].is_scalar_literal()) {
      matched.push_back(wide ? wide_index(starts[i], at) : starts[i]);
    } else if (starts[i].dtype() == dtype) {
      matched.push_back(starts[i]);
    } else {
      matched.push_back(index_constant(*index_in(dtype, literal_at(i)), dtype, at));
    }
  }
  return matched;
}

}  // namespace ops

// The nodes are created even if they turn out to change nothing: creating them checks the operands.

Tensor dynamic_slice(const Operand& x, const std::vector<Tensor>& starts,
                     const std::vector<std::int64_t>& sizes) {
  const Tensor operand = ops::any_tensor("dynamic_slice", x);
  ir::Operands operands{operand};
  for (Tensor& start : ops::matched_starts("dynamic_slice", starts, x.at())) {
    operands.push_back(std::move(start));
  }
  Tensor part = ops::make(ops::kDynamicSlice, std::move(operands),
                          ops::DynamicSliceAttributes{sizes}, x.at());
  return part.shape() == operand.shape() ? operand : part;
}

Tensor dynamic_update_slice(const Operand& x, const Operand& update,
                            const std::vector<Tensor>& starts) {
  const Tensor operand = ops::any_tensor("dynamic_update_slice", x);
  const Tensor part = update.is_scalar() ? update.as(operand.dtype())
                                         : ops::any_tensor("dynamic_update_slice", update);
  ir::Operands operands{operand, part};
  for (Tensor& start : ops::matched_starts("dynamic_update_slice", starts, x.at())) {
    operands.push_back(std::move(start));
  }
  Tensor updated = ops::make(ops::kDynamicUpdateSlice, std::move(operands), {}, x.at());
  return part.shape() == operand.shape() ? part : updated;
}

}  // namespace rondo
