// How deep this thread may still call.
#pragma once

#include <cstddef>

namespace rondo {

/// Bytes of this thread's stack that are left; SIZE_MAX where the system does not say.
std::size_t stack_left();

}  // namespace rondo
