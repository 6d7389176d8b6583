// cumsum, cumprod, cummax, cummin. The kernel goes along the axis once. HLO has no such op, so that
// there it becomes an associative scan: of logarithmic depth and linear work, with rounding errors
// that grow with the logarithm of the length.
#include "ops/cumulative.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "absl/container/inlined_vector.h"
#include "ir/attribute_text.h"
#include "ir/loop_nest.h"
#include "lower/opcodes.h"
#include "ops/batch_rules.h"
#include "ops/derivative_rules.h"
#include "ops/kernels/share_rows.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

/// What running totals of Ts are accumulated in.
template <class T, class Combine>
auto cumulative_type() {
  constexpr bool sum = std::is_same_v<Combine, AddElements>;
  if constexpr (lower::is_half<T> && (sum || std::is_same_v<Combine, MultiplyElements>))
    return float{};
  else if constexpr (sum && std::is_same_v<T, float>)
    return double{};
  else if constexpr (sum && std::is_same_v<T, std::complex<float>>)
    return std::complex<double>{};
  else
    return T{};
}

InferredTypes infer_cumulative(const InferContext& context) {
  const auto& attributes = context.attrs<CumulativeAttributes>();
  const TensorType& x = context.type(0);
  if (attributes.axis < 0 || attributes.axis >= x.rank())
    context.fail(
        fmt::format("axis {} of {} is out of range\n  Axes count from 0 to the rank less 1.",
                    attributes.axis, x.str()));
  switch (attributes.combiner) {
    case Combiner::kAdd:
    case Combiner::kMultiply:
      break;
    case Combiner::kMaximum:
    case Combiner::kMinimum:
      if (!is_complex(x.dtype)) break;
      context.fail(
          fmt::format("{} has no order\n  Take it of abs(x), real(x) or imag(x).", x.str()));
    default:
      context.fail(
          "it adds, multiplies, or takes the maximum or minimum\n  Use rondo::associative_scan for "
          "another combiner.");
  }
  return {x};
}

/// Threshold: Elements combined before they join the total, so that it waits for one addition in
/// place of four. Set by cumsum in bench/anchors.
constexpr std::int64_t kTogether = 4;
/// Sums in f64 of what was f32: the roundings that another order moves are lost in that of the
/// result, and no sum of a few elements overflows.
template <class T, class Acc>
inline constexpr bool kJoinsParts = !lower::is_half<T> && !std::is_same_v<T, Acc>;

/// Some elements in a row, `step` apart, are combined with one another before they join the total:
/// a total then waits for one combination in place of four.
template <class T, class Acc, class Combine>
Acc accumulate_together(const T* x, T* out, std::int64_t step, Acc total, Combine combine) {
  std::array<Acc, kTogether> parts;
  for (std::int64_t k = 0; k < kTogether; k++) {
    const auto at = static_cast<std::size_t>(k);
    const auto element = static_cast<Acc>(x[k * step]);
    parts[at] = k == 0 ? element : combine(parts[at - 1], element);
  }
  for (std::int64_t k = 0; k < kTogether; k++)
    out[k * step] = static_cast<T>(combine(total, parts[static_cast<std::size_t>(k)]));
  return combine(total, parts.back());
}

/// `count` slices of `inner` elements each, every one combined with the one before.
template <class T, class Combine>
void accumulate_slices(const std::byte* operand, std::byte* result, std::int64_t count,
                       std::int64_t inner, bool reverse, ir::Poller& poller) {
  using Acc = decltype(cumulative_type<T, Combine>());
  const T* const x = reinterpret_cast<const T*>(operand);
  T* const out = reinterpret_cast<T*>(result);
  const Combine combine;
  const std::int64_t first = reverse ? count - 1 : 0, step = reverse ? -1 : 1;
  if (inner == 1) {
    Acc total = static_cast<Acc>(x[first]);
    out[first] = x[first];
    for (std::int64_t k = 1, i = first + step; k < count;) {
      const std::int64_t end = std::min(count, k + ir::Poller::kBlock);
      poller.did(end - k);
      if constexpr (kJoinsParts<T, Acc>) {
        for (; k + kTogether <= end; k += kTogether, i += kTogether * step)
          total = accumulate_together(x + i, out + i, step, total, combine);
      }
      for (; k < end; k++, i += step) {
        total = combine(total, static_cast<Acc>(x[i]));
        out[i] = static_cast<T>(total);
      }
    }
    return;
  }
  absl::InlinedVector<Acc, 64> totals(static_cast<std::size_t>(inner));
  for (std::int64_t j = 0; j < inner; j++) {
    totals[static_cast<std::size_t>(j)] = static_cast<Acc>(x[first * inner + j]);
    out[first * inner + j] = x[first * inner + j];
  }
  Acc* total = totals.data();
  for (std::int64_t k = 1, i = first + step; k < count; k++, i += step) {
    const T* from = x + i * inner;
    T* to = out + i * inner;
    for (std::int64_t j = 0; j < inner; j++) {
      total[j] = combine(total[j], static_cast<Acc>(from[j]));
      to[j] = static_cast<T>(total[j]);
    }
    poller.did(inner);
  }
}

