// Programs on the device of a PJRT plugin.
#pragma once

#include "ir/backend.h"

namespace rondo::pjrt {

/// Prepares a function for CompileOptions::device. The function is any that passes::expand can
/// bring into StableHLO. Throws TraceError for what a plugin cannot do, naming it and its line.
const ir::Backend& backend();

}  // namespace rondo::pjrt
