// Contraction: ops in a row as one that rounds once.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Of f32 and f64, where nothing else needs the value between. These become one op each:
///   a * b + c, c - a * b, a * b - c
/// and factors and divisors in a row that are constants, a * 2.5 / 3, become one factor, where that
/// has the type's full precision. What comes of it rounds no more often. It is decided here, above
/// all executors, so that they give the same bits. Linear in the program.
void contract(Program& program);

}  // namespace rondo::lower
