// Every step from a program to its bytes, with what comes before them.
#pragma once

#include <optional>

#include "lower/program.h"
#include "native/allocate.h"
#include "native/live_ranges.h"
#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code {

struct Compilation {
  MachineCode code = {};
  LiveRanges ranges = {};
  Allocation allocation = {};
  Assembled assembled = {};
};

/// None where there is no native code, as compile() says.
std::optional<Compilation> compilation(const lower::Program& program, const Target* target);

}  // namespace rondo::native_code
