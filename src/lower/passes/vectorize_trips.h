// Vectorizes counted loops over single elements.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Makes the trips of a counted loop lanes where they do not wait for one another: an element that
/// a trip stores is no other trip's, by the addresses, and each carry is the same in all trips, an
/// induction variable, or a reduction in any order. Branches become selects. The loop is innermost.
/// Where it looks at the limits of a run, it does so between chunks of trips.
void vectorize_trips(Program& program);

}  // namespace rondo::lower
