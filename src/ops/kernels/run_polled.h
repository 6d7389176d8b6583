// Work of a library that cannot be interrupted.
#pragma once

#include <functional>

#include "ir/kernel.h"

namespace rondo::ops {

/// Runs `work` on another thread while this one polls the host. If that ends the run, this throws
/// at once, while the thread goes on to the end of the work; so `work` must own all that it uses.
/// The process does not exit before that end. `work` must not throw.
void run_polled(std::function<void()> work, ir::Host& host);

}  // namespace rondo::ops
