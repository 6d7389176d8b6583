// Windows of arrays as Tensor code: slices of the padded arrays, combined along one axis after the
// other. A window of w elements is the combination of windows of 1, 2, 4, ... elements.
#include <algorithm>
#include <bit>

#include "ops/broadcast.h"
#include "ops/pad.h"
#include "ops/reduce_window.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

using Arrays = std::vector<Tensor>;

/// Every `stride`-th position along an axis, `count` of them, from `first` on.
Arrays along(const Arrays& arrays, std::size_t axis, std::int64_t first, std::int64_t count,
             std::int64_t stride, SourceLocation at) {
  std::vector<std::int64_t> starts(arrays[0].shape().size(), 0),
      limits = arrays[0].shape().vector(), strides(starts.size(), 1);
  if (first == 0 && count == limits[axis] && stride == 1) return arrays;
  starts[axis] = first;
  limits[axis] = count == 0 ? first : first + (count - 1) * stride + 1;
  strides[axis] = stride;
  Arrays parts;
  for (const Tensor& array : arrays) parts.push_back(slice({array, at}, starts, limits, strides));
  return parts;
}

Arrays both(Arrays a, const Arrays& b, const CombineArrays& combine) {
  a.insert(a.end(), b.begin(), b.end());
  return combine(a);
}

/// Threshold: Elements of a window up to which they are combined one by one in row-major order, in
/// one pass, rather than along one axis after the other by fewer operations: work against sums
/// that are rounded as those of other implementations, and passes over the array. Not measured.
constexpr std::int64_t kElementsInOrder = 9;

struct AxisWindow {
  std::size_t axis;
  std::int64_t size, dilation, stride, count;  // count: of windows
};

/// One slice for each element of the window.
Arrays combine_directly(const Arrays& arrays, const AxisWindow& w, const CombineArrays& combine,
                        SourceLocation at) {
  Arrays total = along(arrays, w.axis, 0, w.count, w.stride, at);
  for (std::int64_t k = 1; k < w.size; k++) {
    total = both(std::move(total), along(arrays, w.axis, k * w.dilation, w.count, w.stride, at),
                 combine);
  }
  return total;
}

/// Windows of 2^k elements at every position, which give the window of the binary digits of its
/// size.
Arrays combine_by_doubling(Arrays powers, const AxisWindow& w, const CombineArrays& combine,
                           SourceLocation at) {
  Arrays total;
  std::int64_t covered = 0;  // elements of the window that `total` has
  for (std::int64_t power = 1;; power *= 2) {
    if (w.size & power) {
      Arrays part = along(powers, w.axis, covered * w.dilation, w.count, w.stride, at);
      total = total.empty() ? std::move(part) : both(std::move(total), part, combine);
      covered += power;
    }
    if (covered == w.size) return total;
    const std::int64_t length = powers[0].shape()[static_cast<std::int64_t>(w.axis)];
    const std::int64_t left = length - power * w.dilation;
    powers = both(along(powers, w.axis, 0, left, 1, at),
                  along(powers, w.axis, power * w.dilation, left, 1, at), combine);
  }
}

Arrays padded(const Arrays& arrays, std::span<const Tensor> padding, const WindowDims& window,
              SourceLocation at) {
  PadAttributes pads;
  bool changes = false;
  for (std::size_t axis = 0; axis < window.size.size(); axis++) {
    pads.low.push_back(window.padding[axis].first);
    pads.high.push_back(window.padding[axis].second);
    pads.interior.push_back(window.base_dilation[axis] - 1);
    changes |= pads.low.back() != 0 || pads.high.back() != 0 || pads.interior.back() != 0;
  }
  if (!changes) return arrays;
  Arrays results;
  for (std::size_t i = 0; i < arrays.size(); i++)
    results.push_back(make(kPad, {arrays[i], padding[i]}, pads, at));
  return results;
}

/// Along all axes: one slice for each element of the window.
Arrays combine_in_order(const Arrays& arrays, const WindowDims& window,
                        const CombineArrays& combine, SourceLocation at) {
  const std::size_t rank = window.size.size();
  std::vector<std::int64_t> counts;
  for (std::size_t axis = 0; axis < rank; axis++) {
    const std::int64_t length = arrays[0].shape()[axis];
    const std::int64_t covers = (window.size[axis] - 1) * window.window_dilation[axis] + 1;
    counts.push_back(length < covers ? 0 : (length - covers) / window.stride[axis] + 1);
  }
  Arrays total;
  std::vector<std::int64_t> element(rank, 0);
  while (true) {
    Arrays part = arrays;
    for (std::size_t axis = 0; axis < rank; axis++) {
      const std::int64_t first =
          counts[axis] == 0 ? 0 : element[axis] * window.window_dilation[axis];
      part = along(part, axis, first, counts[axis], window.stride[axis], at);
    }
    total = total.empty() ? std::move(part) : both(std::move(total), part, combine);
    std::size_t axis = rank;
    while (axis > 0 && ++element[axis - 1] == window.size[axis - 1]) element[--axis] = 0;
    if (axis == 0) return total;
  }
}

}  // namespace

