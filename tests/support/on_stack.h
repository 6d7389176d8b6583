// Deep programs on a thread whose stack has a known size.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <stdexcept>

namespace rondo::testing {

/// Runs `work` on a stack of so many bytes; rethrows its exception.
inline void on_stack(std::size_t bytes, const std::function<void()>& work) {
  struct Call {
    const std::function<void()>* work;
    std::exception_ptr error;
  } call{&work, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    auto* inside = static_cast<Call*>(argument);
    try {
      (*inside->work)();
    } catch (...) {
      inside->error = std::current_exception();
    }
    return nullptr;
  };
  const int failed = pthread_create(&thread, &attributes, run, &call);
  pthread_attr_destroy(&attributes);
  if (failed != 0) throw std::runtime_error("no thread");
  pthread_join(thread, nullptr);
  if (call.error) std::rethrow_exception(call.error);
}

}  // namespace rondo::testing
