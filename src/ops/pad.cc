#include "ops/pad.h"

#include <algorithm>

#include "ir/attribute_text.h"
#include "ops/batch_rules.h"
#include "ops/derivative_rules.h"
#include "ops/index_rules.h"
#include "ops/kernels/box_kernel.h"
#include "ops/reduce.h"
#include "ops/support.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace ops {

namespace {

InferredTypes infer_pad(const InferContext& context) {
  const auto& [low, high, interior] = context.attrs<PadAttributes>();
  const TensorType &x = context.type(0), &value = context.type(1);
  if (value != TensorType{x.dtype, {}}) {
    context.fail(
        fmt::format("{} is padded with {}; the value must be a scalar of the same dtype\n  Write a "
                    "C++ scalar, or rondo::convert(value, dtype).",
                    x.str(), value.str()));
  }
  const std::size_t rank = x.shape.size();
  if (low.size() != rank || high.size() != rank || interior.size() != rank) {
    context.fail(
        fmt::format("{} has {} axes; {} low, {} high and {} interior paddings are given\n  Give "
                    "one per axis, 0 where there is none: pad(x, 0, {{1, 0}}, {{1, 0}}).",
                    x.str(), rank, low.size(), high.size(), interior.size()));
  }
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < rank; i++) {
    if (interior[i] < 0)
      context.fail(
          fmt::format("the interior padding of axis {} is {}; it must not be negative\n  A slice "
                      "with strides leaves elements out.",
                      i, interior[i]));
    constexpr std::int64_t most = std::int64_t{1} << 62;  // keeps the sums of the kernel in range
    std::int64_t size = x.shape[i];
    bool overflow =
        low[i] < -most || low[i] > most || high[i] < -most || high[i] > most || interior[i] > most;
    overflow = (size > 0 && __builtin_mul_overflow(size - 1, interior[i], &size)) || overflow;
    overflow = (x.shape[i] > 0 && __builtin_add_overflow(size, x.shape[i], &size)) || overflow;
    overflow = __builtin_add_overflow(size, low[i], &size) || overflow;
    overflow = __builtin_add_overflow(size, high[i], &size) || overflow;
    if (overflow)
      context.fail(
          fmt::format("the padding of axis {} of {} is too large\n  Pad less.", i, x.str()));
    if (size < 0) {
      context.fail(
          fmt::format("axis {} of {} with low {}, high {} and interior {} would have {} elements\n "
                      " Cut less: negative paddings take elements away.",
                      i, x.str(), low[i], high[i], interior[i], size));
    }
    dims.push_back(size);
  }
  return {{x.dtype, dims}};
}

/// Fills the result, and copies a box of the operand into it.
class PadKernel final : public ir::Kernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  PadKernel(const Node& node, Box box, std::int64_t to, std::int64_t from)
      : width_(byte_width(node.type().dtype)),
        elements_(node.type().elements()),
        to_(to * width_),
        from_(from * width_),
        box_(std::move(box)) {}
  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    ir::Poller poller(host);
    fill(results[0], operands[1], width_, elements_, poller);
    box_.copy(results[0] + to_, operands[0] + from_, poller);
  }

 private:
  std::int64_t width_, elements_, to_, from_;
  Box box_;
};

std::unique_ptr<ir::Kernel> prepare_pad(const Node& node) {
  const auto& pad = node.attrs<PadAttributes>();
  const TensorType &x = node.operand_type(0), &type = node.type();
  // Element j of an axis goes to low + j * (interior + 1); those that are in the result form one
  // box.
  Dims sizes, to = dense_strides(type.shape), from = dense_strides(x.shape);
  std::int64_t to_first = 0, from_first = 0;
  bool empty = x.elements() == 0 || type.elements() == 0;
  for (std::size_t i = 0; i < to.size() && !empty; i++) {
    const std::int64_t step = pad.interior[i] + 1;
    const std::int64_t first = pad.low[i] >= 0 ? 0 : (-pad.low[i] - 1) / step + 1;
    const std::int64_t room = type.shape[i] - 1 - pad.low[i];  // the last position in the result
    const std::int64_t last = room < 0 ? -1 : std::min(x.shape[i] - 1, room / step);
    empty = last < first;
    if (empty) break;
    sizes.push_back(last - first + 1);
    to_first += (pad.low[i] + first * step) * to[i];
    from_first += first * from[i];
    if (last > first) to[i] *= step;
  }
  if (empty) return prepare_fill(node, 1);
  return std::make_unique<PadKernel>(node, Box(sizes, to, from, byte_width(type.dtype)), to_first,
                                     from_first);
}

