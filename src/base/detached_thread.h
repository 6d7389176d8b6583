// Threads that serve the process as long as it lives.
#pragma once

#include <functional>

namespace rondo {

/// Runs `work` on a thread that nobody waits for, and that leaves signals to the threads of the
/// program. Throws std::system_error where the system starts no more threads.
void start_detached(std::function<void()> work);

}  // namespace rondo
