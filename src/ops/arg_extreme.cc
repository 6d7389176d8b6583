#include "ops/arg_extreme.h"

#include <algorithm>
#include <limits>

#include "absl/container/inlined_vector.h"
#include "ir/attribute_text.h"
#include "ir/region.h"
#include "ops/batch_rules.h"
#include "ops/reduce.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

const char* arg_extreme_name(const ArgExtremeAttributes& attributes) {
  return attributes.greatest ? "argmax" : "argmin";
}

InferredTypes infer_arg_extreme(const InferContext& context) {
  const auto& attributes = context.attrs<ArgExtremeAttributes>();
  const TensorType& x = context.type(0);
  auto refuse = [&](const std::string& message) {
    fail(arg_extreme_name(attributes), message, context.at);
  };
  if (attributes.axis < 0 || attributes.axis >= x.rank())
    refuse(fmt::format("axis {} of {} is out of range", attributes.axis, x.str()));
  if (is_complex(x.dtype))
    refuse(fmt::format("{} has no order\n  Take it of abs(x), real(x) or imag(x).", x.str()));
  const std::int64_t size = x.shape[attributes.axis];
  if (size == 0)
    refuse(
        fmt::format("no elements: axis {} of {} is empty\n  Test its size first, or give an axis "
                    "that has some.",
                    attributes.axis, x.str()));
  if (size > std::numeric_limits<std::int32_t>::max()) {
    refuse(
        fmt::format("axis {} of {} is too long for an s32 index\n  Reshape it into shorter ones.",
                    attributes.axis, x.str()));
  }
  std::vector<std::int64_t> dims = x.shape.vector();
  dims.erase(dims.begin() + attributes.axis);
  return {{DType::kS32, dims}};
}

/// Whether x goes before the best so far.
template <bool greatest, class T>
bool beats(T x, T best) {
  if constexpr (lower::is_half<T>) {
    return beats<greatest>(static_cast<float>(x), static_cast<float>(best));
  } else {
    const bool more = greatest ? x > best : x < best;
    if constexpr (std::is_floating_point_v<T>)
      return more || (x != x && best == best);
    else
      return more;
  }
}

template <class T>
bool is_no_number(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x != x;
  else
    return false;
}

/// The first element that no other one beats.
template <bool greatest, class T>
std::int64_t arg_extreme_of_row(const T* x, std::int64_t count, ir::Poller& poller) {
  // Threshold: Running extremes of a row, one for each lane of a vectorized loop. Not measured.
  constexpr std::int64_t kLanes = 16;
  // Threshold: Elements from which a row takes a vectorized loop, which needs a second pass for the
  // place. Not measured.
  constexpr std::int64_t kLongRow = 4 * kLanes;
  constexpr std::int64_t kBlock = ir::Poller::kBlock;
  static_assert(kBlock % kLanes == 0);
  std::int64_t at = 1;
  T best = x[0];
  std::int64_t where = 0;
  if constexpr (!lower::is_half<T>) {
    // The best of each lane, in a loop that vectorizes; then its index.
    if (count >= kLongRow) {
      T bests[kLanes];
      bool none[kLanes];  // is NaN
      std::fill_n(bests, kLanes, best);
      std::fill_n(none, kLanes, is_no_number(best));
      for (at = 0; at + kLanes <= count;) {
        const std::int64_t end = std::min(count / kLanes * kLanes, at + kBlock);
        poller.did(end - at);
        for (; at < end; at += kLanes) {
          for (std::int64_t j = 0; j < kLanes; j++) {
            const T next = x[at + j];
            bests[j] = (greatest ? next > bests[j] : next < bests[j]) ? next : bests[j];
            none[j] = none[j] || is_no_number(next);
          }
        }
      }
      const bool any_none = std::any_of(none, none + kLanes, [](bool is) { return is; });
      for (const T& of_lane : bests) {
        if (beats<greatest>(of_lane, best)) best = of_lane;
      }
      const auto is_it = [&](const T& value) {
        return any_none ? is_no_number(value) : value == best;
      };
      where = std::find_if(x, x + at, is_it) - x;
      best = x[where];
    }
  }
  while (at < count) {
    const std::int64_t end = std::min(count, at + kBlock);
    poller.did(end - at);
    for (; at < end; at++) {
      if (!beats<greatest>(x[at], best)) continue;
      best = x[at];
      where = at;
    }
  }
  return where;
}

