// The portable way to run a lower program: instructions that are calls of small functions, on
// registers in memory. Code in lanes runs block by block; a register then holds a block.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bytecode/instruction.h"
#include "lower/program.h"
#include "lower/run_frame.h"

namespace rondo::bytecode {

/// A prepared program. Immutable: it runs on many threads at once.
class Code {
 public:
  explicit Code(std::shared_ptr<const lower::Program> program);

  /// Bytes of the registers, which a run needs beside the program's arena.
  std::int64_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// `workspace` is aligned to 64 bytes.
  lower::Status run(lower::RunFrame& frame, std::byte* workspace) const noexcept;
  /// Adds the object and what it holds beside the program.
  void count_held(HeldBytes& held) const;

 private:
  friend class Decoder;
  std::shared_ptr<const lower::Program> program_;
  std::vector<Instruction> code_;
  std::vector<Access> accesses_;
  std::vector<Term> terms_;
  std::vector<Move> moves_;
  std::vector<Reduction> reductions_;
  std::vector<Reported> reported_;
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace rondo::bytecode
