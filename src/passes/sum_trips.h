// Products that a loop only adds up, as one product after it.
#pragma once

#include "passes/trips.h"
#include "rondo/function.h"

namespace rondo::passes {

/// In loops of known length, at any depth: a carry that is only added to, where a term is a product
/// of values that differ by trip (or a transpose of one, or another linear op of one operand), gets
/// the sum of the products of all trips after the loop, as one product whose sums run over the
/// trips too (OpDef::batch_sum): dW += x_t' d_t, as the gradient of a recurrent network has it. The
/// factors that are not slices of xs or ys become ys. A product that uses each element of its sum
/// often in each trip stays.
///
/// Where no other loop is around, a carry to which other terms are added as well stays as it is.
///
/// The terms of the sums are added up in another order then, and the carry within the loop is not
/// the sum so far. With `keeps_states` a loop that no other is around keeps it beside, trip by
/// trip, since it is part of what a run that is ended leaves; what the loop gives is the same bits.
Function sum_trips(const Function& function, BatchingFor batching, bool keeps_states = false);

}  // namespace rondo::passes
