// Products that a loop computes for each trip of what it reads, for all trips at once.
#pragma once

#include "passes/trips.h"
#include "rondo/function.h"

namespace rondo::passes {

/// In loops of known length, at any depth: a product (heavy, and linear in each factor) of a factor
/// that is the same in every trip and one that follows from the slices of xs, the index and
/// invariants is one product of all trips before the loop, which reads its slices. What leads from
/// the slices to such a product is batched with it, by the rules of the records. What depends on a
/// carry stays, and so do inner loops, branches, what is seen from outside, small products, which
/// are fast within the loop, and those that use the shared factor often in each trip.
///
/// The terms of a sum may be added up in another order then: kernels choose it by the sizes of the
/// product.
Function batch_trips(const Function& function, BatchingFor batching);

}  // namespace rondo::passes
