// Tools that are told of machine code.
#pragma once

#include <string>

namespace rondo::native_code {

struct Observers {
  bool debugger = false;  // gdb (gdb_interface.h)
  bool profiler = false;  // perf (jit_dump.h)
  std::string name = {};  // of the program
  bool any() const { return debugger || profiler; }
};

}  // namespace rondo::native_code
