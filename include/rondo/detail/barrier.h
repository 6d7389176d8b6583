// A barrier to optimization, on leaves.
#pragma once

#include <vector>

#include "rondo/error.h"
#include "rondo/export.h"
#include "rondo/tensor.h"

namespace rondo::detail {

RONDO_API std::vector<Tensor> optimization_barrier(std::vector<Tensor> values, SourceLocation at);

}  // namespace rondo::detail
