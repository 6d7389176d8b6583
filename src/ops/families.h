// The records of this folder. Those of elementwise ops are in lists at the ends of their files, so
// that a new one is named in one file only.
#pragma once

#include <span>
#include <vector>

#include "ir/node.h"

namespace rondo::ops {

/// All records, each once: those of arrays, and the families of elementwise ops.
std::vector<std::span<const ir::OpDef* const>> record_families();

std::span<const ir::OpDef* const> arithmetic_records();
std::span<const ir::OpDef* const> bit_records();
std::span<const ir::OpDef* const> comparison_records();
std::span<const ir::OpDef* const> complex_records();
std::span<const ir::OpDef* const> contracted_records();
std::span<const ir::OpDef* const> conversion_records();
std::span<const ir::OpDef* const> erf_inv_records();
std::span<const ir::OpDef* const> exponential_records();
std::span<const ir::OpDef* const> incomplete_records();
std::span<const ir::OpDef* const> select_records();
std::span<const ir::OpDef* const> special_records();
std::span<const ir::OpDef* const> trigonometric_records();

}  // namespace rondo::ops
