// Contraction: fuses products with the sums that use them.
#pragma once

#include "rondo/function.h"

namespace rondo::passes {

/// The same program, at every depth, where an f32 or f64 product whose only use is a sum or
/// difference in its own region is fused with it into one op (ops/contracted.h), and constant
/// factors and divisors in a chain (`x * 0.6309 * 4184`, `q * 0.1 / 1.99e7`) become one factor.
/// Neither rounds more often than the code it replaces. A single quotient stays a quotient.
///
/// This is decided here rather than in code generation, because executors generate several forms of
/// a program, which must all compute the same bits.
Function contract(const Function& function);

}  // namespace rondo::passes
