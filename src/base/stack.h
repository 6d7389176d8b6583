// How much deeper this thread may call.
#pragma once

#include <cstddef>

namespace rondo {

/// The bytes left on this thread's stack; SIZE_MAX if the system does not tell.
std::size_t stack_left();

}  // namespace rondo
