#include "base/stack.h"

#include <cstdint>

#if defined(__GLIBC__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace rondo {

namespace {

/// The end of this thread's stack, which grows down; 0 if the system does not tell.
std::uintptr_t stack_end() {
#if defined(__GLIBC__)
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  return known ? reinterpret_cast<std::uintptr_t>(lowest) : 0;
#elif defined(__APPLE__)
  const pthread_t self = pthread_self();
  return reinterpret_cast<std::uintptr_t>(pthread_get_stackaddr_np(self)) -
         pthread_get_stacksize_np(self);
#else
  return 0;
#endif
}

}  // namespace

std::size_t stack_left() {
  thread_local const std::uintptr_t end = stack_end();
#if defined(__GNUC__)
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (end != 0) return here > end ? here - end : 0;
#endif
  return SIZE_MAX;
}

}  // namespace rondo
