// Arrays whose elements are known to be all equal.
#pragma once

#include "ir/node.h"

namespace rondo::passes {

enum class SplatValue {
  kZero,          // of floats +0
  kNegativeZero,  // floats only
  kOne,           // of pred: true
  kAllOnes,       // every bit: -1, the largest unsigned, true
};

/// Whether every element is this value. Recognizes scalar and small constants, and broadcasts and
/// reshapes of them. A complex number has this value if its real part does and its imaginary part
/// is +0 (for kNegativeZero: -0).
bool is_splat(const Tensor& tensor, SplatValue value);

/// The scalar or small constant whose broadcast or reshape this is, possibly itself; empty for
/// other tensors.
Tensor splat_source(const Tensor& tensor);

}  // namespace rondo::passes
