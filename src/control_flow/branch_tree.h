// A conditional whose branches capture different values, as a tree of conditionals.
#pragma once

#include <vector>

#include "control_flow/region_trace.h"

namespace rondo::control_flow {

/// The conditional that runs region `selector` (s32, within the regions; or a pred) on `arguments`.
///
/// All regions of a node take the same parameters, so n branches with one capture each would have
/// n² of them. If most parameters would be unused, the result is a tree of conditionals that halve
/// the branches, with n log n parameters.
std::vector<Tensor> make_conditional(const Tensor& selector, std::vector<Tensor> arguments,
                                     const std::string& name, std::vector<ir::OpenRegion> regions,
                                     SourceLocation at);

}  // namespace rondo::control_flow
