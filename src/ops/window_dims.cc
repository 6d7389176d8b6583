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

bool all_are(const std::vector<std::int64_t>& list, std::int64_t value) {
  return std::all_of(list.begin(), list.end(), [&](std::int64_t entry) { return entry == value; });
}

bool pads_nothing(const WindowDims& window) {
  return std::all_of(window.padding.begin(), window.padding.end(),
                     [](const auto& pair) { return pair.first == 0 && pair.second == 0; });
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

void append_window_hlo(std::string& out, const WindowDims& window) {
  const auto list = [&](std::string_view name, const std::vector<std::int64_t>& values) {
    out += fmt::format("{}={}", name, fmt::join(values, "x"));
  };
  out += ", window={";
  if (!window.size.empty()) list("size", window.size);
  if (!all_are(window.stride, 1)) list(" stride", window.stride);
  if (!pads_nothing(window)) {
    out += " pad=";
    for (std::size_t i = 0; i < window.padding.size(); i++) {
      out += fmt::format("{}{}_{}", i > 0 ? "x" : "", window.padding[i].first,
                         window.padding[i].second);
    }
  }
  if (!all_are(window.base_dilation, 1)) list(" lhs_dilate", window.base_dilation);
  if (!all_are(window.window_dilation, 1)) list(" rhs_dilate", window.window_dilation);
  out += '}';
}

void describe_window(ir::AttributeCodec& codec, WindowDims& window) {
  constexpr auto kOptional = ir::AttributeCodec::Need::kOptional;
  codec.integers({"window_dimensions", "", "size"}, window.size);
  if (codec.reads())
    window = whole_window("window", {.size = window.size}, codec.operand(0).rank(), {});
  codec.integers({"window_strides", "", "stride"}, window.stride, kOptional);
  if (codec.reads() || !all_are(window.base_dilation, 1))
    codec.integers({"base_dilations", "", "lhs_dilate"}, window.base_dilation, kOptional);
  if (codec.reads() || !all_are(window.window_dilation, 1))
    codec.integers({"window_dilations", "", "rhs_dilate"}, window.window_dilation, kOptional);
  if (codec.reads() || !pads_nothing(window))
    codec.pairs({"padding", "", "pad"}, window.padding, kOptional);
}

}  // namespace rondo::ops
