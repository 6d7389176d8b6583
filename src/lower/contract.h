// Contraction: a multiplication and an addition as one op that rounds once.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Writes `a * b + c`, `c - a * b` and `a * b - c` as one op, for f32 and f64, where nothing else
/// needs the product. It is decided here, above all executors, so that they give the same bits.
/// Linear in the program.
void contract(Program& program);

}  // namespace rondo::lower
