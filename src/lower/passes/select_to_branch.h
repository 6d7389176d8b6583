// Turns selects in lanes into branches if one side takes many ops that nothing else needs.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Expensive ops that only one side of selects by one predicate needs go into a while of at most
/// one trip (While::predicated), run by the lanes that choose that side. Blocks of lanes skip it if
/// none does. Values keep their bits.
void select_to_branch(Program& program);

}  // namespace rondo::lower
