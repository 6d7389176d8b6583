// Threads that run for the lifetime of the process.
#pragma once

#include <functional>

namespace rondo {

/// Runs `work` on a thread that is never joined, and that leaves signals to the threads of the
/// program. Throws std::system_error if the system starts no more threads.
void start_detached(std::function<void()> work);

}  // namespace rondo
