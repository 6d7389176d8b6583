#include "ops/convolution.h"

#include <algorithm>
#include <numeric>

#include "ir/attribute_text.h"
#include "ops/batch_rules.h"
#include "ops/broadcast.h"
#include "ops/derivative_rules.h"
#include "ops/permute.h"
#include "ops/reduce_window.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

constexpr std::size_t kBatch = 0, kFeature = 1;         // of x and of the result
constexpr std::size_t kInFeature = 0, kOutFeature = 1;  // of the kernel
constexpr std::ptrdiff_t kSpatial = 2;

TensorType spatial_type(const TensorType& type, const std::vector<std::int64_t>& axes) {
  std::vector<std::int64_t> dims;
  for (auto axis = axes.begin() + kSpatial; axis != axes.end(); ++axis)
    dims.push_back(type.shape[*axis]);
  return {type.dtype, dims};
}

void check_axes_of(const InferContext& context, const char* what, const std::string& of,
                   const std::vector<std::int64_t>& axes, std::size_t rank) {
  std::vector<std::int64_t> sorted = axes, all(rank);
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  if (sorted != all) {
    context.fail(
        fmt::format("{} is {}; the layout is for {} axes, each named once\n  Write a "
                    "layout such as b01f_01io->b01f with a digit for each spatial axis.",
                    what, of, axes.size()));
  }
}

void check_groups(const InferContext& context, const ConvolutionAttributes& a) {
  const TensorType &x = context.type(0), &kernel = context.type(1);
  const std::int64_t features = x.shape[a.lhs[kFeature]], batch = x.shape[a.lhs[kBatch]];
  const std::int64_t in = kernel.shape[a.rhs[kInFeature]], out = kernel.shape[a.rhs[kOutFeature]];
  if (a.feature_groups < 1 || a.batch_groups < 1 || (a.feature_groups > 1 && a.batch_groups > 1)) {
    context.fail(
        fmt::format("there are {} feature groups and {} batch groups\n  Both are positive, "
                    "and at least one of them is 1.",
                    a.feature_groups, a.batch_groups));
  }
  if (features % a.feature_groups != 0 || features / a.feature_groups != in) {
    context.fail(
        fmt::format("x, {}, has {} features in {} group(s), the kernel, {}, {} input features\n  "
                    "The kernel's input features are those of x, divided by the feature groups.",
                    x.str(), features, a.feature_groups, kernel.str(), in));
  }
  const std::int64_t groups = std::max(a.feature_groups, a.batch_groups);
  if (out % groups != 0 || batch % a.batch_groups != 0) {
    context.fail(
        fmt::format("{} output features and a batch of {} cannot be divided into {} "
                    "groups\n  Give multiples of the number of groups.",
                    out, batch, groups));
  }
}

InferredTypes infer_convolution(const InferContext& context) {
  const auto& a = context.attrs<ConvolutionAttributes>();
  const TensorType &x = context.type(0), &kernel = context.type(1);
  if (x.dtype != kernel.dtype) {
    context.fail(fmt::format("x is {}, the kernel {}; their dtypes must be equal\n  {}", x.str(),
                             kernel.str(),
                             conversion_remedy(x.dtype, kernel.dtype, "x", "the kernel")));
  }
  if (is_pred(x.dtype))
    context.fail(
        fmt::format("{} holds no numbers\n  Convert it: rondo::convert(x, DType::kS32).", x.str()));
  const std::size_t rank = x.shape.size();
  if (rank < static_cast<std::size_t>(kSpatial) || kernel.shape.size() != rank) {
    context.fail(
        fmt::format("x is {}, the kernel {}\n  Give both the same number of axes: a batch or "
                    "output features, features, and spatial axes.",
                    x.str(), kernel.str()));
  }
  check_axes_of(context, "x", x.str(), a.lhs, rank);
  check_axes_of(context, "the kernel", kernel.str(), a.rhs, rank);
  check_axes_of(context, "the result", fmt::format("of {} axes", rank), a.out, rank);
  check_groups(context, a);
  const Shape windows = window_counts(context, spatial_window(a, kernel), spatial_type(x, a.lhs));
  std::vector<std::int64_t> dims(rank);
  const auto set = [&](std::size_t i, std::int64_t size) {
    dims[static_cast<std::size_t>(a.out[i])] = size;
  };
  set(kBatch, x.shape[a.lhs[kBatch]] / a.batch_groups);
  set(kFeature, kernel.shape[a.rhs[kOutFeature]]);
  for (std::int64_t i = 0; i < windows.rank(); i++)
    set(static_cast<std::size_t>(i + kSpatial), windows[i]);
  return {{x.dtype, dims}};
}

