#include "ops/dynamic_slice.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "ops/box.h"
#include "ops/create.h"
#include "ops/derivative_rules.h"
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
    context.fail(fmt::format("{} has {} axes and needs a start for each; {} are given", x.str(),
                             x.rank(), context.operands.size() - first));
  }
  if (sizes.size() != x.shape.size()) {
    context.fail(fmt::format("{} has {} axes, the part has {}", x.str(), x.rank(), sizes.size()));
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
          fmt::format("start {} is {}, start 0 {}; starts must be integer scalars of one dtype",
                      i - first, start.str(), context.type(first).str()));
    }
  }
}

InferredTypes infer_dynamic_slice(const InferContext& context) {
  if (context.operands.empty()) context.fail("there is no operand");
  const auto& sizes = context.attrs<DynamicSliceAttributes>().sizes;
  check_starts(context, 1, sizes);
  return {{context.type(0).dtype, sizes}};
}

InferredTypes infer_dynamic_update_slice(const InferContext& context) {
  if (context.operands.size() < 2) context.fail("it takes an operand and an update");
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

/// Where a part of `sizes` elements lies in an array.
struct SlicePlace {
  std::int64_t offset = 0;    // of its first element, in elements
  std::int64_t elements = 1;  // of the part
  bool contiguous = true;     // it is one block
};

/// Reads and clamps the starts, which are the inputs from `first` on.
SlicePlace slice_place(const KernelCall& call, std::size_t first, const Shape& shape,
                       const std::int64_t* sizes) {
  SlicePlace place;
  std::int64_t stride = 1;
  if (shape.elements() == 0) return {0, 0, true};
  bool whole = true;  // all axes so far are taken wholly, so that the next one is contiguous
  for (std::size_t i = shape.size(); i-- > 0;) {
    const std::int64_t start = index_at(call.input(first + i), 0);
    place.offset += std::clamp<std::int64_t>(start, 0, shape[i] - sizes[i]) * stride;
    stride *= shape[i];
    if (!whole && sizes[i] != 1) place.contiguous = false;
    whole = whole && sizes[i] == shape[i];
    place.elements *= sizes[i];
  }
  return place;
}

void dynamic_slice_kernel(KernelCall& call) {
  const auto& sizes = call.attrs<DynamicSliceAttributes>().sizes;
  const Literal& x = call.input(0);
  const TensorType& type = call.output_type();
  const std::int64_t width = byte_width(type.dtype);
  const SlicePlace place = slice_place(call, 1, x.shape(), sizes.data());
  Literal out = Literal::uninitialized(type);
  if (place.elements != 0) {
    const std::byte* from = x.bytes() + place.offset * width;
    if (place.contiguous) {
      copy_bytes(out.mutable_bytes(), from, place.elements * width);
    } else {
      Box(sizes, dense_strides(call.node.type().shape), dense_strides(x.shape()), width)
          .copy(out.mutable_bytes(), from);
    }
  }
  call.output() = std::move(out);
}

void dynamic_update_slice_kernel(KernelCall& call) {
  const Literal& update = call.input(1);
  const Shape& part = call.node.operand_type(1).shape;  // the literal itself may have fewer axes
  const TensorType& type = call.output_type();
  if (part == type.shape) {  // also where the two operands are one
    call.output() = call.take(1).reinterpreted(type);
    return;
  }
  const std::int64_t width = byte_width(type.dtype);
  const SlicePlace place = slice_place(call, 2, type.shape, part.begin());
  call.output() = call.take(0);
  if (place.elements == 0) return;
  // In place if nobody else holds the array: a loop that fills n rows then costs O(n).
  std::byte* to = call.output().mutable_bytes() + place.offset * width;
  if (place.contiguous) {
    copy_bytes(to, update.bytes(), place.elements * width);
  } else {
    Box(part.dims(), dense_strides(type.shape), dense_strides(part), width)
        .copy(to, update.bytes());
  }
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

void dynamic_slice_hlo(const Node& node, std::string& out) {
  out += ", dynamic_slice_sizes=";
  append_list(out, node.attrs<DynamicSliceAttributes>().sizes, '{', '}');
}

void dynamic_slice_stablehlo(const Node& node, std::string& out) {
  append_i64_array(out, "slice_sizes", node.attrs<DynamicSliceAttributes>().sizes);
}

bool holds(DType dtype, std::int64_t value) {
  return for_dtype(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      return sizeof(T) == 8 || value <= static_cast<std::int64_t>(std::numeric_limits<T>::max());
    } else {
      return false;
    }
  });
}

Tensor index_constant(std::int64_t value, DType dtype, SourceLocation at) {
  return ir::make_constant(ir::scalar_literal(Scalar::of(value), dtype, at), at);
}

