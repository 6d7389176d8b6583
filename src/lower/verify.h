// A checker of the lower IR: what every back end relies on.
#pragma once

#include <string>

#include "lower/program.h"

namespace rondo::lower {

/// What is wrong with a program, and at which op; empty where nothing is:
/// - constructs are nested, and each entry of their tables belongs to one op;
/// - a value is defined once, before each use and in a construct that is open there;
/// - operands, carries and results have the types that the opcode asks for;
/// - lanes hold no lanes, calls, copies or tapes, and no branch by a value that differs by lane;
/// - addresses whose indices have bounds that are known (constants, loop indices, what is clamped)
///   stay in their buffer, and buffers in the arena.
/// Takes time linear in the program.
std::string verify(const Program& program);

}  // namespace rondo::lower