/// Each element is read before it is written, so that the result may take the operand's place.
void cumulative_kernel(const ir::KernelRun& run) {
  const auto& attributes = run.attrs<CumulativeAttributes>();
  const TensorType& type = run.node.type();
  if (type.elements() == 0) return;
  std::int64_t outer = 1, inner = 1;
  for (std::int64_t axis = 0; axis < type.rank(); axis++) {
    if (axis < attributes.axis) outer *= type.shape[axis];
    if (axis > attributes.axis) inner *= type.shape[axis];
  }
  const std::int64_t count = type.shape[attributes.axis];
  void (*accumulate)(const std::byte*, std::byte*, std::int64_t, std::int64_t, bool, ir::Poller&) =
      nullptr;
  with_combiner(attributes.combiner, type.dtype,
                [&]<class T, class Combine>() { accumulate = accumulate_slices<T, Combine>; });
  share_rows(outer, count * inner, run.host,
             [&](std::int64_t first, std::int64_t end, ir::Host& host) {
               ir::Poller poller(host);
               const std::int64_t bytes = count * inner * byte_width(type.dtype);
               for (std::int64_t o = first; o < end; o++) {
                 accumulate(run.operands[0] + o * bytes, run.results[0] + o * bytes, count, inner,
                            attributes.reverse, poller);
                 poller.did(1);
               }
             });
}

std::vector<Tensor> expand_cumulative(const Node& node, std::span<const Tensor> operands) {
  const auto& attributes = node.attrs<CumulativeAttributes>();
  const SourceLocation at = node.location();
  const DType dtype = node.type().dtype;
  const bool accumulates =
      attributes.combiner == Combiner::kAdd || attributes.combiner == Combiner::kMultiply;
  const bool narrow = accumulates && is_floating(dtype) && byte_width(dtype) <= 2;
  const Tensor x = narrow ? convert({operands[0], at}, DType::kF32) : operands[0];
  const Tensor totals = associative_scan(
      [&](const Tensor& a, const Tensor& b) { return combined(attributes.combiner, a, b, at); }, x,
      {.reverse = attributes.reverse, .axis = attributes.axis}, at);
  return {narrow ? convert({totals, at}, dtype) : totals};
}

/// Whether the elements along the axis are contiguous.
bool is_along_rows(const Node& node) {
  const Shape& shape = node.type().shape;
  return std::all_of(shape.begin() + node.attrs<CumulativeAttributes>().axis + 1, shape.end(),
                     [](std::int64_t size) { return size == 1; });
}

/// Few elements: a call of the kernel takes longer than its work.
bool has_few_elements(const Node& node, const ir::LoopCode&) {
  // Threshold: Elements of a single row, and of each of many rows, whose totals are unrolled: code
  // size against a kernel call. Not measured.
  constexpr std::int64_t kFew = 16, kFewOfRows = 8;
  const std::int64_t count = node.type().shape[node.attrs<CumulativeAttributes>().axis];
  return count == 1 || (count > 1 && is_along_rows(node) &&
                        count <= (node.type().elements() == count ? kFew : kFewOfRows));
}

DType accumulated_dtype(const Node& node) {
  DType accumulated = node.type().dtype;
  with_combiner(node.attrs<CumulativeAttributes>().combiner, node.type().dtype,
                [&]<class T, class Combine>() {
                  using Acc = decltype(cumulative_type<T, Combine>());
                  if (!std::is_same_v<T, Acc>) accumulated = dtype_of<Acc>;
                });
  return accumulated;
}

