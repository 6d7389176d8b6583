// Products that a loop only sums up, as one product after the loop.
#pragma once

#include "passes/trips.h"
#include "rondo/function.h"

namespace rondo::passes {

/// In loops of known length, at any depth: a carry that is only added to, where a term is a product
/// of values that differ by trip (or a transpose of one, or another linear op of one operand), gets
/// the sum of the products of all trips after the loop, as one product that also contracts over the
/// trips (OpBatching::sum): dW += x_t' d_t, as in the gradient of a recurrent network. Factors
/// that are not slices of xs or ys become ys. A product that uses each element of its sum often in
/// each trip stays.
///
/// In an outermost loop, a carry to which other terms are added as well is left unchanged.
///
/// This changes the order in which the terms of the sums are added, and the carry within the loop
/// is no longer the sum so far. With `keeps_states`, an outermost loop also keeps that sum, trip by
/// trip, because it is part of the state that a stopped run returns; the results of the loop have
/// the same bits.
Function sum_trips(const Function& function, BatchingFor batching, bool keeps_states = false);

}  // namespace rondo::passes
