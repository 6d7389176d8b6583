// Vectorizes counted loops over single elements.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Makes the trips of a counted loop lanes where they do not wait for one another: an element that
/// a trip stores is no other trip's, by the addresses, or only one that trips before it load; and
/// each carry is the same in all trips, a counter, or a reduction in any order. Branches become
/// selects. Innermost loops come first; a loop around one that is no lanes may be, if runs of it
/// need not look at limits. Others do so between chunks of trips.
void vectorize_trips(Program& program);

}  // namespace rondo::lower
