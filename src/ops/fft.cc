#include "ops/fft.h"

#include <algorithm>
#include <numeric>

#include "ir/attribute_text.h"
#include "ops/batch_rules.h"
#include "ops/derivative_rules.h"
#include "ops/permute.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"
#include "rondo/ops/spectra.h"

namespace rondo::ops {

namespace {

constexpr std::size_t kMostAxes = 3;  // of one op, in HLO

constexpr std::string_view kFftNames[] = {"FFT", "IFFT", "RFFT", "IRFFT"};  // as in Fft

bool is_wide(DType dtype) { return dtype == DType::kF64 || dtype == DType::kC128; }
DType complex_of(DType dtype) { return is_wide(dtype) ? DType::kC128 : DType::kC64; }
DType real_of(DType dtype) { return is_wide(dtype) ? DType::kF64 : DType::kF32; }

InferredTypes infer_fft(const InferContext& context) {
  const auto& [kind, length] = context.attrs<FftAttributes>();
  const TensorType& x = context.type(0);
  const bool real = kind == Fft::kReal;
  if (real ? x.dtype != DType::kF32 && x.dtype != DType::kF64 : !is_complex(x.dtype)) {
    context.fail(fmt::format("{} of {}: it takes {}\n  Convert it: rondo::convert(x, DType::k{}).",
                             fft_name(kind), x.str(), real ? "f32 or f64" : "complex numbers",
                             real ? "F32" : "C64"));
  }
  const auto axes = static_cast<std::int64_t>(length.size());
  if (length.empty() || length.size() > kMostAxes || axes > x.rank())
    context.fail(fmt::format("{} axes of {}; it transforms one to three\n  Name axes that x has.",
                             axes, x.str()));
  std::vector<std::int64_t> dims = x.shape.vector();
  for (std::size_t i = 0; i < length.size(); i++) {
    std::int64_t& size = dims[dims.size() - length.size() + i];
    const bool halved = i + 1 == length.size() && kind == Fft::kInverseReal;
    if (length[i] < 1 || size != (halved ? length[i] / 2 + 1 : length[i])) {
      context.fail(
          fmt::format("{} of length {} along an axis of {} elements\n  The axis must have "
                      "{} elements, at least one.",
                      fft_name(kind), length[i], size, halved ? "length / 2 + 1" : "`length`"));
    }
    size = length[i];
  }
  if (real) dims.back() = dims.back() / 2 + 1;
  const DType complex = complex_of(x.dtype);
  return {{kind == Fft::kInverseReal ? real_of(x.dtype) : real ? complex : x.dtype, dims}};
}

void describe_fft(ir::AttributeCodec& codec, FftAttributes& a) {
  codec.choice({"kind", "fft_type", "type"}, {"fft_type", kFftNames}, a.kind);
  codec.integers({"length", "fft_length", "length"}, a.length);
}

Tensor transformed(Fft kind, const Tensor& x, std::vector<std::int64_t> length, SourceLocation at) {
  return make(kFft, {x}, FftAttributes{kind, std::move(length)}, at);
}

/// The matrix of a whole transform is symmetric. A half transform is a whole one whose second half
/// is cut off; of an inverse half transform all elements but the first, and the last of an even
/// length, count twice, for themselves and their conjugates.
std::vector<Tensor> fft_transpose(const TransposeCall& c) {
  const auto& [kind, length] = c.node.attrs<FftAttributes>();
  const SourceLocation at = c.at();
  const std::int64_t n = length.back();
  if (c.ct().type().elements() == 0) return {zeros(c.type(0), at)};
  switch (kind) {
    case Fft::kForward:
    case Fft::kInverse:
      return {transformed(kind, c.ct(), length, at)};
    case Fft::kReal: {
      std::vector<std::int64_t> low(c.ct().shape().size(), 0), high = low;
      high.back() = n - c.ct().shape().vector().back();
      return {real({transformed(Fft::kForward, pad({c.ct(), at}, 0, low, high), length, at), at})};
    }
    case Fft::kInverseReal:
      break;
  }
  const Tensor half = transformed(Fft::kReal, c.ct(), length, at);
  const double elements =
      std::accumulate(length.begin(), length.end(), 1.0,
                      [](double a, std::int64_t b) { return a * static_cast<double>(b); });
  const std::int64_t count = n / 2 + 1;
  const Tensor k = iota({DType::kS64, half.shape()}, half.rank() - 1, at);
  const Tensor alone = Operand(Operand(k, at) == Operand(0, at), at) |
                       Operand(Operand(k, at) == Operand(n % 2 == 0 ? count - 1 : n, at), at);
  const Tensor scale = where({alone, at}, {full({real_of(half.dtype()), {}}, 1 / elements), at},
                             {full({real_of(half.dtype()), {}}, 2 / elements), at});
  return {Operand(conj({half, at}), at) * Operand(convert({scale, at}, half.dtype()), at)};
}

BatchValues fft_batch(const BatchCall& c) { return ir::batch_alike(c); }

/// x with complex elements, for transforms that take them.
Tensor complex_operand(const char* op, const Operand& x) {
  Tensor tensor = ir::checked(x.any(), op, x.at());
  const DType dtype = tensor.dtype();
  if (is_complex(dtype)) return tensor;
  if (dtype == DType::kF32 || dtype == DType::kF64)
    return convert({tensor, x.at()}, complex_of(dtype));
  fail(op,
       fmt::format("{} is neither complex nor f32 or f64\n  Convert it: rondo::convert(x, "
                   "DType::kF32).",
                   tensor.type().str()),
       x.at());
}

void check_not_empty(const char* op, const Tensor& x, std::span<const std::int64_t> axes,
                     SourceLocation at) {
  for (const std::int64_t axis : axes) {
    if (x.shape()[axis] == 0)
      fail(op,
           fmt::format("axis {} of {} has no elements\n  A transform has one at least.", axis,
                       x.type().str()),
           at);
  }
}

/// The transform along axes, in groups that one op can transform.
Tensor along_axes(const char* op, Fft kind, const Operand& operand,
                  const std::vector<std::int64_t>& named) {
  const SourceLocation at = operand.at();
  Tensor x = complex_operand(op, operand);
  const std::vector<std::int64_t> axes = normal_axes(op, named, x.rank(), at);
  check_not_empty(op, x, axes, at);
  for (std::size_t first = 0; first < axes.size(); first += kMostAxes) {
    const std::span group =
        std::span(axes).subspan(first, std::min(kMostAxes, axes.size() - first));
    std::vector<std::int64_t> order, length;
    for (std::int64_t axis = 0; axis < x.rank(); axis++) {
      if (std::find(group.begin(), group.end(), axis) == group.end()) order.push_back(axis);
    }
    for (const std::int64_t axis : group) {
      order.push_back(axis);
      length.push_back(x.shape()[axis]);
    }
    std::vector<std::int64_t> back(order.size());
    for (std::size_t i = 0; i < order.size(); i++)
      back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    x = transposed(transformed(kind, transposed(x, std::move(order), at), std::move(length), at),
                   std::move(back), at);
  }
  return x;
}

Tensor along_two(const char* op, Fft kind, const Operand& x) {
  const Tensor tensor = ir::checked(x.any(), op, x.at());
  if (tensor.rank() < 2)
    fail(op,
         fmt::format("{} has {} axes; it transforms the last two\n  Use fft for one axis.",
                     tensor.type().str(), tensor.rank()),
         x.at());
  return along_axes(op, kind, {tensor, x.at()}, {-2, -1});
}

Tensor with_last_axis(const char* op, const Tensor& x, SourceLocation at) {
  if (x.rank() > 0 && x.shape().vector().back() > 0) return x;
  fail(op,
       fmt::format("{} has no last axis with elements\n  A transform has one element at least.",
                   x.type().str()),
       at);
}

}  // namespace

const ir::OpDef kFft{.name = "fft",
                     .arity = 1,
                     .types = {.infer = infer_fft},
                     .kernel = {.prepare = prepare_fft},
                     .expansion = {.in_loops = fft_in_loops},
                     .derivative = {.linear = Linear::kJointly, .transpose = fft_transpose},
                     .batching = {.rule = fft_batch},
                     .text = {.hlo = "fft",
                              .stablehlo = "stablehlo.fft",
                              .attributes = &ir::kAttributeText<FftAttributes, describe_fft>}};

std::string_view fft_name(Fft kind) { return kFftNames[static_cast<std::size_t>(kind)]; }

}  // namespace rondo::ops

