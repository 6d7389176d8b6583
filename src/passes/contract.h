// Products as one op with the sums that need them.
#pragma once

#include "rondo/function.h"

namespace rondo::passes {

/// The same program, at every depth, where an f32 or f64 product that one sum or difference of its
/// own region needs, and nothing else, is one op with it (ops/contracted.h), and constant factors
/// and divisors in a row (`x * 0.6309 * 4184`, `q * 0.1 / 1.99e7`) are one factor. Neither rounds
/// more often than what it replaces; a quotient alone stays one.
///
/// It is decided here, and not where code is written, since executors write a program in several
/// forms, all of which are to have the same bits.
Function contract(const Function& function);

}  // namespace rondo::passes
