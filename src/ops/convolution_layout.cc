// The layout of a convolution: XLA's letters as axes, and both texts.
#include <algorithm>
#include <string_view>

#include "ops/convolution.h"
#include "ops/reduce_window.h"

namespace rondo::ops {

namespace {

/// The axes of one array: the places of the two letters, then those of the digits. Empty if a
/// letter is missing or occurs twice.
std::vector<std::int64_t> axes_of(std::string_view labels, char first, char second) {
  std::vector<std::int64_t> axes;
  const auto find = [&](char label) {
    const std::size_t place = labels.find(label);
    if (place == labels.npos || labels.find(label, place + 1) != labels.npos) return false;
    axes.push_back(static_cast<std::int64_t>(place));
    return true;
  };
  if (!find(first) || !find(second)) return {};
  for (std::size_t i = 0; i + 2 < labels.size(); i++) {
    if (i > 9 || !find(static_cast<char>('0' + i))) return {};
  }
  return axes;
}

std::string default_layout(std::int64_t rank) {
  std::string digits;
  for (std::int64_t i = 0; i + 2 < std::min<std::int64_t>(rank, 12); i++)
    digits += static_cast<char>('0' + i);
  return fmt::format("b{0}f_{0}io->b{0}f", digits);
}

/// One letter for each axis.
std::string labels_of(const std::vector<std::int64_t>& axes, char first, char second) {
  std::string labels(axes.size(), '?');
  for (std::size_t i = 0; i < axes.size(); i++)
    labels[static_cast<std::size_t>(axes[i])] = i == 0   ? first
                                                : i == 1 ? second
                                                         : static_cast<char>('0' + i - 2);
  return labels;
}

}  // namespace

ConvolutionAttributes convolution_attributes(const ConvDims& dims, std::int64_t rank,
                                             SourceLocation at) {
  constexpr const char* kOp = "convolution";
  const std::string_view layout = dims.layout;
  const std::size_t first = layout.find('_'), second = layout.find("->");
  ConvolutionAttributes a;
  if (first != layout.npos && second != layout.npos && first < second) {
    a.lhs = axes_of(layout.substr(0, first), 'b', 'f');
    a.rhs = axes_of(layout.substr(first + 1, second - first - 1), 'i', 'o');
    a.out = axes_of(layout.substr(second + 2), 'b', 'f');
  }
  const auto spatial = rank - 2;
  if (a.lhs.empty() || a.rhs.size() != a.lhs.size() || a.out.size() != a.lhs.size() ||
      static_cast<std::int64_t>(a.rhs.size()) != rank) {
    fail(kOp,
         fmt::format("the layout `{}` does not name the axes of x, of a kernel of {} axes and of "
                     "the result\n  Write {} for the usual order: b batch, f features, i and o the "
                     "kernel's features, a digit for each spatial axis.",
                     layout, rank, default_layout(std::max<std::int64_t>(rank, 2))),
         at);
  }
  const WindowDims whole =
      whole_window(kOp,
                   {.size = std::vector<std::int64_t>(static_cast<std::size_t>(spatial), 1),
                    .stride = dims.strides,
                    .padding = dims.padding,
                    .base_dilation = dims.lhs_dilation,
                    .window_dilation = dims.rhs_dilation},
                   spatial, at);
  a.strides = whole.stride;
  a.padding = whole.padding;
  a.lhs_dilation = whole.base_dilation;
  a.rhs_dilation = whole.window_dilation;
  a.feature_groups = dims.feature_groups;
  a.batch_groups = dims.batch_groups;
  return a;
}

WindowDims spatial_window(const ConvolutionAttributes& a, const TensorType& kernel) {
  WindowDims window{.size = {},
                    .stride = a.strides,
                    .padding = a.padding,
                    .base_dilation = a.lhs_dilation,
                    .window_dilation = a.rhs_dilation};
  for (auto axis = a.rhs.begin() + 2; axis != a.rhs.end(); ++axis)
    window.size.push_back(kernel.shape[*axis]);
  return window;
}

void convolution_hlo(const Node& node, std::string& out) {
  const auto& a = node.attrs<ConvolutionAttributes>();
  append_window_hlo(out, spatial_window(a, node.operand_type(1)));
  out += fmt::format(", dim_labels={}_{}->{}", labels_of(a.lhs, 'b', 'f'),
                     labels_of(a.rhs, 'i', 'o'), labels_of(a.out, 'b', 'f'));
  if (a.feature_groups > 1) out += fmt::format(", feature_group_count={}", a.feature_groups);
  if (a.batch_groups > 1) out += fmt::format(", batch_group_count={}", a.batch_groups);
}

void convolution_stablehlo(const Node& node, std::string& out) {
  const auto& a = node.attrs<ConvolutionAttributes>();
  const auto labels = [](const std::vector<std::int64_t>& axes, char first, char second) {
    return fmt::format("{}", fmt::join(labels_of(axes, first, second), ", "));
  };
  out += fmt::format("dimension_numbers = #stablehlo.conv<[{}]x[{}]->[{}]>",
                     labels(a.lhs, 'b', 'f'), labels(a.rhs, 'i', 'o'), labels(a.out, 'b', 'f'));
  const auto list = [&](std::string_view name, const std::vector<std::int64_t>& values) {
    out += ", ";
    append_i64_array(out, name, values);
  };
  list("window_strides", a.strides);
  append_padding_stablehlo(out, a.padding);
  list("lhs_dilation", a.lhs_dilation);
  list("rhs_dilation", a.rhs_dilation);
  out += fmt::format(", feature_group_count = {} : i64, batch_group_count = {} : i64",
                     a.feature_groups, a.batch_groups);
}

}  // namespace rondo::ops
