// An identity with dependencies, by which a program computes what only observers need.
#pragma once

#include <vector>

#include "ir/node.h"

namespace rondo::ir {

/// Operand 0, computed after the others. The order of a program follows from its data flow, so an
/// observer that no result needs is an operand of one of these.
extern const OpDef kAfter;

/// `value` after `others`, at the line of the first of these; `value` itself if there are none.
Tensor after(const Tensor& value, const std::vector<Tensor>& others);

/// The value that an observer, or a chain of them, passes on; any other value unchanged.
Tensor value_behind_observers(Tensor value);

}  // namespace rondo::ir
