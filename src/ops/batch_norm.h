// Normalization of batches, as HLO and StableHLO have it: by the mean and the variance of each
// feature, over all axes but one.
#pragma once

#include <cstdint>

#include "ops/support.h"

namespace rondo::ops {

struct BatchNormAttributes {
  float epsilon;
  std::int64_t feature_axis;
  bool operator==(const BatchNormAttributes&) const = default;
};

/// x, scale, offset -> y, mean, variance.
extern const ir::OpDef kBatchNormTraining;
/// x, scale, offset, mean, variance -> y.
extern const ir::OpDef kBatchNormInference;
/// x, scale, mean, variance, the cotangent of y -> the cotangents of x, scale and offset.
extern const ir::OpDef kBatchNormGrad;

}  // namespace rondo::ops
