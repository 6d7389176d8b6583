// Moves the elements of one lane apart, so that those of neighbouring lanes are side by side.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Rearranges places of the arena that only loads and stores use, most of them in lanes, each lane
/// on a row of its own: [trips][lanes][elements] becomes [trips][elements][lanes]. Vectors are then
/// loaded and stored whole, where each lane took a step before: the tapes of loops of a `vmap` over
/// small arrays. Linear in the program, but for places that share memory.
void lay_out_by_lane(Program& program);

}  // namespace rondo::lower
