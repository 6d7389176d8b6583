// Queries on the compiled executor's program for a function, for tests: its loops, where they run,
// calls of kernels, moves of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <vector>

#include "executor/compiled.h"
#include "executor/interchange.h"
#include "lower/program.h"
#include "native/steps.h"
#include "rondo/rondo.h"
#include "run/executable.h"

namespace rondo::testing {

class Lowered {
 public:
  /// For bytecode, which has the same lower program as native code, unless `options` say otherwise.
  /// Throws std::bad_cast if the function runs on the reference.
  explicit Lowered(const Function& function, CompileOptions options = {})
      : executable_(compile(function, in_bytecode(options))),
        compiled_(dynamic_cast<const executor::Compiled&>(*executable_.impl()->plain.prepared)),
        forms_(compiled_.entry().function, options.contract) {}

  const lower::Program& program() const { return *compiled_.entry().program; }

  /// Bytes of arrays beside arguments, results and constants.
  std::int64_t arena_bytes() const { return program().arena_bytes; }

  // Ops of the lower program.

  std::size_t ops() const { return program().code.size(); }
  /// Ops of one kind, including kRepeat for loops with a predicate, kFor for counted loops and
  /// kLanes for loops over lanes.
  std::ptrdiff_t count(lower::Opcode code) const {
    return std::ranges::count(program().code, code, &lower::Op::code);
  }
  /// Those inside a loop or branch of kind `around`, at any depth: kIf is the first side of a
  /// branch, kElse the other one.
  std::ptrdiff_t count_inside(lower::Opcode around, lower::Opcode code) const;
  /// Whether an op starts a loop of the function, whose trips a run counts.
  bool begins_loop(const lower::Op& op) const;
  /// Those inside a loop of the function.
  std::ptrdiff_t count_in_loops(lower::Opcode code) const;
  /// Those before the first loop of the function.
  std::ptrdiff_t count_before_loops(lower::Opcode code) const;
  /// Loads from buffers of this kind.
  std::ptrdiff_t loads_from(lower::Storage storage) const;
  /// For loads and stores in loops of the function inside lanes: the stride in bytes between
  /// adjacent lanes, unless it is 0.
  std::vector<std::int64_t> lane_strides() const;
  /// Loads in lanes.
  struct LaneLoads {
    std::ptrdiff_t gathered = 0;  // at places that each lane computes
    std::ptrdiff_t in_order = 0;  // at sums of the lane and of what all lanes share
  };
  LaneLoads loads_in_lanes() const;
  /// The number of lanes of each loop over elements, in program order; 0 if a run finds it.
  std::vector<std::int64_t> lanes_of_elements() const;
  /// Copies of this many bytes within memory.
  std::ptrdiff_t copies(std::int64_t bytes) const {
    return count_if(lower::Opcode::kCopy, &lower::Program::copies,
                    [&](const lower::Copy& copy) { return copy.bytes == bytes; });
  }
  /// Pointers to memory that loops exchange for others on each trip: of arrays whose next value is
  /// not written where they are.
  std::ptrdiff_t exchanged_pointers() const;
  /// Calls of the kernels of all ops.
  std::ptrdiff_t kernel_calls() const { return count(lower::Opcode::kCall); }
  /// Calls of one op's kernels.
  std::ptrdiff_t kernel_calls(std::string_view op) const {
    return count_if(lower::Opcode::kCall, &lower::Program::calls,
                    [&](const lower::Call& call) { return call.name == op; });
  }
  /// Branches in lanes that became a loop of at most one trip, which a block of lanes skips if none
  /// of them takes the branch.
  std::ptrdiff_t branches_left_out() const {
    return count_if(lower::Opcode::kRepeat, &lower::Program::whiles,
                    [](const lower::While& loop) { return loop.predicated; });
  }

  // Loops of the function.

  /// Counted loops whose trips are lanes.
  std::ptrdiff_t loops_by_trips() const {
    return std::ranges::count(program().loops, true, &lower::LoopInfo::trips_in_lanes);
  }
  /// Loops that keep all carried arrays in registers, one lane each.
  std::ptrdiff_t loops_in_registers() const { return std::ranges::count(lanes_of_loops(), 1); }
  /// The number of lanes of each vectorized loop, in program order.
  std::vector<std::int64_t> vectorized_loops() const {
    std::vector<std::int64_t> lanes = lanes_of_loops();
    std::erase_if(lanes, [](std::int64_t count) { return count < 2; });
    return lanes;
  }
  /// Loops in lanes along several axes.
  std::ptrdiff_t loops_in_nests() const {
    return std::ranges::count_if(forms_.loops(), [&](const auto& entry) {
      const executor::Interchange* form = forms_.of(entry.first);
      return form && !form->nest.empty();
    });
  }
  /// Loops over elements that run over a part of an axis, which is found at run time.
  std::ptrdiff_t loops_over_parts() const {
    return count_if(
               lower::Opcode::kFor, &lower::Program::fors,
               [](const lower::For& loop) { return loop.loop == lower::kNoLoop && !loop.trips; }) +
           count_if(lower::Opcode::kLanes, &lower::Program::lanes,
                    [](const lower::Lanes& lanes) { return !lanes.known_count; });
  }
  /// Loops over elements that combine those of so many rows at once.
  std::ptrdiff_t loops_that_combine(std::size_t rows) const {
    return count_if(lower::Opcode::kFor, &lower::Program::fors, [rows](const lower::For& loop) {
      return loop.loop == lower::kNoLoop && loop.carries.size() == rows;
    });
  }
  /// Loops that run trip by trip through arrays in memory.
  std::ptrdiff_t loops_through_memory() const {
    return std::ranges::count_if(forms_.loops(), [&](const auto& entry) {
      const ir::Node& loop = *entry.first;
      return !executor::stands_for_branch(loop) && !forms_.of(&loop) &&
             std::ranges::any_of(loop.types,
                                 [](const TensorType& type) { return type.elements() != 1; });
    });
  }
  /// For each loop that is not vectorized, the node that prevents it.
  std::vector<const ir::Node*> obstacles() const {
    std::vector<const ir::Node*> nodes;
    for (const auto& [loop, obstacle] : forms_.loops())
      if (obstacle.node) nodes.push_back(obstacle.node);
    return nodes;
  }
  /// Whether there are loops of the function, or branches that became loops, and all of them are
  /// inside lanes.
  bool is_vectorized() const;

  /// The steps of native code for a processor, which may differ from this machine's; for the loops
  /// with a name, or for the whole program. Empty without native code.
  std::vector<native_code::Instruction> native_steps(const native_code::Target* target,
                                                     std::string_view loop = {}) const;

  /// Prints the program with a failure.
  friend std::ostream& operator<<(std::ostream& to, const Lowered& lowered) {
    return to << lowered.executable_.program();
  }

 private:
  static CompileOptions in_bytecode(CompileOptions options) {
    if (options.executor == Executor::kDefault) options.executor = Executor::kBytecode;
    return options;
  }
  /// Ops of one kind for whose entry in the table of their kind `holds` is true.
  template <class Entry, class F>
  std::ptrdiff_t count_if(lower::Opcode code, std::vector<Entry> lower::Program::*table,
                          F holds) const {
    return std::ranges::count_if(program().code, [&](const lower::Op& op) {
      return op.code == code && holds((program().*table)[op.bits]);
    });
  }
  /// The number of lanes of each loop that has lanes.
  std::vector<std::int64_t> lanes_of_loops() const;

  Executable executable_;
  const executor::Compiled& compiled_;
  executor::Interchanges forms_;
};

}  // namespace rondo::testing
