// The same number, or the same bytes, in another dtype.
#include <limits>

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

/// Truncates; saturates; NaN gives 0.
template <class To, class From>
To saturating(From x) {
  constexpr From low =
      static_cast<From>(std::numeric_limits<To>::min());  // a power of two or 0: exact
  constexpr From past = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) *
                        2;  // the first one that does not fit
  if (!(x > low)) return x <= low ? std::numeric_limits<To>::min() : To(0);
  return x < past ? static_cast<To>(x) : std::numeric_limits<To>::max();
}

/// A double that rounds as x does to any float of fewer than 50 bits: of an x that is too long, the
/// tail is one sticky bit.
template <class T>
double sticky_double(T x) {
  if constexpr (sizeof(T) == 8) {
    constexpr T exact = T(1) << 53, tail = (T(1) << 11) - 1;
    const bool is_long = x > exact || (std::is_signed_v<T> && x < T(0) - exact);
    if (is_long && (x & tail) != 0) x = static_cast<T>((x & ~tail) | (T(1) << 11));
  }
  return static_cast<double>(x);
}

template <class To, class From>
To convert_element(From x) {
  if constexpr (is_complex(dtype_of<To>)) {
    using Part = typename To::value_type;
    if constexpr (is_complex(dtype_of<From>))
      return To(static_cast<Part>(x.real()), static_cast<Part>(x.imag()));
    else
      return To(convert_element<Part>(x), 0);
  } else if constexpr (is_complex(dtype_of<From>)) {
    return convert_element<To>(
        x.real());  // the public function takes the real part itself; a parsed program may not
  } else if constexpr (std::is_same_v<To, bool>) {
    return static_cast<Computed<From>>(x) != 0;
  } else if constexpr (is_half<From>) {
    return convert_element<To>(static_cast<float>(x));
  } else if constexpr (is_half<To>) {
    if constexpr (std::is_integral_v<From>)
      return To(sticky_double(x));
    else
      return To(x);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return saturating<To>(x);
  } else {
    return static_cast<To>(x);
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
    .text = {.hlo = "convert", .stablehlo = "stablehlo.convert"}};

const OpDef kBitcastConvert{
    .name = "bitcast_convert",
    .arity = 1,
    .cost = ir::Cost::kElementwise,
    .types = {.infer = infer_bitcast},
    .structure = {.loops = same_bytes},
    .kernel = {.prepare = ir::prepare_forwarding},
    .derivative = {.zero = true},
    .batching = {.rule = ir::batch_alike},
    .text = {.hlo = "bitcast-convert", .stablehlo = "stablehlo.bitcast_convert"}};

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