/// One element after the other, in the order of the kernel.
std::vector<Tensor> divided_cumulative(const Node& node, std::span<const Tensor> operands) {
  const auto& attributes = node.attrs<CumulativeAttributes>();
  const SourceLocation at = node.location();
  const DType dtype = node.type().dtype;
  const DType accumulated = accumulated_dtype(node);
  bool joins_parts = false;
  with_combiner(attributes.combiner, dtype, [&]<class T, class Combine>() {
    using Acc = decltype(cumulative_type<T, Combine>());
    joins_parts = kJoinsParts<T, Acc>;
  });
  const auto axis = static_cast<std::size_t>(attributes.axis);
  const std::int64_t count = node.type().shape[attributes.axis];
  std::vector<std::int64_t> starts(node.type().shape.size(), 0), ends = node.type().shape.vector();
  const auto element = [&](std::int64_t k) {
    starts[axis] = attributes.reverse ? count - 1 - k : k;
    ends[axis] = starts[axis] + 1;
    return slice({operands[0], at}, starts, ends);
  };
  const auto widened = [&](std::int64_t k) { return convert({element(k), at}, accumulated); };
  const auto combine = [&](const Tensor& a, const Tensor& b) {
    return combined(attributes.combiner, a, b, at);
  };
  std::vector<Tensor> totals{element(0)};
  Tensor total = widened(0);
  while (std::ssize(totals) < count) {
    const std::int64_t k = std::ssize(totals);
    const std::int64_t together = joins_parts && k + kTogether <= count ? kTogether : 1;
    Tensor part = widened(k);
    for (std::int64_t i = 0;;) {
      totals.push_back(convert({combine(total, part), at}, dtype));
      if (++i == together) break;
      part = combine(part, widened(k + i));
    }
    total = combine(total, part);
  }
  if (attributes.reverse) std::reverse(totals.begin(), totals.end());
  return {concatenate(totals, attributes.axis, at)};
}

/// One slice after the other. Of many in f32 the kernel adds a few before they join the total.
std::vector<Tensor> cumulative_in_loops(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope at(node.location());
  const auto& attributes = node.attrs<CumulativeAttributes>();
  const std::int64_t axis = attributes.axis;
  const Tensor& x = operands[0];
  if (x.type().elements() == 0) return {x};
  const std::int64_t count = x.dim(axis);
  std::vector<std::int64_t> sizes = x.shape().vector();
  sizes[static_cast<std::size_t>(axis)] = 1;
  const auto slice_at = [&](const Tensor& all, const Tensor& i) {
    std::vector<Tensor> starts(sizes.size(), Tensor(0));
    starts[static_cast<std::size_t>(axis)] = attributes.reverse ? count - 1 - i : i;
    return std::pair(dynamic_slice(all, starts, sizes), starts);
  };
  const DType dtype = x.dtype(), wide = accumulated_dtype(node);
  const auto combine = [&](const Tensor& i, const Tensor& total, const Tensor& all) {
    const auto [element, starts] = slice_at(all, i);
    const Tensor next =
        combined(attributes.combiner, total, convert(element, wide), node.location());
    return std::tuple(next, dynamic_update_slice(all, convert(next, dtype), starts));
  };
  const Tensor first = convert(slice_at(x, Tensor(0)).first, wide);
  return {std::get<1>(fori_loop(1, count, combine, std::tuple(first, x), {.name = "cumulative"}))};
}

