// A value that comes after others: how a program computes what only the outside sees.
#pragma once

#include <vector>

#include "ir/node.h"

namespace rondo::ir {

/// Operand 0, once the others are computed. The order of a program is that of its data: what
/// reports, though no result needs it, is an operand of one of these.
extern const OpDef kAfter;

/// `value` after `others`, at the line of the first of these; `value` where there are none.
Tensor after(const Tensor& value, const std::vector<Tensor>& others);

/// What an observer, or a chain of them, passes on; any other value as it is.
Tensor value_behind_observers(Tensor value);

}  // namespace rondo::ir
