// Indices that are in range, whoever runs the program.
#pragma once

#include "rondo/function.h"

namespace rondo::passes {

/// The same program, at every depth, with a clamp in front of each index that its op clamps itself:
/// XLA's partitioner leaves out an update whose start is out of range along an axis that is split,
/// where one device clamps the start. Constants that are in range stay as they are, and so do
/// indices that drop what they say. Which operands are indices, and of which range, is in the
/// record (OpDef::indices). The same object where nothing changed. The program is in ops that a
/// target has (expand.h), and what comes in is to be expanded once more.
Function clamp_indices(const Function& function);

}  // namespace rondo::passes
