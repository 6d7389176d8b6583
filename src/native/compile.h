// Compiles a program of the lower IR to native code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lower/program.h"
#include "lower/run_frame.h"
#include "native/code_memory.h"
#include "native/debug/gdb_interface.h"
#include "native/debug/observers.h"
#include "native/target.h"

namespace rondo::native_code {

/// A compiled program. Immutable: any number of threads may run it at once.
class NativeCode {
 public:
  /// Runs with the buffers, limits and counters of the frame. If it does not return kDone, the
  /// frame says which loop it left.
  lower::Status run(lower::RunFrame& frame) const;

  /// Bytes of machine code and its constants.
  std::size_t size() const { return block_->size(); }
  /// Adds the object and its code; the program owns the kernels.
  void count_held(HeldBytes& held) const;
  /// The machine code from its entry on.
  std::span<const std::byte> code() const {
    return {static_cast<const std::byte*>(block_->data()) + entry_, block_->size() - entry_};
  }
  const Target& target() const { return *target_; }

 private:
  friend std::unique_ptr<const NativeCode> compile(const lower::Program& program,
                                                   const Target* target,
                                                   const Observers& observers);
  NativeCode() = default;

  std::unique_ptr<CodeBlock> block_;
  std::size_t entry_ = 0;
  std::size_t loops_ = 0;  // with trip counts
  const Target* target_ = nullptr;
  std::vector<std::shared_ptr<const lower::Kernel>> kernels_;  // called by the code
  std::unique_ptr<const GdbRegistration> gdb_;                 // ends before the code
};

/// Null if there is no native code: there is no target or no assembler for it, the process may not
/// have executable memory, or the program's frame would take a large part of a thread's stack.
/// Takes time linear in the program. `observers` are told of the code; they know as much of its
/// lines as the program does (Program::location_of).
std::unique_ptr<const NativeCode> compile(const lower::Program& program,
                                          const Target* target = available_target(),
                                          const Observers& observers = {});

/// The code of compile() as text: for each step of machine code its operation, its registers (or
/// stack slots), and its instructions (of x86-64 in Intel's syntax), each with its offset from the
/// entry, in hexadecimal as the target of a jump is; then the rare paths, and the constants as
/// bytes. Unknown instructions are shown as bytes. For a loop, an index in Program::loops, only the
/// steps from its first to its last; else all. Empty if there is no native code.
std::string disassembly(const lower::Program& program, const Target* target = available_target(),
                        std::uint32_t loop = lower::kNoLoop);

}  // namespace rondo::native_code