/// As the kernel goes: along rows that is by parts, where sums are in a wider type. Of long rows
/// the kernel takes less time, since each total waits for the one before.
ir::LoopNest cumulative_loops(const Node& node) {
  const auto& [combiner, axis, reverse] = node.attrs<CumulativeAttributes>();
  const TensorType& type = node.type();
  // Threshold: Rows from which the kernel is faster than a loop, in which each total waits for the
  // one before. Not measured.
  constexpr std::int64_t kLongRow = 24;
  const bool in_rows = is_along_rows(node);
  if (is_complex(type.dtype) || type.elements() == 0 || type.shape[axis] < 2 ||
      (in_rows && type.shape[axis] >= kLongRow))
    return {};
  using lower::Opcode;
  const bool half = is_floating(type.dtype) && byte_width(type.dtype) <= 2;
  const lower::Type own = half ? lower::Type::kF32 : lower::type_of(type.dtype);
  switch (combiner) {
    case Combiner::kAdd: {
      const bool is_f32 = type.dtype == DType::kF32;
      if (is_f32 && in_rows) return {};
      return ir::PrefixScan{Opcode::kAdd, axis, reverse, is_f32 ? lower::Type::kF64 : own};
    }
    case Combiner::kMultiply:
      return ir::PrefixScan{Opcode::kMultiply, axis, reverse, own};
    case Combiner::kMaximum:
      return ir::PrefixScan{is_pred(type.dtype) ? Opcode::kOr : Opcode::kMax, axis, reverse, own};
    case Combiner::kMinimum:
      return ir::PrefixScan{is_pred(type.dtype) ? Opcode::kAnd : Opcode::kMin, axis, reverse, own};
    default:
      return {};
  }
}

bool is_running_sum(const Node& node) {
  return node.attrs<CumulativeAttributes>().combiner == Combiner::kAdd;
}

/// An element is a term of its own sum and of those after it.
std::vector<Tensor> running_sum_transpose(const TransposeCall& c) {
  CumulativeAttributes attributes = c.node.attrs<CumulativeAttributes>();
  attributes.reverse = !attributes.reverse;
  return {make(kCumulative, {c.ct()}, attributes, c.at())};
}

/// As JAX: equal elements share where the scan compares them, and zeros are no special case.
std::vector<Tensor> cumulative_jvp(const JvpCall& c) {
  return c.derivatives.jvp_expanded(c, expand_cumulative).tangents;
}

Tensor cumulative(const char* op, Combiner combiner, const Operand& operand, std::int64_t axis,
                  bool reverse) {
  const SourceLocation at = operand.at();
  Tensor x = ir::checked(operand.any(), op, at);
  const std::int64_t normal = normal_axis(op, axis, x.rank(), at);
  const bool accumulates = combiner == Combiner::kAdd || combiner == Combiner::kMultiply;
  if (accumulates && is_pred(x.dtype())) x = convert({x, at}, DType::kS32);
  if (!accumulates && is_complex(x.dtype())) {
    fail(op,
         fmt::format("{} has no order\n  Take it of abs(x), real(x) or imag(x).", x.type().str()),
         at);
  }
  return make(kCumulative, {x}, CumulativeAttributes{combiner, normal, reverse}, at);
}

}  // namespace

const ir::OpDef kCumulative{.name = "cumulative",
                            .arity = 1,
                            .cost = ir::Cost::kReduction,
                            .types = {.infer = infer_cumulative},
                            .structure = {.loops = cumulative_loops},
                            .kernel = {.prepare = ir::prepare_function<cumulative_kernel, 1>},
                            .expansion = {.rule = expand_cumulative,
                                          .in_lanes = divided_cumulative,
                                          .in_loops = cumulative_in_loops,
                                          .is_preferred = has_few_elements},
                            .derivative = {.linear = Linear::kJointly,
                                           .is_linear = is_running_sum,
                                           .jvp = cumulative_jvp,
                                           .transpose = running_sum_transpose},
                            .batching = {.rule = cumulative_batch},
                            .text = {.attributes = &ir::kFieldText<CumulativeAttributes>}};

}  // namespace rondo::ops

namespace rondo {

Tensor cumsum(const Operand& x, std::int64_t axis, bool reverse) {
  return ops::cumulative("cumsum", ops::Combiner::kAdd, x, axis, reverse);
}
Tensor cumprod(const Operand& x, std::int64_t axis, bool reverse) {
  return ops::cumulative("cumprod", ops::Combiner::kMultiply, x, axis, reverse);
}
Tensor cummax(const Operand& x, std::int64_t axis, bool reverse) {
  return ops::cumulative("cummax", ops::Combiner::kMaximum, x, axis, reverse);
}
Tensor cummin(const Operand& x, std::int64_t axis, bool reverse) {
  return ops::cumulative("cummin", ops::Combiner::kMinimum, x, axis, reverse);
}

}  // namespace rondo