template <bool greatest, class T>
void arg_extremes(const T* x, std::int32_t* out, std::int64_t outer, std::int64_t count,
                  std::int64_t inner, ir::Poller& poller) {
  if (inner == 1) {
    for (std::int64_t o = 0; o < outer; o++, x += count)
      out[o] = static_cast<std::int32_t>(arg_extreme_of_row<greatest>(x, count, poller));
    return;
  }
  absl::InlinedVector<T, 64> best(static_cast<std::size_t>(inner));
  for (std::int64_t o = 0; o < outer; o++, x += count * inner, out += inner) {
    std::copy_n(x, inner, best.data());
    std::fill_n(out, inner, 0);
    for (std::int64_t i = 1; i < count; i++) {
      const T* row = x + i * inner;
      for (std::int64_t j = 0; j < inner; j++) {
        T& champion = best[static_cast<std::size_t>(j)];
        if (!beats<greatest>(row[j], champion)) continue;
        champion = row[j];
        out[j] = static_cast<std::int32_t>(i);
      }
      poller.did(inner);
    }
  }
}

void arg_extreme_kernel(const ir::KernelRun& run) {
  const auto& attributes = run.attrs<ArgExtremeAttributes>();
  const TensorType& x = run.node.operand_type(0);
  std::int64_t outer = 1, inner = 1;
  for (std::int64_t axis = 0; axis < x.rank(); axis++) {
    if (axis < attributes.axis) outer *= x.shape[axis];
    if (axis > attributes.axis) inner *= x.shape[axis];
  }
  const std::int64_t count = x.shape[attributes.axis];
  if (outer * inner == 0) return;
  ir::Poller poller(run.host);
  for_dtype(x.dtype, [&]<class T>() {
    if constexpr (kIsComplex<T>) {
      throw InternalError("argmax of complex numbers");
    } else if (attributes.greatest) {
      arg_extremes<true>(run.operand<T>(0), run.result<std::int32_t>(), outer, count, inner,
                         poller);
    } else {
      arg_extremes<false>(run.operand<T>(0), run.result<std::int32_t>(), outer, count, inner,
                          poller);
    }
  });
}

/// (value, index) of two candidates, in whatever order they come: NaN before all numbers, the lower
/// index of equals.
std::vector<Tensor> better_of(std::span<const Tensor> p, bool greatest, SourceLocation at) {
  const Operand a(p[0], at), a_index(p[1], at), b(p[2], at), b_index(p[3], at);
  auto both = [&](const Tensor& x, const Tensor& y) { return Operand(x, at) & Operand(y, at); };
  auto either = [&](const Tensor& x, const Tensor& y) { return Operand(x, at) | Operand(y, at); };
  Tensor keep = greatest ? a > b : a < b;
  Tensor same = a == b;
  if (is_floating(p[0].dtype())) {
    const Tensor a_nan = is_nan(a), b_nan = is_nan(b);
    keep = either(keep, both(a_nan, !b_nan));
    same = either(same, both(a_nan, b_nan));
  }
  keep = either(keep, both(same, a_index <= b_index));
  return {where({keep, at}, a, b), where({keep, at}, a_index, b_index)};
}

std::vector<Tensor> expand_arg_extreme(const Node& node, std::span<const Tensor> operands) {
  const auto& attributes = node.attrs<ArgExtremeAttributes>();
  const Tensor& x = operands[0];
  const SourceLocation at = node.location();
  const TensorType value{x.dtype(), {}}, index = s32();
  Function region = ir::trace_closed(
      arg_extreme_name(attributes), arg_extreme_name(attributes),
      std::array{value, index, value, index},
      [&](std::span<const Tensor> p) { return better_of(p, attributes.greatest, at); }, at);
  const Literal start =
      combiner_identity(attributes.greatest ? Combiner::kMaximum : Combiner::kMinimum, x.dtype());
  return {ir::make_many(
      kReduce,
      {x, iota({DType::kS32, x.shape()}, attributes.axis, at), ir::make_constant(start, at),
       ir::make_constant(Literal::scalar(std::int32_t{0}), at)},
      ReduceAttributes{{attributes.axis}}, at, {std::move(region)})[1]};
}

