// Large loops of a program in pieces, which several threads run.
#pragma once

#include <memory>

#include "executor/runtime/unit.h"

namespace rondo::executor {

/// The unit with its large loops as calls (lower/passes/divide.h) that share their parts among the
/// threads of the run. Null where no loop gains by that. Loops are cut at places that do not depend
/// on the number of threads, and results have the bits that `whole` gives.
std::unique_ptr<const Unit> in_pieces(const Unit& whole);

}  // namespace rondo::executor
