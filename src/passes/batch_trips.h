// Products that a loop computes on each trip from what it reads, computed for all trips at once.
#pragma once

#include "passes/trips.h"
#include "rondo/function.h"

namespace rondo::passes {

/// In loops of known length, at any depth: a product (heavy, and linear in each factor) of a factor
/// that is equal on every trip and one that is computed from slices of xs, the index and invariants
/// becomes one product for all trips before the loop, which reads its slices. The ops that lead
/// from the slices to such a product are batched with it, by the rules of the records. What depends
/// on a carry stays, and so do inner loops, branches, observers, small products, which are fast
/// within the loop, and products that use the shared factor often on each trip.
///
/// This may change the order in which the terms of a sum are added: kernels choose it by the sizes
/// of the product.
Function batch_trips(const Function& function, BatchingFor batching);

}  // namespace rondo::passes
