// Dead code elimination.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Removes ops whose only effect is an unused value, such as the next value of a counter that is
/// computed from the index of its loop. Linear in the program.
void remove_dead_code(Program& program);

}  // namespace rondo::lower
