// Registers machine code with gdb by its JIT interface (Debugging with GDB, chapter "JIT
// Compilation Interface"): a list of object files in memory, and a function in which gdb has a
// breakpoint.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace rondo::native_code {

/// An object file that gdb knows until this is destroyed.
class GdbRegistration {
 public:
  /// Thread safe, as is the destructor.
  explicit GdbRegistration(std::vector<std::byte> object_file);
  ~GdbRegistration();
  GdbRegistration(const GdbRegistration&) = delete;
  GdbRegistration& operator=(const GdbRegistration&) = delete;

  std::size_t bytes() const { return object_file_.size(); }

 private:
  struct Entry;
  std::vector<std::byte> object_file_;
  std::unique_ptr<Entry> entry_;
};

}  // namespace rondo::native_code
