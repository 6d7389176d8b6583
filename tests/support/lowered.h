// What the compiled executor made of a function, for tests to ask about: its loops, what they run
// in, moves of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "executor/compiled.h"
#include "executor/interchange.h"
#include "lower/program.h"
#include "rondo/rondo.h"
#include "run/executable.h"

namespace rondo::testing {

class Lowered {
 public:
  /// By bytecode, which has the same lower program as native code; `options` may say otherwise.
  explicit Lowered(const Function& function, CompileOptions options = {})
      : executable_(compile(function, in_bytecode(options))),
        compiled_(dynamic_cast<const executor::Compiled&>(*executable_.impl()->prepared)),
        forms_(compiled_.entry().function, options.contract) {}

  const lower::Program& program() const { return *compiled_.entry().program; }

  std::ptrdiff_t count(lower::Opcode code) const {
    return std::ranges::count(program().code, code, &lower::Op::code);
  }
  /// Moves of so many bytes from one place in memory to another.
  std::ptrdiff_t copies(std::int64_t bytes) const {
    return std::ranges::count(program().copies, bytes, &lower::Copy::bytes);
  }
  /// Loops that keep all arrays that they carry in registers, one lane each.
  std::ptrdiff_t loops_in_registers() const {
    return std::ranges::count_if(forms_.loops(), [&](const auto& loop) {
      const executor::Interchange* form = forms_.of(loop.first);
      return form && form->lanes == 1;
    });
  }
  /// Of each loop that is not vectorized, the node that prevents it.
  std::vector<const ir::Node*> obstacles() const {
    std::vector<const ir::Node*> nodes;
    for (const auto& [loop, obstacle] : forms_.loops())
      if (obstacle.node) nodes.push_back(obstacle.node);
    return nodes;
  }
  /// Whether there are loops with a predicate, and all of them are inside lanes.
  bool is_vectorized() const {
    bool has_loops = false;
    int lanes = 0;
    for (const lower::Op& op : program().code) {
      if (op.code == lower::Opcode::kLanes) lanes++;
      if (op.code == lower::Opcode::kEndLanes) lanes--;
      if (op.code != lower::Opcode::kRepeat) continue;
      if (lanes == 0) return false;
      has_loops = true;
    }
    return has_loops;
  }

 private:
  static CompileOptions in_bytecode(CompileOptions options) {
    if (options.executor == Executor::kDefault) options.executor = Executor::kBytecode;
    return options;
  }

  Executable executable_;
  const executor::Compiled& compiled_;
  executor::Interchanges forms_;
};

}  // namespace rondo::testing
