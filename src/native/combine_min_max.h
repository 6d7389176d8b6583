// Selections of the lesser or the greater of two floats as the instructions that do just that.
#pragma once

#include <cstdint>

#include "native/machine_code.h"

namespace rondo::native_code {

/// `bits` of a kMin or kMax of floats that is one instruction: a < b ? a : b, or a > b ? a : b.
inline constexpr std::uint64_t kOneInstruction = 3;

/// - `a < b ? a : b` and its like, of scalars and of lanes, become kMin and kMax with
///   kOneInstruction: of zeros, and where one is NaN, they give b, as the selection does.
/// - What nobody reads is not computed, nor handed on by branches.
void combine_min_max(MachineCode& code);

}  // namespace rondo::native_code
