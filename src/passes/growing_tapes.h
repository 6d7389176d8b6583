// Programs for targets where no array grows while a program runs: texts, and what reads them.
#pragma once

#include "rondo/function.h"

namespace rondo::passes {

/// The same program, in which loops that may make no trip (ir::Residuals::may_make_none) make none,
/// and so keep nothing on tapes: they are gone, as are the loops that would read these tapes, where
/// they can be told. The same object where there are no such loops.
///
/// What a loop leaves is done by another one, which stands in the same function and begins where
/// the first one ended; and whatever reads a tape makes as many trips as the loop that wrote it
/// says it made. So the results are those of the program that it is given, up to rounding.
Function without_growing_tapes(const Function& function);

}  // namespace rondo::passes
