// The same number, or the same bytes, in another dtype; the same number with fewer bits.
#include "ir/attribute_text.h"
#include "ops/batch_rules.h"
#include "ops/derivative_rules.h"
#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/families.h"
#include "ops/index_rules.h"
#include "ops/kernels/elementwise_kernels.h"
#include "ops/small.h"
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
  const DType from = node.operand_type(0).dtype, to = node.type().dtype;
  const DType loop_from = loop_dtype(from);
  ElementLoop loop = nullptr;
  for_kinds<kAllKinds & ~kHalves>(loop_from, [&]<class From>() {
    for_dtype(loop_from == from ? to : loop_dtype(to),
              [&]<class To>() { loop = convert_loop<From, To>; });
  });
  return computing_kernel(node, loop);
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
  if (byte_width(x.dtype) == 0 || byte_width(to) == 0)
    context.fail("to a value that is no dtype\n  Give one that DType names.");
  auto refuse = [&](DType dtype) { return is_pred(dtype) || is_complex(dtype); };
  if (refuse(x.dtype) || refuse(to)) {
    if (x.dtype == to) return {x};
    context.fail(
        fmt::format("from {} to {}: pred and complex dtypes cannot be reinterpreted\n  Use "
                    "rondo::convert, or rondo::real and rondo::imag.",
                    x.str(), dtype_name(to)));
  }
  const std::int64_t from_width = bit_width(x.dtype), to_width = bit_width(to);
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

void describe_convert(ir::AttributeCodec& codec, ConvertAttributes& a) {
  codec.derived("dtype", a.dtype, [&] { return codec.result(0).dtype; });
}

/// The bits of an IEEE 754 format: a sign, the exponent, the mantissa.
struct FloatBits {
  int exponent, mantissa;
  /// The bits of 2^power.
  std::int64_t power_of_two(int power) const {
    return (std::int64_t{power} + (std::int64_t{1} << (exponent - 1)) - 1) << mantissa;
  }
  std::int64_t infinity() const { return ((std::int64_t{1} << exponent) - 1) << mantissa; }
};

FloatBits bits_of(DType dtype) {
  return dtype == DType::kF16    ? FloatBits{5, 10}
         : dtype == DType::kBF16 ? FloatBits{8, 7}
         : dtype == DType::kF32  ? FloatBits{8, 23}
                                 : FloatBits{11, 52};
}

struct ReducePrecisionAttributes {
  int exponent_bits, mantissa_bits;
  bool operator==(const ReducePrecisionAttributes&) const = default;
};

/// The bits of a number of format `from`, rounded. Exponent and mantissa are rounded as one number,
/// so that a carry out of the mantissa gives the next exponent, or infinity.
template <lower::Whole N>
N reduced_bits(N bits, FloatBits from, const ReducePrecisionAttributes& to) {
  const std::int64_t sign_bit = INT64_MIN >> (63 - from.exponent - from.mantissa);
  const N sign = bits & N::of(sign_bit), magnitude = bits & N::of(~sign_bit);
  N rounded = magnitude;
  if (to.mantissa_bits < from.mantissa) {
    const int dropped = from.mantissa - to.mantissa_bits;
    const std::int64_t half = std::int64_t{1} << (dropped - 1);
    const N odd = shift_right_logical(magnitude, N::of(dropped)) & N::of(1);
    rounded = (magnitude + (odd + N::of(half - 1))) & N::of(-2 * half);
  }
  if (to.exponent_bits < from.exponent) {
    const int bias = (1 << (to.exponent_bits - 1)) - 1;
    const N too_large = N::of(from.power_of_two(bias + 1));
    const N least = N::of(from.power_of_two(1 - bias));
    rounded = select(rounded >= too_large, N::of(from.infinity()), rounded);
    rounded = select(rounded < least, N::of(0), rounded);
  }
  return select(magnitude > N::of(from.infinity()), bits, sign | rounded);
}

InferredTypes infer_reduce_precision(const InferContext& context) {
  check_elementwise(context, kFloats);
  const auto& [exponent, mantissa] = context.attrs<ReducePrecisionAttributes>();
  if (exponent < 1 || mantissa < 0) {
    context.fail(
        fmt::format("to {} bits of exponent and {} of mantissa; there must be at least 1 and 0\n  "
                    "Give what the format has: (5, 10) for f16, (8, 7) for bf16.",
                    exponent, mantissa));
  }
  return {context.type(0)};
}