/// The operand's cotangent is the part where it was put, the padding value's is the sum of the
/// rest.
std::vector<Tensor> pad_transpose(const TransposeCall& c) {
  const auto& config = c.node.attrs<PadAttributes>();
  const Shape& shape = c.type(0).shape;
  Tensor of_x, of_value;
  if (c.linear[0]) {
    std::vector<std::int64_t> low, high, strides, starts(shape.size(), 0), limits;
    for (std::size_t i = 0; i < shape.size(); i++) {
      low.push_back(-config.low[i]);
      high.push_back(-config.high[i]);
      strides.push_back(config.interior[i] + 1);
      limits.push_back(c.ct().shape().dims()[i] + low[i] + high[i]);
    }
    of_x = slice(pad(c.ct(), 0, low, high), starts, limits, strides);
  }
  if (c.linear[1]) {
    const Tensor is_value =
        pad(zeros({DType::kPred, shape}), true, config.low, config.high, config.interior);
    of_value = sum_of_cotangents(where(is_value, c.ct(), 0), all_axes(c.ct()), c.at());
  }
  return {of_x, of_value};
}

/// No element is removed, and there is no interior padding. XLA's partitioner gives wrong elements
/// for some of the first kind, and terminates the process for some of the second.
bool only_adds_at_the_ends(const Node& node) {
  const auto& [low, high, interior] = node.attrs<PadAttributes>();
  const auto negative = [](std::int64_t n) { return n < 0; };
  return std::none_of(low.begin(), low.end(), negative) &&
         std::none_of(high.begin(), high.end(), negative) &&
         std::all_of(interior.begin(), interior.end(), [](std::int64_t n) { return n == 0; });
}

/// Interior padding is added after each element along a new axis; then slice removes elements, and
/// pad adds them.
std::vector<Tensor> pad_at_the_ends(const Node& node, std::span<const Tensor> operands) {
  const SourceLocation at = node.location();
  const Shape& shape = node.operand_type(0).shape;
  const Operand value(operands[1], at);
  auto [low, high, interior] = node.attrs<PadAttributes>();
  std::vector<std::int64_t> divided, behind, spread, starts, limits;
  for (std::size_t i = 0; i < low.size(); i++) {
    const std::int64_t size = shape.dims()[i];
    if (size <= 1) interior[i] = 0;  // there is nothing in between
    divided.insert(divided.end(), {size, 1});
    behind.insert(behind.end(), {0, interior[i]});
    spread.push_back(size * (interior[i] + 1));
    high[i] -= interior[i];
    starts.push_back(std::clamp<std::int64_t>(-low[i], 0, spread[i]));
    limits.push_back(std::max(starts[i], spread[i] + std::min<std::int64_t>(high[i], 0)));
    const bool none_left = starts[i] == limits[i];
    low[i] = none_left ? node.type().shape.dims()[i] : std::max<std::int64_t>(low[i], 0);
    high[i] = none_left ? 0 : std::max<std::int64_t>(high[i], 0);
  }
  Tensor x = operands[0];
  if (spread != shape.vector()) {
    const std::vector<std::int64_t> before(behind.size(), 0);
    x = pad(Operand(reshape(Operand(x, at), divided), at), value, before, behind);
    x = reshape(Operand(x, at), spread);
  }
  return {pad(Operand(slice(Operand(x, at), starts, limits), at), value, low, high)};
}

void describe_pad(ir::AttributeCodec& codec, PadAttributes& a) {
  codec.padding({{{"low", "edge_padding_low", "low"},
                  {"high", "edge_padding_high", "high"},
                  {"interior", "interior_padding", "interior"}}},
                {&a.low, &a.high, &a.interior});
}

}  // namespace

const ir::OpDef kPad{.name = "pad",
                     .arity = 2,
                     .cost = ir::Cost::kMovement,
                     .types = {.infer = infer_pad},
                     .structure = {.loops = pad_writes},
                     .kernel = {.prepare = prepare_pad},
                     .expansion = {.rule = pad_at_the_ends},
                     .derivative = {.linear = Linear::kJointly, .transpose = pad_transpose},
                     .batching = {.rule = pad_batch},
                     .text = {.hlo = "pad",
                              .stablehlo = "stablehlo.pad",
                              .attributes = &ir::kAttributeText<PadAttributes, describe_pad>,
                              .can_partition = only_adds_at_the_ends}};

}  // namespace ops

Tensor pad(const Operand& x, const Operand& value, const std::vector<std::int64_t>& low,
           const std::vector<std::int64_t>& high, const std::vector<std::int64_t>& interior) {
  const auto [operand, filler] = ops::same_dtype("pad", x, value);
  ops::PadAttributes attributes{low, high, interior};
  if (interior.empty()) attributes.interior.assign(operand.shape().size(), 0);
  const Tensor padded = ops::make(ops::kPad, {operand, filler}, std::move(attributes), x.at());
  return padded.rank() == 0 ? operand : padded;  // HLO has no form of it for scalars
}

}  // namespace rondo