/// An axis of groups x n elements as two axes.
Tensor split_axis(const Tensor& x, std::int64_t axis, std::int64_t groups, SourceLocation at) {
  std::vector<std::int64_t> dims = x.shape().vector();
  const auto place = dims.begin() + axis;
  *place /= groups;
  dims.insert(place, groups);
  return reshape_to(x, dims, at);
}

/// The axis `from` becomes the outer part of the axis that has the number `into` without it.
Tensor merge_axis(const Tensor& x, std::int64_t from, std::int64_t into, SourceLocation at) {
  std::vector<std::int64_t> order(x.shape().size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  order.erase(order.begin() + from);
  order.insert(order.begin() + into, from);
  std::vector<std::int64_t> dims = x.shape().vector();
  const std::int64_t groups = dims[static_cast<std::size_t>(from)];
  dims.erase(dims.begin() + from);
  dims[static_cast<std::size_t>(into)] *= groups;
  return reshape_to(transposed(x, std::move(order), at), dims, at);
}

struct SpatialSizes {
  std::int64_t x, kernel, out;  // with the gaps of their dilations
};
SpatialSizes spatial_sizes(const TransposeCall& c, const ConvolutionAttributes& a, std::size_t i) {
  const auto dilated = [](std::int64_t n, std::int64_t dilation) { return (n - 1) * dilation + 1; };
  const auto axis = [&](const std::vector<std::int64_t>& axes) { return axes[i + kSpatial]; };
  return {dilated(c.type(0).shape[axis(a.lhs)], a.lhs_dilation[i]),
          dilated(c.type(1).shape[axis(a.rhs)], a.rhs_dilation[i]),
          dilated(c.ct().shape()[axis(a.out)], a.strides[i])};
}

/// The convolution of the cotangent with the reversed kernel, whose input and output features are
/// exchanged, and stride and dilation of x as well.
Tensor x_cotangent(const TransposeCall& c) {
  const auto& a = c.node.attrs<ConvolutionAttributes>();
  const std::int64_t groups = std::max(a.feature_groups, a.batch_groups);
  ConvolutionAttributes back = a;
  std::swap(back.strides, back.lhs_dilation);
  for (std::size_t i = 0; i < a.strides.size(); i++) {
    const SpatialSizes sizes = spatial_sizes(c, a, i);
    const std::int64_t low = sizes.kernel - 1 - a.padding[i].first;
    back.padding[i] = {low, sizes.x + sizes.kernel - 1 - sizes.out - low};
  }
  back.lhs = a.out;
  back.out = a.lhs;
  std::swap(back.rhs[kInFeature], back.rhs[kOutFeature]);
  back.feature_groups = groups;
  back.batch_groups = 1;
  Tensor kernel = c.x(1);
  if (groups > 1) {
    const std::int64_t out = a.rhs[kOutFeature];
    kernel = merge_axis(split_axis(kernel, out, groups, c.at()), out, a.rhs[kInFeature], c.at());
  }
  const std::vector<std::int64_t> spatial(a.rhs.begin() + kSpatial, a.rhs.end());
  if (!spatial.empty()) kernel = reverse({kernel, c.at()}, spatial);
  Tensor x = make(kConvolution, {c.ct(), kernel}, std::move(back), c.at());
  if (a.batch_groups == 1) return x;
  const std::int64_t features = a.lhs[kFeature];
  return merge_axis(split_axis(x, features, groups, c.at()), features, a.lhs[kBatch], c.at());
}

/// The convolution of x with the cotangent in the kernel's place, summed over the batch in the
/// place of features.
Tensor kernel_cotangent(const TransposeCall& c) {
  const auto& a = c.node.attrs<ConvolutionAttributes>();
  ConvolutionAttributes back = a;
  std::swap(back.strides, back.rhs_dilation);
  for (std::size_t i = 0; i < a.strides.size(); i++) {
    const SpatialSizes sizes = spatial_sizes(c, a, i);
    const std::int64_t low = a.padding[i].first;
    back.padding[i] = {low, sizes.out + sizes.kernel - 1 - sizes.x - low};
  }
  std::swap(back.lhs[kBatch], back.lhs[kFeature]);
  back.rhs = a.out;
  back.out = a.rhs;
  std::swap(back.feature_groups, back.batch_groups);
  return make(kConvolution, {c.x(0), c.ct()}, std::move(back), c.at());
}

std::vector<Tensor> convolution_transpose(const TransposeCall& c) {
  const std::size_t i = c.linear[0] ? 0 : 1;
  std::vector<Tensor> all(2);
  if (c.type(0).elements() == 0 || c.type(1).elements() == 0 || c.ct().type().elements() == 0)
    all[i] = zeros(c.type(i), c.at());
  else
    all[i] = i == 0 ? x_cotangent(c) : kernel_cotangent(c);
  return all;
}

/// The leading axis of lanes as part of an axis (numbered without it) of groups x n elements:
/// groups x lanes x n.
Tensor merge_lanes(const Tensor& x, std::int64_t axis, std::int64_t groups, SourceLocation at) {
  if (groups == 1) return merge_axis(x, 0, axis, at);
  const Tensor merged = merge_axis(split_axis(x, axis + 1, groups, at), 0, axis + 1, at);
  return merge_axis(merged, axis, axis, at);
}

/// The reverse.
Tensor split_lanes(const Tensor& x, std::int64_t axis, std::int64_t groups, std::int64_t lanes,
                   SourceLocation at) {
  const Tensor in_groups = split_axis(x, axis, groups, at);
  const Tensor split = split_axis(in_groups, axis + 1, lanes, at);
  std::vector<std::int64_t> order(split.shape().size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  order.erase(order.begin() + axis + 1);
  order.insert(order.begin(), axis + 1);
  return merge_axis(transposed(split, std::move(order), at), axis + 1, axis + 1, at);
}

BatchValues convolution_batch(const BatchCall& c) {
  ConvolutionAttributes a = c.node.attrs<ConvolutionAttributes>();
  const std::int64_t lanes = c.lanes();
  const std::int64_t groups = std::max(a.feature_groups, a.batch_groups);
  std::int64_t axis = a.out[kFeature], axis_groups = 1;
  Tensor x = c.x(0), kernel = c.x(1);
  if (c.batched(0) && c.batched(1)) {
    // Every lane is a group.
    const bool in_batch = a.batch_groups > 1;
    x = merge_lanes(x, a.lhs[in_batch ? kBatch : kFeature], 1, c.at());
    kernel = merge_lanes(kernel, a.rhs[kOutFeature], 1, c.at());
    (in_batch ? a.batch_groups : a.feature_groups) *= lanes;
  } else if (c.batched(0)) {
    x = merge_lanes(x, a.lhs[kBatch], a.batch_groups, c.at());
    axis = a.out[kBatch];
  } else {
    kernel = merge_lanes(kernel, a.rhs[kOutFeature], groups, c.at());
    axis_groups = groups;
  }
  const Tensor result = make(kConvolution, {x, kernel}, std::move(a), c.at());
  return ir::all_batched({split_lanes(result, axis, axis_groups, lanes, c.at())});
}

}  // namespace

const ir::OpDef kConvolution{
    .name = "convolution",
    .arity = 2,
    .types = {.infer = infer_convolution},
    .kernel = {.prepare = prepare_convolution},
    .expansion = {.in_loops = convolution_in_loops},
    .derivative = {.linear = Linear::kSeparately, .transpose = convolution_transpose},
    .batching = {.rule = convolution_batch},
    .text = {.hlo = "convolution",
             .stablehlo = "stablehlo.convolution",
             .attributes = &ir::kAttributeText<ConvolutionAttributes, describe_convolution>}};

}  // namespace rondo::ops

namespace rondo {

Tensor convolution(const Operand& x, const Operand& kernel, const ConvDims& dims) {
  const auto [lhs, rhs] = ops::same_dtype("convolution", x, kernel);
  return ir::make(ops::kConvolution, {lhs, rhs},
                  ops::convolution_attributes(dims, rhs.rank(), x.at()), x.at());
}

}  // namespace rondo
