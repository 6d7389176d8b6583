// Selects in lanes, a side of which takes many ops that nothing else needs.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// What is computed for one side of selects by one predicate alone, and expensive, goes into a
/// while of at most one trip (While::predicated), which the lanes make that choose it. Blocks of
/// lanes of which none does leave it out. Values stay what they are, bit by bit.
void select_to_branch(Program& program);

}  // namespace rondo::lower
