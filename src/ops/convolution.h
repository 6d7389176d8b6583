// The record of convolutions.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/support.h"
#include "rondo/ops/windows.h"

namespace rondo::ir {
class AttributeCodec;
}  // namespace rondo::ir

namespace rondo::ops {

/// ConvDims with an entry for each spatial axis in every list, and the layout as axes: of x and of
/// the result (batch, feature, spatial ...), of the kernel (input feature, output feature, spatial
/// ...). Operands: x, kernel.
struct ConvolutionAttributes {
  std::vector<std::int64_t> strides;
  std::vector<std::pair<std::int64_t, std::int64_t>> padding;
  std::vector<std::int64_t> lhs_dilation, rhs_dilation;
  std::int64_t feature_groups = 1, batch_groups = 1;
  std::vector<std::int64_t> lhs, rhs, out;
  bool operator==(const ConvolutionAttributes&) const = default;
};
extern const ir::OpDef kConvolution;

/// The attributes for a kernel of `rank` axes. Throws TraceError unless the layout names the axes
/// of all three arrays, and unless each list has an entry for each spatial axis or none.
ConvolutionAttributes convolution_attributes(const ConvDims& dims, std::int64_t rank,
                                             SourceLocation at);
/// The window over the spatial axes of x, whose sizes are those of the kernel.
WindowDims spatial_window(const ConvolutionAttributes& attributes, const TensorType& kernel);

void describe_convolution(ir::AttributeCodec& codec, ConvolutionAttributes& attributes);

std::unique_ptr<ir::Kernel> prepare_convolution(const Node& node);
// convolution_in_loops.cc
std::vector<Tensor> convolution_in_loops(const Node& node, std::span<const Tensor> operands);

}  // namespace rondo::ops
