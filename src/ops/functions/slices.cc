#include "rondo/ops/slices.h"

#include <algorithm>
#include <limits>

#include "ops/broadcast.h"
#include "ops/functions/helpers.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace {

/// The indices on one axis of the array: `count` positions from `start` on, `step` apart.
struct AxisPart {
  std::int64_t start = 0, count = 1, step = 1;  // step > 0
  bool backwards = false;                       // the last position comes first (negative step)
  Tensor place = {};                            // instead of `start`, for an index that is a tensor

  /// The size from the first position to the last, including skipped ones.
  std::int64_t span() const { return count == 0 ? 0 : (count - 1) * step + 1; }
};

struct NamedPart {
  std::vector<AxisPart> axes;      // of the array
  std::vector<std::int64_t> dims;  // of the result: without dropped axes, with new ones
};

/// As Python's slice.indices.
AxisPart places_of(const ops::Helper& helper, const Range& range, std::int64_t size) {
  if (range.step == 0)
    helper.fail("the step of a range is 0\n  Give 1 or more, or -1 or less to go backwards.");
  const bool backwards = range.step < 0;
  const std::int64_t lowest = backwards ? -1 : 0, highest = backwards ? size - 1 : size;
  const auto bound = [&](const std::optional<std::int64_t>& given, std::int64_t otherwise) {
    if (!given) return otherwise;
    return std::clamp(*given < 0 ? *given + size : *given, lowest, highest);
  };
  const std::int64_t start = bound(range.start, backwards ? highest : lowest);
  const std::int64_t stop = bound(range.stop, backwards ? lowest : highest);
  const std::int64_t distance = backwards ? start - stop : stop - start;
  // Steps beyond the size have the same effect as the size, which can be negated.
  const std::int64_t furthest = std::max<std::int64_t>(size, 1);
  const std::int64_t step = std::abs(std::clamp(range.step, -furthest, furthest));
  AxisPart part;
  part.count = distance <= 0 ? 0 : (distance - 1) / step + 1;
  if (part.count == 0) return part;
  part.start = backwards ? start - (part.count - 1) * step : start;
  part.step = part.count == 1 ? 1 : step;
  part.backwards = backwards && part.count > 1;
  return part;
}

AxisPart place_of(const ops::Helper& helper, const Tensor& x, std::int64_t axis,
                  const SliceIndex& index) {
  const std::int64_t size = x.dim(axis);
  AxisPart part;
  if (index.kind() == SliceIndex::Kind::kNumber) {
    const std::int64_t number = index.number();
    if (number < -size || number >= size) {
      helper.fail(
          size == 0
              ? fmt::format("index {} of axis {} of {}, which has no elements\n  Take a range of "
                            "it, or give an array that has some.",
                            number, axis, x.type().str())
              : fmt::format("index {} of axis {} of {}, whose indices are {} to {}\n  Negative "
                            "ones count from the end. An index that is a tensor is clamped.",
                            number, axis, x.type().str(), -size, size - 1));
    }
    part.start = number < 0 ? number + size : number;
    return part;
  }
  const Tensor& place = index.tensor();
  if (place.empty() || !is_integer(place.dtype()) || place.rank() != 0) {
    helper.fail(fmt::format(
        "the index of axis {} is {}; it must be an integer scalar\n  For an array of indices use "
        "rondo::take(x, indices, axis), for a mask rondo::where(mask, a, b).",
        axis, place.empty() ? std::string("an empty tensor") : place.type().str()));
  }
  if (size == 0) {
    helper.fail(fmt::format("axis {} of {} has no elements\n  Give an array that has some.", axis,
                            x.type().str()));
  }
  part.place = place;
  return part;
}

NamedPart named_part(const ops::Helper& helper, const Tensor& x,
                     std::span<const SliceIndex> indices) {
  using Kind = SliceIndex::Kind;
  const auto count = [&](auto... kinds) {
    return std::count_if(indices.begin(), indices.end(),
                         [&](const SliceIndex& index) { return ((index.kind() == kinds) || ...); });
  };
  if (count(Kind::kWholeAxes) > 1) {
    helper.fail(
        "there are two ellipses\n  Give one: how many axes each represents would not be known.");
  }
  const std::int64_t named = count(Kind::kNumber, Kind::kTensor, Kind::kRange);
  if (named > x.rank()) {
    helper.fail(fmt::format("{} indices for {}, which has {} {}\n  Give at most one for each axis.",
                            named, x.type().str(), x.rank(), x.rank() == 1 ? "axis" : "axes"));
  }
  NamedPart part;
  const auto next_axis = [&] { return static_cast<std::int64_t>(part.axes.size()); };
  const auto keep = [&](const AxisPart& axis) {
    part.axes.push_back(axis);
    part.dims.push_back(axis.count);
  };
  const auto keep_whole = [&](std::int64_t axes) {
    for (std::int64_t i = 0; i < axes; i++) keep({.count = x.dim(next_axis())});
  };
  for (const SliceIndex& index : indices) {
    if (index.kind() == Kind::kAddedAxis)
      part.dims.push_back(1);
    else if (index.kind() == Kind::kWholeAxes)
      keep_whole(x.rank() - named);
    else if (index.kind() == Kind::kRange)
      keep(places_of(helper, index.range(), x.dim(next_axis())));
    else
      part.axes.push_back(place_of(helper, x, next_axis(), index));
  }
  keep_whole(x.rank() - next_axis());
  return part;
}

