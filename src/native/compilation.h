// All stages of compilation, from a program to its bytes.
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

/// Nothing if there is no native code, as in compile(). `marks_lines`: see MachineCode.
std::optional<Compilation> compilation(const lower::Program& program, const Target* target,
                                       bool marks_lines = false);

}  // namespace rondo::native_code
