// Options of compiling a program.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rondo/device.h"
#include "rondo/mesh.h"

namespace rondo {

/// The executor that runs a program.
enum class Executor : std::uint8_t {
  /// The one named by the environment variable RONDO_EXECUTOR (`reference`, `bytecode`,
  /// `compiled`), else kCompiled; kReference for a program that is not to be optimized.
  kDefault,
  /// Node by node, as the IR defines it: the others are compared with it.
  kReference,
  /// Compiled to loops over scalars and buffers, which run as bytecode on any machine.
  kBytecode,
  /// The same as native code if the machine supports it; else as bytecode.
  kCompiled,
};

/// How compile, and through it jit and native, turn a program into an executable.
struct CompileOptions {
  /// False: the graph as it is, node by node, without any pass.
  bool optimize = true;
  /// Allows contraction: a product whose only use is a sum is rounded together with the sum (a
  /// fused multiply-add), as C++ compilers do; chains of constant factors and divisors become one
  /// factor; and sums of products may be added in another order, such as those of all trips of a
  /// loop at once. False: each op is rounded separately, in the order of the program, which gives
  /// the reference executor's bits. The reference never contracts.
  bool contract = true;
  Executor executor = Executor::kDefault;
  /// Registers native code with gdb, as gdb's JIT interface has it: backtraces name loops and lines
  /// of the program, and breakpoints stop on them (docs/debugging.md). `RONDO_DEBUGGER=gdb` in the
  /// environment does so for every program. Compilation takes longer; runs take as long as without.
  bool debugger = false;
  /// Describes native code for perf, in the file `jit-PID.dump` of the folder that `JITDUMPDIR` in
  /// the environment names, or of the current one: `perf inject --jit` gives samples the loops'
  /// names and lines (docs/debugging.md). `RONDO_PROFILER=perf` does so for every program.
  bool profiler = false;
  /// The bytes that a run may take beside its arguments, from 0: for its results, temporaries,
  /// carries and what is kept for the backward pass (MemoryPlan::result_bytes and arena_bytes
  /// together). compile throws ExecutionError for a program that is known to take more. So does a
  /// run with limits or progress, whose form of the program may take more, and one whose tapes grow
  /// beyond it (Checkpoint::tape() of a loop of unknown length). For the reference executor only
  /// the size of the results is known.
  std::optional<std::int64_t> memory_limit = std::nullopt;
  /// The device of a PJRT plugin that runs the program (rondo/pjrt.h), instead of an executor.
  /// compile throws TraceError for a program for a device that contains a tap, a print, progress or
  /// a growing tape, and names it.
  pjrt::Device device = {};
  /// The devices of PJRT plugins that run the program together, each on its part of the arrays that
  /// rondo::shard splits over them. It has devices, and the axes of the mesh that the program
  /// names; otherwise compile throws. Replaces `device`.
  std::optional<Mesh> mesh = std::nullopt;
  /// Parameters, by number from 0 (leaves of the arguments), that are donated: a program on a
  /// device may write results over their memory, even if other handles exist. An array passed for
  /// one cannot be used again. Arguments that are moved into a call are donated without a number.
  std::vector<std::int64_t> donate = {};
};

}  // namespace rondo
