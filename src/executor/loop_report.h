// How each loop of a program runs, in words.
#pragma once

#include <string>

#include "rondo/function.h"

namespace rondo::executor {

/// A line for each loop of a function, but for those in loops that are interchanged with their
/// lanes: whether its carry stands in registers, whether it is vectorized, or else what keeps it
/// from that and, where there is something, what to do about it. `reorders`: as interchange has it.
std::string loop_report(const Function& function, bool reorders);

}  // namespace rondo::executor
