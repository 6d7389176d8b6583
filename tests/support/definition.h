// Access to the definitions of lazy tensors.
#pragma once

#include "ir/lazy.h"

namespace rondo::testing {

/// The node that computes a lazy tensor which was not evaluated; any other tensor unchanged.
inline Tensor definition_of(const Tensor& tensor) {
  return ir::is_lazy(tensor.node()) ? tensor.node()->cell->definition() : tensor;
}

}  // namespace rondo::testing
