// The elementwise records, by family. Each list stands in the file of its records, so that a new op
// is named in one file only.
#pragma once

#include <span>

#include "ir/record.h"

namespace rondo::ops {

std::span<const ir::OpDef* const> arithmetic_records();
std::span<const ir::OpDef* const> bit_records();
std::span<const ir::OpDef* const> comparison_records();
std::span<const ir::OpDef* const> complex_records();
std::span<const ir::OpDef* const> conversion_records();
std::span<const ir::OpDef* const> erf_inv_records();
std::span<const ir::OpDef* const> exponential_records();
std::span<const ir::OpDef* const> select_records();
std::span<const ir::OpDef* const> slope_records();
std::span<const ir::OpDef* const> trigonometric_records();

}  // namespace rondo::ops
