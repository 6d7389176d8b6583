// Loops that a text has as a while and that count: the fori_loop or scan that they were written as.
#pragma once

#include <vector>

#include "ir/node.h"

namespace rondo::control_flow {

/// The results of a while. If it counts (ir::counts), those of a loop that does the same: a scan if
/// the counter does nothing but choose slices of arrays, from the first to the last or the other
/// way, and rows that are written; else a fori_loop. Otherwise those of the node itself.
std::vector<Tensor> read_counted(const ir::Node& loop);

}  // namespace rondo::control_flow
