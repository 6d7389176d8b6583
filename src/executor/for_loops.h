// Functions in the ops that executors which write loops have.
#pragma once

#include <optional>

#include "rondo/function.h"

namespace rondo::executor {

/// The function in ops that executors have, for executors that write loops: with those of its loops
/// whose lanes stop one by one that can be interchanged with their lanes (executor/interchange.h),
/// at any depth, and without kernels that are but arithmetic on elements. Branches that each lane
/// takes for itself are loops of at most one trip (ir::LaneLoop::predicated) where they are
/// expensive and can be interchanged with their lanes, else choices between what all lanes compute.
/// Nothing where that is no other function.
std::optional<Function> for_loops(const Function& function);

/// The same without such loops for branches that are around all loops in them: of these a run with
/// limits keeps the state, which is that of all lanes. Nothing where there are none.
std::optional<Function> with_loops_outermost(Function function);

}  // namespace rondo::executor
