// Arithmetic on leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "rondo/detail/leaves.h"
#include "rondo/export.h"
#include "rondo/tensor.h"

namespace rondo::detail {

RONDO_API std::vector<Tensor> axpy(const Operand& a, const Leaves& x, const Leaves& y);
RONDO_API Tensor dot_of(const Leaves& x, const Leaves& y, SourceLocation at);
RONDO_API Tensor norm_of(const Leaves& leaves, SourceLocation at);
RONDO_API std::vector<Tensor> full_like(const char* called, const Leaves& leaves,
                                        const Operand& value);
RONDO_API std::vector<Tensor> take_of(const Leaves& leaves, const Operand& index,
                                      std::int64_t axis);

}  // namespace rondo::detail
