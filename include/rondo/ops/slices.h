// NumPy's x[...]: a part of an array, given axis by axis, for reading or writing.
//
//     slice(x, range(1))                  x[1:]
//     slice(x, range(), 2)                x[:, 2]
//     slice(x, kEllipsis, range(2, {}, -1))   x[..., 2::-1]
//     update(x, {range(1, -1), 0}, v)     x with v as x[1:-1, 0]
//
// Programs write rondo::range, rondo::kEllipsis and rondo::kNewAxis.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

#include "rondo/tensor.h"

namespace rondo {

/// The positions start, start + step, ... before `stop` on an axis, like Python's slice: negative
/// bounds count from the end, bounds beyond the ends are clamped, and a negative step goes
/// backwards.
struct Range {
  std::optional<std::int64_t> start = std::nullopt;  // default: the first one in this direction
  std::optional<std::int64_t> stop = std::nullopt;   // default: all positions from `start` on
  std::int64_t step = 1;                             // not 0
};

/// The positions from `start` to before `stop`, an index of slice and update: `range(1)` is
/// Python's `1:`, `range({}, 3)` is `:3`, `range(1, -1)` is `1:-1`, `range({}, {}, -1)` is `::-1`,
/// and `range()` the whole axis.
inline Range range(std::optional<std::int64_t> start = std::nullopt,
                   std::optional<std::int64_t> stop = std::nullopt, std::int64_t step = 1) {
  return {start, stop, step};
}
// clang-format off
template <detail::Why kWhy = "rondo: the bounds of a range are C++ integers, since they decide a shape; for a part that starts at a tensor use rondo::dynamic_slice(x, starts, sizes)", class... Bounds> requires((std::same_as<Bounds, Tensor> || ...)) Range range(const Bounds&...) = delete;
// clang-format on

/// An axis of size 1 in the part.
struct NewAxis {};
/// As an index of slice: adds an axis of size 1 to the result, like None in NumPy.
inline constexpr NewAxis kNewAxis{};
/// As many whole axes as the other indices leave.
struct Ellipsis {};
/// As an index of slice and update: takes the axes that the other indices leave whole, like ... in
/// NumPy. At most one in an index list.
inline constexpr Ellipsis kEllipsis{};

/// The index of slice and update for an axis: a C++ integer (negative counts from the end) or an
/// integer scalar tensor (clamped), which remove the axis; a Range, which keeps it; kNewAxis,
/// kEllipsis. Converts implicitly.
class SliceIndex {
 public:
  enum class Kind { kNumber, kTensor, kRange, kAddedAxis, kWholeAxes };

  // NOLINTBEGIN(google-explicit-constructor): they are written in place of an index
  template <std::integral T>
  requires(!std::same_as<T, bool>) SliceIndex(T number)
      : kind_(Kind::kNumber),
        number_(std::in_range<std::int64_t>(number) ? static_cast<std::int64_t>(number)
                                                    : std::int64_t{INT64_MAX}) {}
  SliceIndex(const Tensor& tensor) : kind_(Kind::kTensor), tensor_(tensor) {}
  SliceIndex(const Literal& value) : kind_(Kind::kTensor), tensor_(value) {}
  SliceIndex(const Range& range) : kind_(Kind::kRange), range_(range) {}
  SliceIndex(NewAxis) : kind_(Kind::kAddedAxis) {}
  SliceIndex(Ellipsis) : kind_(Kind::kWholeAxes) {}
  // NOLINTEND(google-explicit-constructor)

  // Each is meaningful only for its kind.
  Kind kind() const noexcept { return kind_; }
  std::int64_t number() const noexcept { return number_; }
  const Tensor& tensor() const noexcept { return tensor_; }
  const Range& range() const noexcept { return range_; }

 private:
  Kind kind_;
  std::int64_t number_ = 0;
  Range range_;
  Tensor tensor_;
};

/// The part of x that the indices select; axes without an index are taken whole. C++ integers and
/// ranges alone become one slice; with tensors, a dynamic_slice. Throws TraceError for an integer
/// out of range, more indices than axes, two ellipses, a step of 0 and a tensor that is no integer
/// scalar.
RONDO_API Tensor slice(const Operand& x, std::span<const SliceIndex> indices);
template <std::convertible_to<SliceIndex>... Indices>
requires(sizeof...(Indices) > 0) Tensor slice(const Operand& x, const Indices&... indices) {
  const SliceIndex all[] = {indices...};
  return slice(x, std::span<const SliceIndex>(all));
}

/// x with that part replaced by `value`, which broadcasts to it; a C++ scalar takes the dtype of x.
/// One update in place. If a range has a step other than 1 and -1, the positions that it skips are
/// rewritten with their old values, so the cost is that of the range's span. Throws TraceError like
/// slice, and for another dtype and a shape that does not broadcast.
[[nodiscard(
    "rondo: update leaves x as it is: x = rondo::update(x, {...}, value)")]] RONDO_API Tensor
update(const Operand& x, std::span<const SliceIndex> indices, const Operand& value);
[[nodiscard("rondo: update leaves x as it is: x = rondo::update(x, {...}, value)")]] inline Tensor
update(const Operand& x, std::initializer_list<SliceIndex> indices, const Operand& value) {
  return update(x, std::span<const SliceIndex>(indices.begin(), indices.size()), value);
}
[[nodiscard("rondo: update leaves x as it is: x = rondo::update(x, range, value)")]] inline Tensor
update(const Operand& x, const Range& rows, const Operand& value) {
  return update(x, {SliceIndex(rows)}, value);
}

}  // namespace rondo
