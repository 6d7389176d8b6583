// optimization_barrier: what no rewrite looks through.
#pragma once

#include <vector>

#include "ir/node.h"

namespace rondo::ops {

/// Identities: any number of operands, as many results. What stands behind one is recomputed rather
/// than kept.
extern const ir::OpDef kOptimizationBarrier;
/// Several values behind one barrier.
std::vector<Tensor> optimization_barrier(std::vector<Tensor> values);

}  // namespace rondo::ops
