// Splits large loops of a program into parts, which several threads run.
#pragma once

#include <memory>

#include "executor/runtime/unit.h"

namespace rondo::executor {

/// The unit with its large loops as calls (lower/passes/divide.h) that distribute their parts over
/// the threads of the run. Null if no loop gains by that. Loops are split at places that do not
/// depend on the number of threads, and results have the bits that `whole` gives.
std::unique_ptr<const Unit> in_pieces(const Unit& whole);

}  // namespace rondo::executor
