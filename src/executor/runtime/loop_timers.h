// Timers around the loops of a program, for runs that measure a profile.
#pragma once

#include "lower/program.h"

namespace rondo::executor {

/// Puts calls before and after each loop of the user's, and each loop over lanes that holds some:
/// they begin and end it in the run's TimeTree. The last step before a program becomes code, so
/// that no pass sees them. Linear in the program.
void add_loop_timers(lower::Program& program);

}  // namespace rondo::executor
