// The string of einsum.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/functions/helpers.h"

namespace rondo::ops {

/// An axis of einsum: a letter, or an axis of `...`, which is -1 for the last one, -2 for the one
/// before, and so on.
using EinsumAxis = int;
/// `j`, or `axis -1 of ...`.
std::string einsum_axis_name(EinsumAxis axis);

/// The axes of each operand, and those of the result.
struct EinsumAxes {
  std::vector<std::vector<EinsumAxis>> operands;
  std::vector<EinsumAxis> result;
};
/// Throws TraceError unless the spec is well-formed and has a term for each operand, with an axis
/// for each of its axes.
EinsumAxes einsum_axes(const Helper& helper, std::string_view spec,
                       const std::vector<Tensor>& operands);

}  // namespace rondo::ops
