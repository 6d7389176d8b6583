// Programs for targets without growing arrays: texts, and their readers.
#pragma once

#include "rondo/function.h"

namespace rondo::passes {

/// The same program, in which loops that may make no trip (ir::Residuals::may_make_none) make none
/// and so keep nothing on tapes. They are removed, and so are the loops that would read these
/// tapes, if they can be identified. Returns the same object if there are no such loops.
///
/// The remaining trips are made by another loop, which is in the same function and starts where the
/// first one ended. Whatever reads a tape makes as many trips as the loop that wrote it reports. So
/// the results are those of the given program, up to rounding.
Function without_growing_tapes(const Function& function);

}  // namespace rondo::passes
