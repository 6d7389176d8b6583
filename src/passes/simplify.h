// All rules that look at one node at a time, in one walk: folding, identities, known control flow
// and common subexpressions.
#pragma once

#include "ir/structure.h"
#include "passes/rewrite.h"

namespace rondo::passes {

/// Simplifies one function, not its regions.
Function simplify_function(const Function& function, ir::StructureTable& structures);

}  // namespace rondo::passes
