// Clamps that keep indices in range on any target.
#pragma once

#include "rondo/function.h"

namespace rondo::passes {

/// The same program, at every depth, with a clamp before each index that its op clamps itself.
/// XLA's partitioner drops an update whose start is out of range along a split axis, where one
/// device clamps the start. Constants in range are unchanged, and so are indices that drop elements
/// out of range. The record says which operands are indices, and of which range
/// (OpStructure::indices). Returns the same object if nothing changed. The program consists of ops
/// that a target has (expand.h), and the clamps must be expanded in turn.
Function clamp_indices(const Function& function);

}  // namespace rondo::passes
