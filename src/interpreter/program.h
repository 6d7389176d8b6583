// A Function flattened for the machine: instructions over slots, loops as jumps. Nested regions are
// inlined, so running them does not recurse; only the combiners of reductions, sorts and scatters
// are separate programs, which kernels call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/kernel.h"
#include "rondo/function.h"

namespace rondo::interpreter {

/// Where an operand is: a slot of the run, or (top bit set) a constant of the program.
using Reference = std::uint32_t;
inline constexpr Reference kConstantBit = 0x80000000u;
/// In the sources of kMoves: the last use of the slot, so its value is moved.
inline constexpr Reference kMoveBit = 0x40000000u;

inline constexpr std::uint32_t kNoLoop = 0xffffffffu;
/// The work between two checks of the clock outside loops, in elements.
inline constexpr std::int64_t kPolledWork = std::int64_t{1} << 16;

enum class InstructionKind : std::uint8_t {
  kKernel,  // node's kernel: inputs -> consecutive slots from `output`
  kMoves,   // parallel assignment of inputs to as many destinations; `two_phase` if a destination
            // is also a source
  kEnterLoop,  // resets the trip counter of loop `target`
  kLoopTest,   // exits to `target` if the pred inputs[0] is false; counts a trip of `loop`
               // otherwise
  kCountTest,  // the same if all trips of `loop` were made; otherwise writes the index to `output`
  kJump,       // to `target`
  kBranch,     // to targets[selector]
  kClear,      // releases slots
};

inline bool is_test(InstructionKind kind) {
  return kind == InstructionKind::kLoopTest || kind == InstructionKind::kCountTest;
}

struct Instruction {
  InstructionKind kind;
  bool two_phase = false;
  std::uint32_t first_input = 0;  // in Program::references
  std::uint32_t inputs = 0;
  std::uint32_t output = 0;  // first slot, or the first destination in Program::references
  std::uint32_t outputs = 0;
  std::uint32_t first_clear = 0;  // slots in Program::references to release afterwards
  std::uint32_t clears = 0;
  std::uint64_t movable = 0;  // bit i: input i is not used again
  const ir::Kernel* prepared = nullptr;
  ir::KernelRule kernel = nullptr;  // if none was prepared
  bool forwards = false;            // of the prepared kernel
  const ir::Node* node = nullptr;
  const ir::Node* results = nullptr;  // of kKernel: the outputs have its types
  std::uint32_t target = 0;
  std::uint32_t loop = kNoLoop;  // the innermost around the instruction, or the one that it enters
  std::int64_t work = 0;         // of kKernel: elements read and written, and some for the call
};

struct LoopInfo {
  std::string name;
  const ir::Node* node = nullptr;
  std::optional<std::int64_t> trip_count;
  std::optional<std::int64_t> max_trip_count;
  std::uint32_t outer = kNoLoop;  // the loop around it
  bool ends_inside = false;       // something in a trip checks the deadline and the stop token
  std::int64_t bodies = 1;        // the user's trips in one of these
  /// The user's carry, without what the lowering added.
  struct Leaf {
    std::string name;
    std::uint32_t slot;
  };
  std::vector<Leaf> leaves;
  std::int64_t leaf_bytes = 0;
  /// The indices of a counted loop: first, first + step, … up to `limit`.
  struct Count {
    Reference first, limit;
    std::int64_t step;
  };
  std::optional<Count> count;
  std::optional<std::int64_t> promised;  // in the user's trips
};

struct Program {
  Function function;  // keeps the nodes alive
  std::vector<Instruction> code;
  std::vector<Reference> references;
  std::vector<Literal> constants;
  std::uint32_t slots = 0;
  std::vector<std::unique_ptr<ir::Kernel>> kernels;
  std::vector<std::uint32_t> parameters;  // slots
  std::vector<TensorType> parameter_types;
  std::vector<Reference> results;
  std::vector<bool> result_movable;
};

/// A program with the programs that its kernels call, and the loops of all of them.
struct Bundle {
  std::vector<std::unique_ptr<Program>> programs;            // the first is the entry
  absl::flat_hash_map<const void*, std::uint32_t> callable;  // by Function::identity
  std::vector<LoopInfo> loops;

  /// Adds what the lists hold, with the functions.
  void count_held(HeldBytes& held) const;
};

/// Flattens a function in which every node has a kernel or a Flow.
std::shared_ptr<const Bundle> build_bundle(const Function& function);

}  // namespace rondo::interpreter
