#include "ops/batch_norm.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number_text.h"
#include "ir/attribute_text.h"
#include "ops/broadcast.h"
#include "ops/functions/helpers.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/neural.h"
#include "rondo/ops/reduce.h"

namespace rondo::ops {

namespace {

/// The type of what there is one of for each feature. Throws TraceError if operand 0 has no floats
/// or no such axis, or if one of the operands that `names` names, from 1 on, has another type.
TensorType type_of_features(const InferContext& context, std::span<const std::string_view> names) {
  const TensorType& x = context.type(0);
  const std::int64_t axis = context.attrs<BatchNormAttributes>().feature_axis;
  if (!is_floating(x.dtype)) {
    context.fail(fmt::format(
        "takes floats; the operand is {}\n  Convert it first: rondo::convert(x, DType::kF32).",
        x.str()));
  }
  if (axis < 0 || axis >= x.rank()) {
    context.fail(fmt::format("the axis of features is {}, and {} has {} axes\n  Give one of them.",
                             axis, x.str(), x.rank()));
  }
  TensorType features{x.dtype, {x.shape[axis]}};
  for (std::size_t i = 0; i < names.size(); i++) {
    if (context.type(i + 1) == features) continue;
    context.fail(
        fmt::format("the {} is {}; of {}, with its features along axis {}, it must be {}\n  Give "
                    "one number for each feature.",
                    names[i], context.type(i + 1).str(), x.str(), axis, features.str()));
  }
  return features;
}

constexpr std::array<std::string_view, 4> kNames{"scale", "offset", "mean", "variance"};

InferredTypes infer_batch_norm_training(const InferContext& context) {
  const TensorType features = type_of_features(context, std::span(kNames).first(2));
  return {context.type(0), features, features};
}

InferredTypes infer_batch_norm_inference(const InferContext& context) {
  type_of_features(context, kNames);
  return {context.type(0)};
}

InferredTypes infer_batch_norm_grad(const InferContext& context) {
  const std::array<std::string_view, 3> names{"scale", "mean", "variance"};
  const TensorType features = type_of_features(context, names);
  if (context.type(4) != context.type(0)) {
    context.fail(fmt::format(
        "the operand is {}, the cotangent {}; the types must be equal\n  Give the cotangent of "
        "the normalized array.",
        context.type(0).str(), context.type(4).str()));
  }
  return {context.type(0), features, features};
}

/// Arithmetic on the operands and the features of a node; f16 and bf16 in f32.
class Features {
 public:
  explicit Features(const Node& node)
      : x_(node.operand_type(0)),
        axis_(node.attrs<BatchNormAttributes>().feature_axis),
        epsilon_(node.attrs<BatchNormAttributes>().epsilon) {
    for (std::int64_t i = 0; i < x_.rank(); i++) {
      if (i != axis_) batch_axes_.push_back(i);
    }
  }

  Tensor wide(const Tensor& x) const { return convert(x, wide_dtype(x_.dtype)); }
  std::vector<Tensor> narrow(std::vector<Tensor> results) const {
    for (Tensor& result : results) result = convert(result, x_.dtype);
    return results;
  }
  /// One number for each feature as an array of the operand's shape.
  Tensor along(const Tensor& feature) const {
    return broadcast_axes(feature, x_.shape, {axis_}, {});
  }
  Tensor sums(const Tensor& x) const { return batch_axes_.empty() ? x : sum(x, batch_axes_); }
  Tensor means(const Tensor& x) const { return batch_axes_.empty() ? x : mean(x, batch_axes_); }
  /// The elements of a feature.
  double count() const {
    double count = 1;
    for (const std::int64_t axis : batch_axes_) count *= static_cast<double>(x_.shape[axis]);
    return count;
  }
  Tensor regular(const Tensor& variance) const { return variance + epsilon_; }
  Tensor deviation(const Tensor& variance) const { return sqrt(regular(variance)); }

  Tensor normalized(const Tensor& centered, const Tensor& variance, const Tensor& scale,
                    const Tensor& offset) const {
    return centered * along(scale / deviation(variance)) + along(offset);
  }

