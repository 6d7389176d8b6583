// Transforms under an EagerScope.
#pragma once

#include <utility>
#include <vector>

#include "control_flow/carry.h"
#include "control_flow/eager.h"
#include "ir/lazy.h"

namespace rondo::transforms {

/// Under an EagerScope the results of a transform are computed at once, like everything else.
inline void compute_if_eager(std::vector<Tensor>& values, SourceLocation at) {
  if (!ir::eager_active() || ir::depends_on_trace(values)) return;
  control_flow::Leaves leaves{std::move(values), {}};
  control_flow::evaluate_all(leaves, at);
  values = std::move(leaves.values);
}

}  // namespace rondo::transforms