/// As s64, whose largest value stands for unsigned ones past it: they are clamped all the same.
Tensor wide_index(const Tensor& index, SourceLocation at) {
  const bool past = index.dtype() == DType::kU64;
  const Tensor bounded =
      past ? minimum(Operand(index, at), Operand(std::numeric_limits<std::int64_t>::max(), at))
           : index;
  return bounded.dtype() == DType::kS64 ? bounded : convert(Operand(bounded, at), DType::kS64);
}

}  // namespace

ir::CotangentPart part_of_zeros(const TensorType& type, const Tensor& part,
                                std::span<const Tensor> starts, SourceLocation at) {
  const std::vector<Tensor> place(starts.begin(), starts.end());
  return {[part, place](const Tensor& sum) {
            const Tensor there = dynamic_slice(sum, place, part.shape().vector());
            return dynamic_update_slice(sum, there + part, place);
          },
          [type, part, place] { return dynamic_update_slice(zeros(type), part, place); }, at};
}

const ir::OpDef kDynamicSlice{.name = "dynamic_slice",
                              .hlo = "dynamic-slice",
                              .stablehlo = "stablehlo.dynamic_slice",
                              .infer = infer_dynamic_slice,
                              .kernel = dynamic_slice_kernel,
                              .hlo_attributes = dynamic_slice_hlo,
                              .stablehlo_attributes = dynamic_slice_stablehlo,
                              .linear = Linear::kJointly,
                              .transpose = dynamic_slice_transpose};

const ir::OpDef kDynamicUpdateSlice{.name = "dynamic_update_slice",
                                    .hlo = "dynamic-update-slice",
                                    .stablehlo = "stablehlo.dynamic_update_slice",
                                    .infer = infer_dynamic_update_slice,
                                    .kernel = dynamic_update_slice_kernel,
                                    .linear = Linear::kJointly,
                                    .transpose = dynamic_update_slice_transpose};

std::int64_t index_at(const Literal& indices, std::int64_t i) {
  const std::byte* at = indices.bytes() + i * byte_width(indices.dtype());
  auto read = [at]<class T>(T) {
    return static_cast<std::int64_t>(*reinterpret_cast<const T*>(at));
  };
  switch (indices.dtype()) {
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

std::vector<Tensor> matched_starts(std::string_view op, std::span<const Tensor> starts,
                                   std::span<const std::int64_t> room, SourceLocation at) {
  std::optional<DType> common;
  bool wide = false;
  for (std::size_t i = 0; i < starts.size(); i++) {
    const TensorType& type = ir::checked(starts[i], op.data(), at).type();
    if (!is_integer(type.dtype) || type.rank() != 0) {
      fail(op, fmt::format("start {} is {}; starts must be integer scalars", i, type.str()), at);
    }
    if (starts[i].is_scalar_literal()) continue;
    wide = wide || (common && *common != type.dtype);
    common = type.dtype;
  }
  auto literal_at = [&](std::size_t i) {
    return std::clamp<std::int64_t>(index_at(*ir::known_value(starts[i]), 0), 0,
                                    i < room.size() ? std::max<std::int64_t>(room[i], 0) : 0);
  };
  const DType narrow = common.value_or(DType::kS32);
  for (std::size_t i = 0; i < starts.size(); i++) {
    wide = wide || (starts[i].is_scalar_literal() && !holds(narrow, literal_at(i)));
  }
  const DType dtype = wide ? DType::kS64 : narrow;
  std::vector<Tensor> matched;
  matched.reserve(starts.size());
  for (std::size_t i = 0; i < starts.size(); i++) {
    if (!starts[i].is_scalar_literal()) {
      matched.push_back(wide ? wide_index(starts[i], at) : starts[i]);
    } else if (starts[i].dtype() == dtype &&
               index_at(*ir::known_value(starts[i]), 0) == literal_at(i)) {
      matched.push_back(starts[i]);
    } else {
      matched.push_back(index_constant(literal_at(i), dtype, at));
    }
  }
  return matched;
}

}  // namespace ops

namespace {

std::vector<std::int64_t> room_for(const Shape& shape, std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> room;
  for (std::size_t i = 0; i < shape.size() && i < sizes.size(); i++)
    room.push_back(shape[i] - sizes[i]);
  return room;
}

}  // namespace

// The nodes are made even where they turn out to change nothing: making them is what checks the
// operands.

Tensor dynamic_slice(const Operand& x, const std::vector<Tensor>& starts,
                     const std::vector<std::int64_t>& sizes) {
  const Tensor operand = ops::any_tensor("dynamic_slice", x);
  ir::Operands operands{operand};
  for (Tensor& start :
       ops::matched_starts("dynamic_slice", starts, room_for(operand.shape(), sizes), x.at())) {
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
  for (Tensor& start :
       ops::matched_starts("dynamic_update_slice", starts,
                           room_for(operand.shape(), part.shape().dims()), x.at())) {
    operands.push_back(std::move(start));
  }
  Tensor updated = ops::make(ops::kDynamicUpdateSlice, std::move(operands), {}, x.at());
  return part.shape() == operand.shape() ? part : updated;
}

}  // namespace rondo