std::vector<std::int64_t> spans_of(const NamedPart& part) {
  std::vector<std::int64_t> spans;
  for (const AxisPart& axis : part.axes) spans.push_back(axis.span());
  return spans;
}

std::vector<Tensor> starts_of_spans(const NamedPart& part) {
  std::vector<Tensor> starts;
  for (const AxisPart& axis : part.axes)
    starts.push_back(axis.place.empty() ? Tensor(axis.start) : axis.place);
  return starts;
}

/// Elements from the first position to the last on each axis, including skipped ones if `strided`
/// is false.
Tensor span_of(const Tensor& x, const NamedPart& part, bool strided) {
  const std::vector<std::int64_t> spans = spans_of(part);
  std::vector<std::int64_t> starts, limits, steps;
  bool at_tensors = false, has_steps = false;
  for (const AxisPart& axis : part.axes) {
    starts.push_back(axis.start);
    limits.push_back(axis.start + axis.span());
    steps.push_back(strided ? axis.step : 1);
    at_tensors = at_tensors || !axis.place.empty();
    has_steps = has_steps || steps.back() != 1;
  }
  if (!at_tensors) return slice(x, starts, limits, steps);
  Tensor span = dynamic_slice(x, starts_of_spans(part), spans);
  if (!has_steps) return span;
  return slice(span, std::vector<std::int64_t>(spans.size(), 0), spans, steps);
}

/// The axes of the array with negative steps.
std::vector<std::int64_t> backward_axes(const NamedPart& part) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < part.axes.size(); i++) {
    if (part.axes[i].backwards) axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes;
}

Tensor reversed(const Tensor& x, const std::vector<std::int64_t>& axes) {
  return axes.empty() ? x : reverse(x, axes);
}

/// Interleaves `value`, one element for each position of the part, with the elements of x that the
/// steps skip.
Tensor among_others(const Tensor& x, const NamedPart& part, const Tensor& value) {
  const std::vector<std::int64_t> spans = spans_of(part);
  const std::vector<std::int64_t> none(spans.size(), 0);
  std::vector<std::int64_t> between;
  Tensor chosen;
  for (std::size_t i = 0; i < part.axes.size(); i++) {
    between.push_back(part.axes[i].step - 1);
    if (part.axes[i].step == 1) continue;
    const Tensor on_axis = broadcast_in_dim(arange(spans[i], DType::kS64) % part.axes[i].step == 0,
                                            spans, {static_cast<std::int64_t>(i)});
    chosen = chosen.empty() ? on_axis : chosen & on_axis;
  }
  if (chosen.empty()) return value;
  const Tensor spread = value.rank() == 0 ? value : pad(value, 0, none, none, between);
  return where(chosen, spread, span_of(x, part, false));
}

}  // namespace

Tensor slice(const Operand& operand, std::span<const SliceIndex> indices) {
  const ops::Helper helper("slice", operand.at());
  const Tensor x = helper.any(operand);
  const NamedPart part = named_part(helper, x, indices);
  return ops::reshape_to(reversed(span_of(x, part, true), backward_axes(part)), part.dims,
                         operand.at());
}

Tensor update(const Operand& operand, std::span<const SliceIndex> indices, const Operand& value) {
  const ops::Helper helper("update", operand.at());
  Tensor x = helper.any(operand);
  const NamedPart part = named_part(helper, x, indices);
  const TensorType type{x.dtype(), Shape(part.dims)};
  const Tensor given = value.is_scalar() ? value.as(x.dtype()) : helper.any(value);
  if (given.dtype() != x.dtype()) {
    helper.fail(
        fmt::format("the value is {}, the array {}; their dtypes must be equal\n  Convert the "
                    "value: rondo::convert(value, rondo::DType::k{}).",
                    given.type().str(), x.type().str(), ops::dtype_constant(x.dtype())));
  }
  bool fits = given.rank() <= type.rank();
  for (std::int64_t axis = 1; fits && axis <= given.rank(); axis++)
    fits = given.dim(-axis) == 1 || given.dim(-axis) == type.shape[type.rank() - axis];
  if (!fits) {
    helper.fail(
        fmt::format("the value is {}; it does not broadcast to {}, the part of {}\n  Give a value "
                    "of that shape; rondo::reshape and rondo::sum change shapes.",
                    given.type().str(), type.str(), x.type().str()));
  }
  if (type.elements() == 0) return x;
  std::vector<std::int64_t> counts;
  for (const AxisPart& axis : part.axes) counts.push_back(axis.count);
  Tensor fill = given;
  if (given.rank() != 0) {
    fill = reversed(
        ops::reshape_to(ops::broadcast(given, type.shape, operand.at()), counts, operand.at()),
        backward_axes(part));
  }
  const Tensor span = among_others(x, part, fill);
  return dynamic_update_slice(x, ops::broadcast(span, spans_of(part), operand.at()),
                              starts_of_spans(part));
}

}  // namespace rondo
