// optimization_barrier: no rewrite crosses it.
#pragma once

#include <vector>

#include "ir/node.h"

namespace rondo::ops {

/// Identities: any number of operands, as many results. A value after a barrier is recomputed
/// rather than kept.
extern const ir::OpDef kOptimizationBarrier;
/// Several values after one barrier.
std::vector<Tensor> optimization_barrier(std::vector<Tensor> values, SourceLocation at = {});

}  // namespace rondo::ops
