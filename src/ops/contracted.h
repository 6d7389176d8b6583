// Sums and differences of a product and another value that are rounded once, as one op each:
// passes/contract makes them for executors which have such an instruction.
#pragma once

#include "ir/node.h"

namespace rondo::ops {

/// a b + c, a b - c and c - a b on operands a, b, c of one shape; f32 and f64.
extern const ir::OpDef kMultiplyAdd, kMultiplySubtract, kNegatedMultiplyAdd;

}  // namespace rondo::ops
