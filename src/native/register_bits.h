// Constants as registers hold them.
#pragma once

#include <cstdint>

#include "lower/program.h"

namespace rondo::native_code {

/// The bits of a scalar constant in its register: f16 and bf16 as f32, signed integers of fewer
/// than 32 bits extended to 32.
std::uint64_t register_bits(lower::Type type, std::uint64_t bits);

}  // namespace rondo::native_code
