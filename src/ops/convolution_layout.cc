// The layout of a convolution: XLA's letters as axes, and both texts.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "ir/attribute_text.h"
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

/// The sizes of a kernel along its spatial axes.
std::vector<std::int64_t> spatial_sizes(const ConvolutionAttributes& a, const TensorType& kernel) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 2; i < a.rhs.size(); i++) sizes.push_back(kernel.shape[a.rhs[i]]);
  return sizes;
}

void refuse_reversal(ir::AttributeCodec& codec) {
  std::vector<std::int64_t> reversed;
  codec.integers({"", "window_reversal", "reverse", "rhs_reversal"}, reversed,
                 ir::AttributeCodec::Need::kOptional);
  if (std::find(reversed.begin(), reversed.end(), 1) != reversed.end())
    codec.fail("a reversed window is not supported\n  Reverse the kernel.");
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
  return {.size = spatial_sizes(a, kernel),
          .stride = a.strides,
          .padding = a.padding,
          .base_dilation = a.lhs_dilation,
          .window_dilation = a.rhs_dilation};
}

void describe_convolution(ir::AttributeCodec& codec, ConvolutionAttributes& a) {
  constexpr auto kOptional = ir::AttributeCodec::Need::kOptional;
  std::vector<std::int64_t> sizes;
  std::array<std::string, 3> labels;
  if (!codec.reads()) {
    sizes = spatial_sizes(a, codec.operand(1));
    labels = {labels_of(a.lhs, 'b', 'f'), labels_of(a.rhs, 'i', 'o'), labels_of(a.out, 'b', 'f')};
  }
  codec.axis_labels({"", "dimension_numbers", "dim_numbers", "dim_labels"}, labels);
  codec.window({.stride = {"strides", "window_strides", "stride"},
                .padding = {"padding", "", "pad"},
                .base_dilation = {"lhs_dilation", "", "lhs_dilate"},
                .window_dilation = {"rhs_dilation", "", "rhs_dilate"}},
               {sizes, a.strides, a.padding, a.lhs_dilation, a.rhs_dilation},
               ir::AttributeCodec::Need::kRequired);
  if (codec.reads() && !codec.own()) {
    a = convolution_attributes({.strides = a.strides,
                                .padding = a.padding,
                                .lhs_dilation = a.lhs_dilation,
                                .rhs_dilation = a.rhs_dilation,
                                .layout = labels[0] + "_" + labels[1] + "->" + labels[2]},
                               codec.operand(1).rank(), {});
  }
  codec.integer({"feature_groups", "feature_group_count"}, a.feature_groups, kOptional);
  codec.integer({"batch_groups", "batch_group_count"}, a.batch_groups, kOptional);
  codec.hint({"precision_config", "", "precision", "operand_precision"});
  if (ir::FieldList* const own = codec.own()) {
    own->field("lhs", a.lhs);
    own->field("rhs", a.rhs);
    own->field("out", a.out);
  } else if (codec.reads()) {
    refuse_reversal(codec);
  }
}

}  // namespace rondo::ops