std::vector<Tensor> combine_windows(std::vector<Tensor> arrays, std::span<const Tensor> padding,
                                    const WindowDims& window, const CombineArrays& combine,
                                    SourceLocation at) {
  arrays = padded(arrays, padding, window, at);
  std::int64_t elements = 1;  // at most a little more than the limit
  bool fits = true;
  for (std::size_t axis = 0; axis < window.size.size(); axis++) {
    elements *= std::min(window.size[axis], kElementsInOrder + 1);
    fits = fits && elements > 0 && elements <= kElementsInOrder;
    if (!fits) break;
  }
  if (fits) return combine_in_order(arrays, window, combine, at);
  // The innermost axis first: elements stay in row-major order.
  for (std::size_t axis = window.size.size(); axis-- > 0;) {
    AxisWindow w{axis, window.size[axis], window.window_dilation[axis], window.stride[axis], 0};
    const std::int64_t length = arrays[0].shape()[static_cast<std::int64_t>(axis)];
    const std::int64_t covers = (w.size - 1) * w.dilation + 1;
    w.count = length < covers ? 0 : (length - covers) / w.stride + 1;
    if (w.count == 0) {
      arrays = along(arrays, axis, 0, 0, 1, at);
      continue;
    }
    // Elements that each way combines.
    const auto steps =
        static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(w.size))) - 1;
    const double directly = static_cast<double>(w.size) * static_cast<double>(w.count);
    const double doubling = static_cast<double>(steps) * static_cast<double>(length) +
                            static_cast<double>(std::popcount(static_cast<std::uint64_t>(w.size))) *
                                static_cast<double>(w.count);
    arrays = directly <= doubling ? combine_directly(arrays, w, combine, at)
                                  : combine_by_doubling(std::move(arrays), w, combine, at);
  }
  return arrays;
}

CombinedWindows combine_covered(std::vector<Tensor> arrays, const WindowDims& window,
                                const CombineArrays& combine, SourceLocation at) {
  const auto is_padded = [&](std::size_t axis) {
    return window.padding[axis].first > 0 || window.padding[axis].second > 0 ||
           window.base_dilation[axis] > 1;
  };
  bool has_gaps = false;
  for (std::size_t axis = 0; axis < window.size.size(); axis++) has_gaps |= is_padded(axis);
  std::vector<Tensor> padding;
  for (const Tensor& array : arrays) padding.push_back(zeros({array.dtype(), {}}, at));
  if (!has_gaps)
    return {combine_windows(std::move(arrays), padding, window, combine, at), Tensor()};
  arrays.push_back(
      broadcast_axes(ir::make_constant(Literal::scalar(true), at), arrays[0].shape(), {}, at));
  padding.push_back(zeros(pred(), at));
  const std::size_t count = arrays.size() - 1;
  const auto combine_with_flags = [&](std::span<const Tensor> ab) {
    std::vector<Tensor> values(ab.begin(), ab.begin() + static_cast<std::ptrdiff_t>(count));
    values.insert(values.end(), ab.begin() + static_cast<std::ptrdiff_t>(count) + 1, ab.end() - 1);
    const Operand a_is_there(ab[count], at), b_is_there(ab[2 * count + 1], at);
    std::vector<Tensor> combined = combine(values);
    const Tensor both_are = a_is_there & b_is_there;
    for (std::size_t i = 0; i < count; i++) {
      const Tensor one = where(a_is_there, {values[i], at}, {values[count + i], at});
      combined[i] = where({both_are, at}, {combined[i], at}, {one, at});
    }
    combined.push_back(a_is_there | b_is_there);
    return combined;
  };
  std::vector<Tensor> results =
      combine_windows(std::move(arrays), padding, window, combine_with_flags, at);
  Tensor covered = results.back();
  results.pop_back();
  return {std::move(results), std::move(covered)};
}

}  // namespace rondo::ops
