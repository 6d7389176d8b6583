// Values that nothing reads.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Takes out the ops that only compute a value which nothing reads, such as the next value of a
/// counter that follows from the index of its loop. Linear in the program.
void remove_dead_code(Program& program);

}  // namespace rondo::lower
