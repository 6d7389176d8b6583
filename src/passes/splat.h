// Arrays whose elements are known to be all the same.
#pragma once

#include "ir/node.h"

namespace rondo::passes {

enum class SplatValue {
  kZero,          // of floats +0
  kNegativeZero,  // floats only
  kOne,           // of pred: true
  kAllOnes,       // every bit: -1, the largest unsigned, true
};

/// Is every element this value? Sees scalar and small constants, and broadcasts and reshapes of
/// them. Complex numbers are this value when their real part is and their imaginary part is +0 (of
/// kNegativeZero: -0).
bool is_splat(const Tensor& tensor, SplatValue value);

/// The scalar or small constant whose broadcast or reshape this is, possibly itself; empty for
/// other tensors.
Tensor splat_source(const Tensor& tensor);

}  // namespace rondo::passes
