// The drivers of derivatives: forward mode, and reverse mode as the transpose of what forward mode
// leaves linear. They walk a program once and call the rules of its records.
#pragma once

#include "ir/derivative.h"

namespace rondo::transforms {

/// The one driver; it has no state.
ir::Derivatives& derivatives();

/// What a function that is linear in `arguments` (nodes made since, which `outputs` were computed
/// from) gives back for cotangents of the outputs. Empty outputs are zero.
std::vector<Tensor> transpose_program(std::span<const Tensor> arguments,
                                      std::span<const Tensor> outputs,
                                      std::span<const Tensor> cotangents);

}  // namespace rondo::transforms
