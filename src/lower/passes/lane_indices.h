// Indices of the accesses of lanes that are not side by side.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Writes the address of each access in lanes with at most one index that varies by lane, as
/// gathers and scatters take one: row i and column j of a matrix are i * columns + j. The index is
/// computed in 32 bits where its values fit, so that a vector holds twice as many. Linear in the
/// program.
void combine_lane_indices(Program& program);

}  // namespace rondo::lower
