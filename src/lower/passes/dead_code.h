// Dead code elimination.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Removes ops whose only effect is an unused value, such as the next value of a counter that is
/// computed from the index of its loop; stores to memory of the program that nothing reads, such as
/// arrays of one value that loops take as a number; and loops over elements in which nothing is
/// left. Linear in the program.
void remove_dead_code(Program& program);

}  // namespace rondo::lower
