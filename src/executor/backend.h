// The compiled executor: programs as loops over buffers.
#pragma once

#include "ir/backend.h"

namespace rondo::executor {

/// Runs what it compiles as bytecode, on any machine. Prepares null for a program that it cannot
/// express; `why_not` says why.
const ir::Backend& bytecode_backend();

/// The same as native code, if this machine supports it.
const ir::Backend& compiled_backend();

}  // namespace rondo::executor
