// The passes that keep loops loops, in the order in which they help one another.
#pragma once

#include "rondo/function.h"

namespace rondo::passes {

/// A program with the same results that does less: dead code gone, common subexpressions once,
/// constants folded, invariants out of the loops. The same object where nothing changed.
Function optimize(const Function& function);

/// The same while a program is traced, as derivatives do level by level: a run of the whole with
/// RunOptions::check_bounds finds the indices that the program as it was written uses.
Function optimize_traced(const Function& function);

}  // namespace rondo::passes
