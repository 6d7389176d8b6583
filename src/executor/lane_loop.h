// Functions for executors whose loops run lane by lane.
#pragma once

#include <optional>

#include "rondo/function.h"

namespace rondo::executor {

/// The function in ops that executors have, and with those of its loops whose lanes stop one by one
/// that can run lane by lane (executor/lane_form.h), at any depth. Nothing where it has no loop
/// whose lanes stop one by one.
std::optional<Function> with_lane_loops(const Function& function);

}  // namespace rondo::executor
