// Everything that looks at one node at a time, in one walk: folding, identities, decided control
// flow and common subexpressions.
#pragma once

#include "ir/structure.h"
#include "passes/rewrite.h"

namespace rondo::passes {

/// One function, not its regions.
Function simplify_function(const Function& function, ir::StructureTable& structures);

}  // namespace rondo::passes
