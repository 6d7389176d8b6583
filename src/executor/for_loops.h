// Expands functions into the ops of executors that write loops.
#pragma once

#include <optional>

#include "rondo/function.h"

namespace rondo::executor {

/// The function in executor ops, for executors that write loops: those of its loops whose lanes
/// stop one by one are kept, at any depth, if they can be interchanged with their lanes
/// (executor/interchange.h), and kernels that are only arithmetic on elements are expanded.
/// Branches taken per lane become loops of at most one trip (ir::LaneLoop::predicated) if they are
/// expensive and can be interchanged with their lanes, else selects between what all lanes compute.
/// Nothing if the function would not change.
std::optional<Function> for_loops(const Function& function);

/// The same for code that calls no kernels, on any machine: they are expanded as well, except where
/// no rule says how, observers, and products of matrices that loops compute.
Function for_loops_alone(const Function& function);

/// The same, but branches that enclose all loops inside them do not become such loops: a run with
/// limits keeps the state of those loops, which is that of all lanes. Nothing if there are none.
std::optional<Function> with_loops_outermost(Function function);

}  // namespace rondo::executor