 private:
  TensorType x_;
  std::int64_t axis_;
  double epsilon_;
  std::vector<std::int64_t> batch_axes_;
};

std::vector<Tensor> expand_batch_norm_training(const Node& node, std::span<const Tensor> operands) {
  const Features f(node);
  const Tensor x = f.wide(operands[0]);
  const Tensor means = f.means(x), centered = x - f.along(means);
  const Tensor variances = f.means(centered * centered);
  return f.narrow({f.normalized(centered, variances, f.wide(operands[1]), f.wide(operands[2])),
                   means, variances});
}

std::vector<Tensor> expand_batch_norm_inference(const Node& node,
                                                std::span<const Tensor> operands) {
  const Features f(node);
  const Tensor centered = f.wide(operands[0]) - f.along(f.wide(operands[3]));
  return f.narrow(
      {f.normalized(centered, f.wide(operands[4]), f.wide(operands[1]), f.wide(operands[2]))});
}

/// Of training: mean and variance follow x.
std::vector<Tensor> expand_batch_norm_grad(const Node& node, std::span<const Tensor> operands) {
  const Features f(node);
  const Tensor scale = f.wide(operands[1]), variance = f.wide(operands[3]);
  const Tensor centered = f.wide(operands[0]) - f.along(f.wide(operands[2]));
  const Tensor ct = f.wide(operands[4]);
  const Tensor of_offset = f.sums(ct), products = f.sums(ct * centered);
  const Tensor deviation = f.deviation(variance);
  const Tensor by_mean = of_offset / f.count();
  const Tensor by_variance = products / f.regular(variance) / f.count();
  const Tensor of_x =
      f.along(scale / deviation) * (ct - f.along(by_mean) - centered * f.along(by_variance));
  return f.narrow({of_x, products / deviation, of_offset});
}

void describe_batch_norm(ir::AttributeCodec& codec, BatchNormAttributes& a) {
  codec.real({"epsilon"}, a.epsilon);
  codec.integer({"feature_axis", "feature_index"}, a.feature_axis);
}

/// What XLA's partitioner does with them is unknown; it splits their expansions.
bool never(const Node&) { return false; }

/// A user's call.
class BatchNormCall {
 public:
  BatchNormCall(std::string_view op, const Operand& x, float epsilon, std::int64_t axis)
      : helper_(op, x.at()),
        x_(helper_.floating(x)),
        attributes_{epsilon, helper_.axis(axis, x_)} {}

  const Tensor& x() const { return x_; }
  Tensor any(const Operand& operand) const { return helper_.any(operand); }
  /// A number for each feature; a C++ scalar holds for all.
  Tensor feature(const Operand& operand) const {
    if (!operand.is_scalar()) return any(operand);
    return broadcast_axes(operand.as(x_.dtype()), {x_.dim(attributes_.feature_axis)}, {},
                          helper_.at());
  }
  std::vector<Tensor> make(const OpDef& op, ir::Operands operands) const {
    return ir::make_many(op, std::move(operands), attributes_, helper_.at());
  }

 private:
  Helper helper_;
  Tensor x_;
  BatchNormAttributes attributes_;
};

}  // namespace

const OpDef kBatchNormTraining{
    .name = "batch_norm_training",
    .arity = 3,
    .types = {.infer = infer_batch_norm_training},
    .expansion = {.rule = expand_batch_norm_training},
    .text = {.hlo = "batch-norm-training",
             .stablehlo = "stablehlo.batch_norm_training",
             .attributes = &ir::kAttributeText<BatchNormAttributes, describe_batch_norm>,
             .can_partition = never}};

const OpDef kBatchNormInference{
    .name = "batch_norm_inference",
    .arity = 5,
    .types = {.infer = infer_batch_norm_inference},
    .expansion = {.rule = expand_batch_norm_inference},
    .text = {.hlo = "batch-norm-inference",
             .stablehlo = "stablehlo.batch_norm_inference",
             .attributes = &ir::kAttributeText<BatchNormAttributes, describe_batch_norm>,
             .can_partition = never}};

const OpDef kBatchNormGrad{
    .name = "batch_norm_grad",
    .arity = 5,
    .types = {.infer = infer_batch_norm_grad},
    .expansion = {.rule = expand_batch_norm_grad},
    .text = {.hlo = "batch-norm-grad",
             .stablehlo = "stablehlo.batch_norm_grad",
             .attributes = &ir::kAttributeText<BatchNormAttributes, describe_batch_norm>,
             .can_partition = never}};

}  // namespace rondo::ops

namespace rondo {

BatchNorm batch_norm_training(const Operand& x, const Operand& scale, const Operand& offset,
                              float epsilon, std::int64_t feature_axis) {
  const ops::BatchNormCall call("batch_norm_training", x, epsilon, feature_axis);
  const std::vector<Tensor> results =
      call.make(ops::kBatchNormTraining, {call.x(), call.feature(scale), call.feature(offset)});
  return {results[0], results[1], results[2]};
}

Tensor batch_norm_inference(const Operand& x, const Operand& scale, const Operand& offset,
                            const Operand& mean, const Operand& variance, float epsilon,
                            std::int64_t feature_axis) {
  const ops::BatchNormCall call("batch_norm_inference", x, epsilon, feature_axis);
  return call.make(ops::kBatchNormInference, {call.x(), call.feature(scale), call.feature(offset),
                                              call.feature(mean), call.feature(variance)})[0];
}

BatchNormGradient batch_norm_grad(const Operand& x, const Operand& scale, const Operand& mean,
                                  const Operand& variance, const Operand& cotangent, float epsilon,
                                  std::int64_t feature_axis) {
  const ops::BatchNormCall call("batch_norm_grad", x, epsilon, feature_axis);
  const std::vector<Tensor> results =
      call.make(ops::kBatchNormGrad, {call.x(), call.feature(scale), call.feature(mean),
                                      call.feature(variance), call.any(cotangent)});
  return {results[0], results[1], results[2]};
}

}  // namespace rondo
