// Runs of a unit whose buffers all end at inaccessible pages (base/guard_pages.h): a debug mode.
#pragma once

#include "executor/runtime/unit.h"

namespace rondo::executor {

/// The same as unit.run(frame), on copies of the arguments, constants and results.
lower::Status run_guarded(const Unit& unit, lower::RunFrame& frame, Unit::Stopped stopped);

}  // namespace rondo::executor
