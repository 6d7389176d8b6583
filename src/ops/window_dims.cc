// The lists of WindowDims: defaults, checks, shapes, texts.
#include <algorithm>

#include "ir/attribute_text.h"
#include "ops/reduce_window.h"

namespace rondo::ops {

namespace {

/// Keeps products and sums of sizes, strides and dilations in range.
constexpr std::int64_t kMostWindowNumber = std::int64_t{1} << 31;

template <class T>
std::vector<T> whole_list(const char* op, const char* name, const std::vector<T>& list, T otherwise,
                          std::int64_t rank, SourceLocation at) {
  if (list.empty()) return std::vector<T>(static_cast<std::size_t>(rank), otherwise);
  if (static_cast<std::int64_t>(list.size()) != rank) {
    fail(op,
         fmt::format("`{}` has {} entries, the array {} axes\n  Give one for each axis, or none.",
                     name, list.size(), rank),
         at);
  }
  return list;
}

}  // namespace

WindowDims whole_window(const char* op, const WindowDims& window, std::int64_t rank,
                        SourceLocation at) {
  if (static_cast<std::int64_t>(window.size.size()) != rank) {
    fail(op,
         fmt::format("the window has {} sizes, the array {} axes\n  Give a size for each axis; 1 "
                     "where the window does not extend.",
                     window.size.size(), rank),
         at);
  }
  using Pair = std::pair<std::int64_t, std::int64_t>;
  return {window.size, whole_list<std::int64_t>(op, "stride", window.stride, 1, rank, at),
          whole_list<Pair>(op, "padding", window.padding, {0, 0}, rank, at),
          whole_list<std::int64_t>(op, "base_dilation", window.base_dilation, 1, rank, at),
          whole_list<std::int64_t>(op, "window_dilation", window.window_dilation, 1, rank, at)};
}

Shape window_counts(const InferContext& context, const WindowDims& window,
                    const TensorType& array) {
  const auto rank = static_cast<std::size_t>(array.rank());
  if (window.size.size() != rank || window.stride.size() != rank || window.padding.size() != rank ||
      window.base_dilation.size() != rank || window.window_dilation.size() != rank) {
    context.fail(fmt::format("the window does not have an entry for each of the {} axes of {}",
                             rank, array.str()));
  }
  std::vector<std::int64_t> counts;
  for (std::size_t axis = 0; axis < rank; axis++) {
    const auto check = [&](const char* name, std::int64_t value) {
      if (value >= 1 && value <= kMostWindowNumber) return;
      context.fail(fmt::format("`{}` of axis {} is {}; it must be from 1 to {}\n  1 is none.", name,
                               axis, value, kMostWindowNumber));
    };
    check("size", window.size[axis]);
    check("stride", window.stride[axis]);
    check("base_dilation", window.base_dilation[axis]);
    check("window_dilation", window.window_dilation[axis]);
    const auto [low, high] = window.padding[axis];
    if (std::max(std::abs(low), std::abs(high)) > kMostWindowNumber) {
      context.fail(
          fmt::format("the padding of axis {} is ({}, {}); at most {} is possible\n  Pad "
                      "with less.",
                      axis, low, high, kMostWindowNumber));
    }
    const std::int64_t n = array.shape[static_cast<std::int64_t>(axis)];
    if (n > kMostWindowNumber)
      context.fail(
          fmt::format("axis {} of {} is too long for a window\n  Windows move over axes "
                      "of at most {} elements.",
                      axis, array.str(), kMostWindowNumber));
    const std::int64_t positions =
        (n == 0 ? 0 : (n - 1) * window.base_dilation[axis] + 1) + low + high;
    if (positions < 0)
      context.fail(
          fmt::format("the padding ({}, {}) removes more of axis {} than its {} elements\n"
                      "  Negative padding may leave nothing, but not less.",
                      low, high, axis, n));
    const std::int64_t covers = (window.size[axis] - 1) * window.window_dilation[axis] + 1;
    counts.push_back(positions < covers ? 0 : (positions - covers) / window.stride[axis] + 1);
  }
  return counts;
}

void describe_window(ir::AttributeCodec& codec, WindowDims& window) {
  codec.window(
      {.size = {"size", "window_dimensions"},
       .stride = {"stride", "window_strides"},
       .padding = {"padding"},
       .base_dilation = {"base_dilation", "base_dilations"},
       .window_dilation = {"window_dilation", "window_dilations"}},
      {window.size, window.stride, window.padding, window.base_dilation, window.window_dilation},
      ir::AttributeCodec::Need::kOptional);
  if (codec.reads() && !codec.own())
    window = whole_window("window", window, codec.operand(0).rank(), {});
}

}  // namespace rondo::ops