namespace rondo {

Tensor fft(const Operand& x, const std::vector<std::int64_t>& axes) {
  return ops::along_axes("fft", ops::Fft::kForward, x, axes);
}
Tensor ifft(const Operand& x, const std::vector<std::int64_t>& axes) {
  return ops::along_axes("ifft", ops::Fft::kInverse, x, axes);
}
Tensor fft2(const Operand& x) { return ops::along_two("fft2", ops::Fft::kForward, x); }
Tensor ifft2(const Operand& x) { return ops::along_two("ifft2", ops::Fft::kInverse, x); }
Tensor fftn(const Operand& x, const std::vector<std::int64_t>& axes) {
  return ops::along_axes("fftn", ops::Fft::kForward, x, axes);
}
Tensor ifftn(const Operand& x, const std::vector<std::int64_t>& axes) {
  return ops::along_axes("ifftn", ops::Fft::kInverse, x, axes);
}

Tensor rfft(const Operand& x) {
  const Tensor tensor = ops::with_last_axis("rfft", ir::checked(x.any(), "rfft", x.at()), x.at());
  if (is_complex(tensor.dtype()))
    ops::fail("rfft",
              fmt::format("{} is complex\n  Use fft, or take real(x).", tensor.type().str()),
              x.at());
  return ops::transformed(ops::Fft::kReal, tensor, {tensor.shape().vector().back()}, x.at());
}

Tensor irfft(const Operand& x, std::optional<std::int64_t> n) {
  const SourceLocation at = x.at();
  Tensor tensor = ops::with_last_axis("irfft", ops::complex_operand("irfft", x), at);
  const std::int64_t given = tensor.shape().vector().back();
  const std::int64_t length = n.value_or(2 * (given - 1));
  if (length < 1)
    ops::fail("irfft",
              fmt::format("the length is {}\n  Give n, one at least: irfft(x, 1).", length), at);
  const std::int64_t count = length / 2 + 1;
  if (count != given) {
    std::vector<std::int64_t> low(tensor.shape().size(), 0), high = low;
    high.back() = count - given;
    tensor = pad({tensor, at}, 0, low, high);
  }
  return ops::transformed(ops::Fft::kInverseReal, tensor, {length}, at);
}

}  // namespace rondo
