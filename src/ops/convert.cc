// The same number, or the same bytes, in another dtype.
#include "ir/attribute_text.h"
#include "ops/batch_rules.h"
#include "ops/derivative_rules.h"
#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/families.h"
#include "ops/index_rules.h"
#include "ops/kernels/elementwise_kernels.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace {

template <class To, class From>
To convert_element(From x) {
  if constexpr (is_complex(dtype_of<To>)) {
    using Part = typename To::value_type;
    if constexpr (is_complex(dtype_of<From>))
      return To(static_cast<Part>(x.real()), static_cast<Part>(x.imag()));
    else
      return To(lower::converted<Part>(x), 0);
  } else if constexpr (is_complex(dtype_of<From>)) {
    // The public function takes the real part itself; a parsed program may not.
    return lower::converted<To>(x.real());
  } else {
    return lower::converted<To>(x);
  }
}

InferredTypes infer_convert(const InferContext& context) {
  const TensorType& x = context.type(0);
  return {{context.attrs<ConvertAttributes>().dtype, x.shape}};
}

template <class From, class To>
void convert_loop(const std::byte* const* operands, std::byte* result, std::int64_t n) {
  const From* from = reinterpret_cast<const From*>(operands[0]);
  To* to = reinterpret_cast<To*>(result);
  RONDO_INDEPENDENT_TRIPS
  for (std::int64_t i = 0; i < n; i++) to[i] = convert_element<To>(from[i]);
}

std::unique_ptr<ir::Kernel> prepare_convert(const Node& node) {
  ElementLoop loop = nullptr;
  for_dtype(node.operand_type(0).dtype, [&]<class From>() {
    for_dtype(node.type().dtype, [&]<class To>() { loop = convert_loop<From, To>; });
  });
  return elementwise_kernel(node, loop);
}

std::vector<Tensor> convert_jvp(const JvpCall& c) {
  if (!ir::has_tangent(c.node.type())) return {Tensor()};
  return {convert(c.dx(0), c.node.type().dtype)};
}
std::vector<Tensor> convert_transpose(const TransposeCall& c) {
  return {convert(c.ct(), c.type(0).dtype)};
}

InferredTypes infer_bitcast(const InferContext& context) {
  const TensorType& x = context.type(0);
  const DType to = context.attrs<ConvertAttributes>().dtype;
  auto refuse = [&](DType dtype) { return is_pred(dtype) || is_complex(dtype); };
  if (refuse(x.dtype) || refuse(to)) {
    if (x.dtype == to) return {x};
    context.fail(
        fmt::format("from {} to {}: pred and complex dtypes cannot be reinterpreted\n  Use "
                    "rondo::convert, or rondo::real and rondo::imag.",
                    x.str(), dtype_name(to)));
  }
  const std::int64_t from_width = byte_width(x.dtype), to_width = byte_width(to);
  std::vector<std::int64_t> dims = x.shape.vector();
  if (from_width > to_width) dims.push_back(from_width / to_width);
  if (from_width < to_width) {
    const std::int64_t ratio = to_width / from_width;
    if (dims.empty() || dims.back() != ratio) {
      context.fail(
          fmt::format("from {} to {}: {} elements make one, so the last axis must have size {}\n  "
                      "Reshape the operand "
                      "so that its last axis has.",
                      x.str(), dtype_name(to), ratio, ratio));
    }
    dims.pop_back();
  }
  return {{to, dims}};
}

ConvertAttributes conversion_to_result(const TensorType& result) { return {result.dtype}; }

}  // namespace

const OpDef kConvert{
    .name = "convert",
    .arity = 1,
    .cost = ir::Cost::kElementwise,
    .types = {.infer = infer_convert},
    .structure = {.element = convert_element_rule,
                  .element_dtypes = ir::kAllDTypes,
                  .elementwise = true},
    .kernel = {.prepare = prepare_convert},
    .derivative = {.linear = Linear::kJointly, .jvp = convert_jvp, .transpose = convert_transpose},
    .text = {.hlo = "convert",
             .stablehlo = "stablehlo.convert",
             .attributes = &ir::kAttributesOfResult<ConvertAttributes, conversion_to_result>}};

const OpDef kBitcastConvert{
    .name = "bitcast_convert",
    .arity = 1,
    .cost = ir::Cost::kElementwise,
    .types = {.infer = infer_bitcast},
    .structure = {.loops = same_bytes},
    .kernel = {.prepare = ir::prepare_forwarding},
    .derivative = {.zero = true},
    .batching = {.rule = ir::batch_alike},
    .text = {.hlo = "bitcast-convert",
             .stablehlo = "stablehlo.bitcast_convert",
             .attributes = &ir::kAttributesOfResult<ConvertAttributes, conversion_to_result>}};

std::span<const OpDef* const> conversion_records() {
  static constexpr const OpDef* kAll[] = {&kConvert, &kBitcastConvert};
  return kAll;
}

}  // namespace rondo::ops

namespace rondo {

Tensor convert(const Operand& x, DType dtype) {
  Tensor tensor = ir::checked(x.any(), "convert", x.at());
  const DType from = tensor.dtype();
  if (from == dtype) return tensor;
  if (is_complex(from) && is_pred(dtype))
    return ne({tensor, x.at()}, {0, x.at()});  // XLA converts no complex number to pred
  if (is_complex(from) && !is_complex(dtype))
    return convert({real({tensor, x.at()}), x.at()}, dtype);
  return ops::make(ops::kConvert, {tensor}, ops::ConvertAttributes{dtype}, x.at());
}

Tensor bitcast_convert(const Operand& x, DType dtype) {
  Tensor tensor = ir::checked(x.any(), "bitcast_convert", x.at());
  if (tensor.dtype() == dtype) return tensor;
  return ops::make(ops::kBitcastConvert, {tensor}, ops::ConvertAttributes{dtype}, x.at());
}

}  // namespace rondo