/// Neighbours against one another, round by round. The one in front stays unless the other one
/// beats it, so that the first of equals is left, and the first NaN.
Tensor arg_extreme_by_rounds(const Tensor& x, const TensorType& type,
                             const ArgExtremeAttributes& attributes, SourceLocation at) {
  struct Candidate {
    Tensor value, index;
  };
  const auto axis = static_cast<std::size_t>(attributes.axis);
  std::vector<std::int64_t> starts(x.shape().size(), 0), ends = x.shape().vector();
  std::vector<Candidate> left;
  for (std::int64_t i = 0; i < x.shape()[attributes.axis]; i++) {
    starts[axis] = i;
    ends[axis] = i + 1;
    left.push_back({reshape({slice({x, at}, starts, ends), at}, type.shape.vector()),
                    full(type, {static_cast<std::int32_t>(i), at})});
  }
  for (; left.size() > 1; left.resize((left.size() + 1) / 2)) {
    for (std::size_t i = 0; i + 1 < left.size(); i += 2) {
      const Operand a(left[i].value, at), b(left[i + 1].value, at);
      Tensor beats;
      if (is_floating(x.dtype())) {
        const Tensor loses = attributes.greatest ? b <= a : b >= a, is_number = a == a;
        beats = Operand(!Operand(loses, at), at) & Operand(is_number, at);
      } else {
        beats = attributes.greatest ? b > a : b < a;
      }
      left[i / 2] = {where({beats, at}, b, a),
                     where({beats, at}, {left[i + 1].index, at}, {left[i].index, at})};
    }
    if (left.size() % 2 != 0) left[left.size() / 2] = left.back();
  }
  return left[0].index;
}

/// The least index of what equals the extreme, or of what is NaN: where that is anywhere, the
/// extreme is NaN and equals nothing.
Tensor arg_extreme_by_reductions(const Tensor& tensor, const ArgExtremeAttributes& attributes,
                                 SourceLocation at) {
  const Operand x(tensor, at);
  const std::int64_t axis = attributes.axis;
  const Tensor extreme = attributes.greatest ? max(x, {axis}, true) : min(x, {axis}, true);
  Tensor is_it = x == Operand(extreme, at);
  if (is_floating(tensor.dtype())) is_it = Operand(is_it, at) | Operand(is_nan(x), at);
  const auto size = static_cast<std::int32_t>(tensor.shape()[axis]);
  const Tensor index = iota({DType::kS32, tensor.shape()}, axis, at);
  return min({where({is_it, at}, {index, at}, {size, at}), at}, {axis});
}

bool divides_always(const Node&, const ir::LoopCode&) { return true; }

std::vector<Tensor> divided_arg_extreme(const Node& node, std::span<const Tensor> operands) {
  // Threshold: Elements of one row, or of each of many rows, that are compared in rounds; more are
  // reduced twice. Not measured.
  constexpr std::int64_t kFew = 15, kFewOfRows = 16;
  const auto& attributes = node.attrs<ArgExtremeAttributes>();
  const SourceLocation at = node.location();
  const std::int64_t few = node.type().elements() == 1 ? kFew : kFewOfRows;
  if (operands[0].shape()[attributes.axis] <= few)
    return {arg_extreme_by_rounds(operands[0], node.type(), attributes, at)};
  return {arg_extreme_by_reductions(operands[0], attributes, at)};
}

Tensor arg_extreme(const Operand& operand, std::int64_t axis, bool greatest) {
  const SourceLocation at = operand.at();
  const char* op = greatest ? "argmax" : "argmin";
  Tensor x = ir::checked(operand.any(), op, at);
  const std::int64_t normal = normal_axis(op, axis, x.rank(), at);
  if (is_pred(x.dtype())) x = convert({x, at}, DType::kU8);
  return make(kArgExtreme, {x}, ArgExtremeAttributes{normal, greatest}, at);
}

}  // namespace

const ir::OpDef kArgExtreme{.name = "arg_extreme",
                            .arity = 1,
                            .cost = ir::Cost::kReduction,
                            .types = {.infer = infer_arg_extreme},
                            .kernel = {.prepare = ir::prepare_function<arg_extreme_kernel>},
                            .expansion = {.rule = expand_arg_extreme,
                                          .in_lanes = divided_arg_extreme,
                                          .is_preferred = divides_always},
                            .derivative = {.zero = true},
                            .batching = {.rule = arg_extreme_batch},
                            .text = {.attributes = &ir::kFieldText<ArgExtremeAttributes>}};

}  // namespace rondo::ops

namespace rondo {

Tensor argmax(const Operand& x, std::int64_t axis) { return ops::arg_extreme(x, axis, true); }
Tensor argmin(const Operand& x, std::int64_t axis) { return ops::arg_extreme(x, axis, false); }

}  // namespace rondo
