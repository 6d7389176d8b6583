// The pass pipeline, which keeps loops as loops.
#pragma once

#include "rondo/function.h"

namespace rondo::passes {

/// A program with the same results that does less work: dead code eliminated, common subexpressions
/// merged, constants folded, invariants hoisted. Returns the same object if nothing changed.
Function optimize(const Function& function);

/// The same for a program that is still being traced, as in derivatives, level by level: running
/// the whole with RunOptions::check_bounds checks the indices that the program uses as it was
/// written.
Function optimize_traced(const Function& function);

}  // namespace rondo::passes
