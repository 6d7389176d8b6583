// Replaces quotients of integer vectors by constants with products.
#pragma once

#include <optional>

#include "lower/program.h"
#include "native/target.h"

namespace rondo::native_code {

/// The program with quotients and remainders of integers of up to 32 bits by constants, in lanes,
/// as products with the reciprocal in f64; the results are the same. None if the target has vector
/// division for them, or there are no quotients. Without `constants` and `tape_sets`: the code and
/// its runs use those of the program.
std::optional<lower::Program> multiply_quotients(const lower::Program& program,
                                                 const Target& target);

}  // namespace rondo::native_code
