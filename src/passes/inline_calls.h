// Replaces calls of functions by what the functions compute.
#pragma once

#include "rondo/function.h"

namespace rondo::passes {

/// The same program with the functions of its calls (Flow::kCall) inlined: all of them if the
/// program stays small, so that every pass and every loop sees through them. Otherwise those that
/// are called once, are small themselves or hold observers; executors run the others as programs of
/// their own. Returns the same object if it has no calls. Linear in the size of what it returns.
Function inline_calls(const Function& function);

}  // namespace rondo::passes
