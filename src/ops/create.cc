#include "ops/create.h"

#include <algorithm>

#include "base/small_format.h"
#include "ir/attribute_text.h"
#include "ops/broadcast.h"
#include "ops/element_rules.h"
#include "ops/small.h"
#include "ops/support.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace ops {

namespace {

InferredTypes infer_iota(const InferContext& context) {
  const auto& [type, axis] = context.attrs<IotaAttributes>();
  if (is_pred(type.dtype)) {
    context.fail(
        fmt::format("{} has no numbers to count with\n  Make an s32 and compare it.", type.str()));
  }
  if (axis < 0 || axis >= type.rank())
    context.fail(fmt::format(
        "{} has no axis {}\n  Name the axis along which to count: 0 to the rank less 1.",
        type.str(), axis));
  return {type};
}

/// An index converted as in XLA's iota: integers wrap, other dtypes round.
template <class T>
T iota_value(std::int64_t i) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(i);
  } else if constexpr (is_complex(dtype_of<T>)) {
    return T(static_cast<typename T::value_type>(i));
  } else {
    return static_cast<T>(i);
  }
}

void iota_kernel(const ir::KernelRun& run) {
  const TensorType& type = run.node.type();
  const std::int64_t axis = run.attrs<IotaAttributes>().axis;
  std::int64_t inner = 1;
  for (std::int64_t i = axis + 1; type.elements() != 0 && i < type.rank(); i++) {
    inner *= type.shape[i];
  }
  const std::int64_t size = type.shape[axis];
  ir::Poller poller(run.host);
  for_dtype(type.dtype, [&]<class T>() {
    T* to = run.result<T>();
    const T* end = to + type.elements();
    while (to != end) {
      for (std::int64_t i = 0; i < size; i++, to += inner) {
        std::fill(to, to + inner, iota_value<T>(i));
        poller.did(inner);
      }
    }
  });
}

void describe_iota(ir::AttributeCodec& codec, IotaAttributes& a) {
  codec.derived("type", a.type, [&] { return codec.result(0); });
  codec.integer({"axis", "iota_dimension", "dim"}, a.axis);
}

std::vector<Tensor> iota_bytes(const Node& node, std::span<const Tensor>) {
  const auto& [type, axis] = node.attrs<IotaAttributes>();
  const Tensor numbers = iota({DType::kS32, type.shape}, axis, node.location());
  return {bytes_of(numbers, type.dtype, node.location())};
}

std::vector<Tensor> unset_bytes(const Node& node, std::span<const Tensor>) {
  return {unset({storage_dtype(node.type().dtype), node.type().shape}, node.location())};
}

InferredTypes infer_unset(const InferContext& context) {
  return {context.attrs<UnsetAttributes>().type};
}

void unset_kernel(const ir::KernelRun& run) {
  // Threshold: Bytes cleared between two polls. Not measured.
  constexpr std::int64_t kBlock = 8 * ir::Poller::kBlock;
  ir::Poller poller(run.host);
  std::byte* to = run.results[0];
  for (std::int64_t left = run.node.type().bytes(); left > 0; left -= kBlock) {
    to = std::fill_n(to, std::min(left, kBlock), std::byte{0});
    poller.did(ir::Poller::kBlock);
  }
}

lower::Element unset_element(const ir::ElementCall& c) {
  const DType dtype = c.node.type().dtype;
  const lower::Value zero = c.builder.number(lower::type_of(dtype), 0);
  return is_complex(dtype) ? lower::Element{zero, zero} : lower::Element{zero};
}

std::vector<Tensor> expand_unset(const Node& node, std::span<const Tensor>) {
  return {zeros(node.type(), node.location())};
}

}  // namespace

const ir::OpDef kIota{.name = "iota",
                      .arity = 0,
                      .cost = ir::Cost::kElementwise,
                      .types = {.infer = infer_iota, .on_bytes = iota_bytes},
                      .structure = {.element = iota_element, .element_dtypes = ir::kAllDTypes},
                      .kernel = {.prepare = ir::prepare_function<iota_kernel>},
                      .derivative = {.zero = true},
                      .text = {.hlo = "iota",
                               .stablehlo = "stablehlo.iota",
                               .attributes = &ir::kAttributeText<IotaAttributes, describe_iota>}};

const ir::OpDef kUnset{
    .name = "unset",
    .arity = 0,
    .cost = ir::Cost::kElementwise,
    .types = {.infer = infer_unset, .on_bytes = unset_bytes},
    .structure = {.element = unset_element, .element_dtypes = ir::kAllDTypes, .unset = true},
    .kernel = {.prepare = ir::prepare_function<unset_kernel>},
    .expansion = {.rule = expand_unset},
    .derivative = {.zero = true},
    .text = {.attributes = &ir::kFieldText<UnsetAttributes>}};

Tensor unset(const TensorType& type, SourceLocation at) {
  return make(kUnset, {}, UnsetAttributes{type}, at);
}

}  // namespace ops

namespace detail {

void refuse_ragged(std::span<const std::size_t> place, std::size_t size, std::size_t first,
                   SourceLocation at) {
  const bool is_row = place.size() == 1;
  const std::string where =
      is_row ? fmt::format("{}", place[0]) : fmt::format("[{}]", fmt::join(place, "]["));
  const std::string start =
      is_row ? std::string("0")
             : fmt::format("[{}]", fmt::join(std::vector<int>(place.size(), 0), "]["));
  ops::fail("constant",
            fmt::format("row {} has {} elements, row {} has {}; the rows must be equally long\n  "
                        "Fill the shorter ones, or make an array of each.",
                        where, size, start, first),
            at);
}

}  // namespace detail

Tensor constant(const Literal& value, SourceLocation at) { return Tensor(value, at); }

Tensor full(const TensorType& type, const Operand& value) {
  if (!value.is_scalar()) {
    const Tensor x = ops::any_tensor("full", value);
    if (x.dtype() != type.dtype) {
      ops::fail("full",
                fmt::format("the value is {}, the type asked for {}\n  Convert it: "
                            "rondo::convert(value, DType::k{}).",
                            x.type().str(), type.str(), ops::dtype_constant(type.dtype)),
                value.at());
    }
    return broadcast_to(value, type.shape);
  }
  return ops::broadcast(value.as(type.dtype), type.shape, value.at());
}

Tensor zeros(const TensorType& type, SourceLocation at) { return full(type, Operand(0, at)); }
Tensor ones(const TensorType& type, SourceLocation at) { return full(type, Operand(1, at)); }

Tensor iota(const TensorType& type, std::int64_t axis, SourceLocation at) {
  return ops::make(ops::kIota, {},
                   ops::IotaAttributes{type, ops::normal_axis("iota", axis, type.rank(), at)}, at);
}

Tensor arange(std::int64_t n, DType dtype, SourceLocation at) {
  if (n < 0)
    ops::fail("arange",
              fmt::format("{} elements; the number must not be negative\n  Give 0 or more; for a "
                          "falling range, n - 1 - arange(n).",
                          n),
              at);
  return iota({dtype, Shape{n}}, 0, at);
}

Tensor eye(std::int64_t n, DType dtype, SourceLocation at) {
  if (n < 0)
    ops::fail("eye", fmt::format("{} rows; the number must not be negative\n  Give 0 or more.", n),
              at);
  const TensorType indices{DType::kS64, Shape{n, n}};
  return convert(
      Operand(eq(Operand(iota(indices, 0, at), at), Operand(iota(indices, 1, at), at)), at), dtype);
}

}  // namespace rondo
