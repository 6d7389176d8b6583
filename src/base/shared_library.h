// Libraries that are loaded on first use.
#pragma once

#include <dlfcn.h>

namespace rondo {

/// A shared library by its name, as the system finds it, loaded for the rest of the process. A
/// missing library has no symbols.
class SharedLibrary {
 public:
  explicit SharedLibrary(const char* name) noexcept
      : library_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}

  /// A function of the library; null if there is none of this name.
  template <class F>
  F symbol(const char* name) const noexcept {
    return library_ ? reinterpret_cast<F>(dlsym(library_, name)) : nullptr;
  }

 private:
  void* library_;
};

}  // namespace rondo