std::unique_ptr<ir::Kernel> prepare_reduce_precision(const Node& node) {
  const DType dtype = node.type().dtype;
  const FloatBits from = bits_of(dtype);
  std::unique_ptr<ir::Kernel> kernel;
  for_kinds<kSigned>(bits_dtype(dtype), [&]<class T>() {
    const auto loop = [from, to = node.attrs<ReducePrecisionAttributes>()](
                          const std::byte* const* operands, std::byte* result, std::int64_t n) {
      const T* x = reinterpret_cast<const T*>(operands[0]);
      T* y = reinterpret_cast<T*>(result);
      RONDO_INDEPENDENT_TRIPS
      for (std::int64_t i = 0; i < n; i++) y[i] = reduced_bits(lower::Scalar<T>(x[i]), from, to).v;
    };
    kernel = elementwise_kernel(node, loop);
  });
  return kernel;
}

Element reduce_precision_element(const ElementCall& c) {
  lower::Builder& b = c.builder;
  const lower::Expression<std::int64_t> bits(
      b, b.bitcast(c.x(0), lower::type_of(bits_dtype(c.dtype()))));
  const auto reduced =
      reduced_bits(bits, bits_of(c.dtype()), c.node.attrs<ReducePrecisionAttributes>());
  return {b.bitcast(reduced.value, lower::type_of(c.dtype()))};
}

Tensor reduced_like(const Node& node, const Tensor& x) {
  const auto& [exponent, mantissa] = node.attrs<ReducePrecisionAttributes>();
  return reduce_precision({x, node.location()}, exponent, mantissa);
}
/// Linear as far as derivatives are concerned. As it rounds, it does not say so of all nodes: a
/// rewrite may take sums out of an op that is always linear.
bool is_linear_but_for_rounding(const Node&) { return true; }
std::vector<Tensor> reduce_precision_jvp(const JvpCall& c) {
  return {reduced_like(c.node, c.dx(0))};
}
std::vector<Tensor> reduce_precision_transpose(const TransposeCall& c) {
  return {reduced_like(c.node, c.ct())};
}

void describe_reduce_precision(ir::AttributeCodec& codec, ReducePrecisionAttributes& a) {
  codec.float_format("format", {"exponent_bits"}, a.exponent_bits, {"mantissa_bits"},
                     a.mantissa_bits);
}

}  // namespace

const OpDef kConvert{
    .name = "convert",
    .arity = 1,
    .cost = ir::Cost::kElementwise,
    .types = {.infer = infer_convert, .on_bytes = convert_bytes},
    .structure = {.element = convert_element_rule,
                  .element_dtypes = ir::kAllDTypes,
                  .elementwise = true},
    .kernel = {.prepare = prepare_convert},
    .derivative = {.linear = Linear::kJointly, .jvp = convert_jvp, .transpose = convert_transpose},
    .text = {.hlo = "convert",
             .stablehlo = "stablehlo.convert",
             .attributes = &ir::kAttributeText<ConvertAttributes, describe_convert, false>}};

const OpDef kBitcastConvert{
    .name = "bitcast_convert",
    .arity = 1,
    .cost = ir::Cost::kElementwise,
    .types = {.infer = infer_bitcast, .on_bytes = bitcast_bytes},
    .structure = {.loops = same_bytes},
    .kernel = {.prepare = ir::prepare_forwarding},
    .derivative = {.zero = true},
    .batching = {.rule = ir::batch_alike},
    .text = {.hlo = "bitcast-convert",
             .stablehlo = "stablehlo.bitcast_convert",
             .attributes = &ir::kAttributeText<ConvertAttributes, describe_convert, false>}};

const OpDef kReducePrecision{
    .name = "reduce_precision",
    .arity = 1,
    .cost = ir::Cost::kElementwise,
    .types = {.infer = infer_reduce_precision},
    .structure = {.element = reduce_precision_element,
                  .element_dtypes = ir::kFloatDTypes,
                  .elementwise = true},
    .kernel = {.prepare = prepare_reduce_precision},
    .derivative = {.linear = Linear::kJointly,
                   .is_linear = is_linear_but_for_rounding,
                   .jvp = reduce_precision_jvp,
                   .transpose = reduce_precision_transpose},
    .text = {
        .hlo = "reduce-precision",
        .stablehlo = "stablehlo.reduce_precision",
        .attributes = &ir::kAttributeText<ReducePrecisionAttributes, describe_reduce_precision>}};

std::span<const OpDef* const> conversion_records() {
  static constexpr const OpDef* kAll[] = {&kConvert, &kBitcastConvert, &kReducePrecision};
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

Tensor reduce_precision(const Operand& x, int exponent_bits, int mantissa_bits) {
  return ops::make(ops::kReducePrecision, {ir::checked(x.any(), "reduce_precision", x.at())},
                   ops::ReducePrecisionAttributes{exponent_bits, mantissa_bits}, x.at());
}

}  // namespace rondo
