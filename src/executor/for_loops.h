// Functions in the ops that executors which write loops have.
#pragma once

#include <optional>

#include "rondo/function.h"

namespace rondo::executor {

/// The function in ops that executors have, for executors that write loops: with those of its loops
/// whose lanes stop one by one that can run lane by lane (executor/lane_form.h), at any depth, and
/// without kernels that are but arithmetic on elements. Nothing where that is no other function.
std::optional<Function> for_loops(const Function& function);

}  // namespace rondo::executor
