// Reports, in words, how each loop of a program runs.
#pragma once

#include <string>

#include "lower/program.h"
#include "rondo/function.h"

namespace rondo::executor {

/// A line for each loop of a function, except those in loops that are interchanged with their
/// lanes: whether its carry is in registers, whether it is vectorized, or else what prevents that
/// and, if there is one, the remedy. `program` is what the function was lowered to; `reorders`: as
/// in interchange().
std::string loop_report(const Function& function, const lower::Program& program, bool reorders);

}  // namespace rondo::executor
