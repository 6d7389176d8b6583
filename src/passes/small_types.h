// Programs on small dtypes (is_small) as programs on the bytes that store them.
#pragma once

#include "rondo/function.h"

namespace rondo::passes {

/// The same program where each value of a small dtype is its bytes, an s8 or u8 of the same shape.
/// Ops that copy elements copy bytes; others take numbers in the dtype that has them
/// (computing_dtype), and their results are rounded or wrapped, at each step of a loop and of a
/// reduction. So no executor knows these dtypes. Parameters and results are bytes too. Returns the
/// same function if it has no small dtype at any depth.
Function on_bytes(const Function& function);

}  // namespace rondo::passes
