// Everything that looks at one node at a time, in one walk: folding, identities, decided control
// flow and common subexpressions.
#pragma once

#include "passes/rewrite.h"
#include "passes/structure.h"

namespace rondo::passes {

/// One function, not its regions.
Function simplify_function(const Function& function, StructureTable& structures,
                           RegionFacts& facts);

}  // namespace rondo::passes
